"""The trace of a run: events in order, each with its path condition and the calls it happened in."""

from __future__ import annotations

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place, Source
from cutile_lint.unit.answers import Answers
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.values import Arguments, Closure, Condition, Value


@dataclass(slots=True, eq=False)
class Frame:
    """One function being run: the call that entered it and the statement it is at."""

    closure: Closure | None
    function: syntax.Function | None
    source: Source
    call: Place | None
    statement: syntax.Stmt | None = None
    returns: list[tuple[Condition, Value]] = field(default_factory=list)
    yields: list[tuple[Condition, Value]] = field(default_factory=list)
    arguments: Arguments | None = None
    #: the function's names, as they are while it runs
    scope: Scope | None = None

    @property
    def name(self) -> str:
        return self.function.name if self.function is not None else ""


@dataclass(slots=True, eq=False)
class Stop:
    """Where an event stands in one function of the call stack; ``source``: the statement's file, which may be that of a macro."""

    frame: Frame
    statement: syntax.Stmt | None
    source: Source


@dataclass(slots=True, eq=False)
class Event:
    """Something that happened.

    ``kind``: "call" (of something outside the project; ``value`` is its result), "operator" (arithmetic on symbols),
    "convert" (``int(x)``, ``float(x)`` … of a symbol), "setitem", "setattr",
    "global" (a module's state written; ``name``), "raise", "assert", "return" (of the callable run), "tune-start", "tune-end", "await", "delete",
    "panic", "index" (where one out of range panics). ``timed`` is the number of the tuner call whose ``kernel_fn`` runs (0: none).
    """

    kind: str
    place: Place
    path: Condition
    stack: tuple[Stop, ...]
    order: int
    name: str = ""
    value: Value | None = None
    arguments: Arguments | None = None
    target: Value | None = None
    loops: tuple[syntax.Node, ...] = ()
    contexts: tuple[Value, ...] = ()
    tries: tuple[syntax.Try, ...] = ()
    timed: int = 0
    node: syntax.Node | None = None
    #: of a call of a library's symbol (``cutile_*``): what the names of all running functions held, themselves or in containers (which are
    #: not among it), the call's own arguments apart
    held: tuple[Value, ...] = ()
    #: calls of macros whose bodies it stands in, outermost first
    expansions: tuple[Place, ...] = ()
    #: of a call of an attribute that has a name of its own (``fn = lib.cutile_x``): where it was taken from its object
    taken: Place | None = None

    @property
    def stop(self) -> Stop:
        return self.stack[-1]

    @property
    def statement(self) -> Place | None:
        stop = self.stack[-1]
        return Place(stop.source, stop.statement.span) if stop.statement is not None else None

    def __repr__(self) -> str:
        return f"{self.kind} {self.name} {self.place} {'T' if self.timed else ''} {list(self.path)}"


@dataclass(slots=True)
class Tuning:
    """One call of the autotuner: its arguments, and the part of the trace in which ``kernel_fn`` ran."""

    number: int
    event: Event
    kernel_fn: Value | None
    configs: Value | None
    key: Value | None
    #: what its cache keeps apart beside the key
    kernel_name: Value | None = None
    output: Value | None = None
    result: Value | None = None
    config: Value | None = None
    #: what has been worked out about its configs, by the question
    answers: Answers = field(default_factory=Answers)


@dataclass(slots=True)
class Trace:
    """What one run did. ``returned``: the callable's results by path."""

    events: list[Event] = field(default_factory=list)
    tunings: list[Tuning] = field(default_factory=list)
    returned: list[tuple[Condition, Value]] = field(default_factory=list)
    #: values taken apart into names: (value, number of names, path)
    unpacked: list[tuple[Value, int, Condition]] = field(default_factory=list)
    #: something could not be followed: why (answers that need completeness are then "unknown")
    gaps: list[tuple[str, Place | None]] = field(default_factory=list)
    #: what a loop goes over, or the test of a ``while``, by the ``id`` of its node
    loops: dict[int, Value] = field(default_factory=dict)
