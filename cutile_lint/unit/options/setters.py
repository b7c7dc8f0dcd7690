"""The Rust half of compile options: which setters a ``CompileOptions`` value went through, under which conditions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.flows.fold import Folder
from cutile_lint.unit.machine.rust_options import is_options, setter_of
from cutile_lint.unit.machine.trace import Event, Trace
from cutile_lint.unit.machine.values import Condition, Known, Literal, Term, Value, alternatives, subterms
from cutile_lint.unit.options.option_names import option_named

if TYPE_CHECKING:
    from cutile_lint.unit.runs import ExportRun

#: The values of "auto" that a caller may send.
SENTINELS = (-1, 0)
#: With more other options on a setter's way than this, their values stay open.
_MAX_OTHERS = 3


@dataclass(frozen=True, slots=True)
class AppliedOption:
    """One call of a setter on the way to an options value; ``path`` is the alternative's condition."""

    name: str
    value: Value
    path: Condition
    term: Term

    @property
    def place(self) -> Place | None:
        return self.term.place


def inputs_in(value: Value) -> set[str]:
    """Names of the export's parameters that a value is made of."""
    return {part.name for part in subterms(value) if isinstance(part, Term) and part.op == "input"}


def inputs_tested(test: Value) -> set[str]:
    """Names of the export's parameters that a test speaks of, conditions of its choices included."""
    found = inputs_in(test)
    for path, _ in alternatives(test):
        for literal in path:
            found |= inputs_in(literal.test)
    return found


def applied_options(options: Value | None) -> list[AppliedOption]:
    """All setter calls in the alternatives of an options value."""
    return [] if options is None else [option for path, one in alternatives(options) for option in _chain(path, one)]


def _chain(path: Condition, value: Value) -> list[AppliedOption]:
    found: list[AppliedOption] = []
    while isinstance(value, Term) and value.args and (value.op in ("method", "payload") or setter_of(value)):
        if (name := setter_of(value)) is not None:
            found.append(AppliedOption(name, value.args[1], path, value))
        value = value.args[0]
        inner = alternatives(value)
        if len(inner) > 1:
            for more, one in inner:
                found += _chain(path + more, one)
            break
        value = inner[0][1]
    return found


def setter_events(trace: Trace) -> list[Event]:
    """Every setter call of a run on something that is (as far as can be told) a ``CompileOptions``; its last argument is the value."""
    return [
        event
        for event in trace.events
        if event.kind == "call"
        and isinstance(event.value, Term)
        and setter_of(event.value) is not None
        and is_options(event.value.args[0])
    ]


def setter_value(event: Event) -> Value:
    """The number that a setter's event gives to the option."""
    assert isinstance(event.value, Term)
    return event.value.args[-1]


def with_input(name: str, number: int) -> Folder:
    """Evaluates with one parameter of the export known."""
    return with_inputs({name: number})


def with_inputs(numbers: dict[str, int]) -> Folder:
    """Evaluates with several of them known."""
    return Folder(lambda term: Known(numbers[term.name]) if term.op == "input" and term.name in numbers else None)


def sentinel_reaches(event: Event, name: str, run: ExportRun) -> int | None:
    """A value ``<= 0`` of the parameter ``name`` with which the setter is called and gets no positive number.

    The other options on the way are the caller's too: one set of values that leads there is enough. None when there is none, and when
    a condition of the way cannot be decided.
    """
    return run.answers.once((sentinel_reaches, event.order, name), lambda: _sentinel(event, name, run.trace))


def _sentinel(event: Event, name: str, trace: Trace) -> int | None:
    for number in SENTINELS:
        for others in _other_options(event.path, name):
            numbers = {**others, name: number}
            folder = with_inputs(numbers)
            # conditions that do not speak of the parameters let them through
            path = tuple(literal for literal in event.path if not numbers.keys().isdisjoint(inputs_tested(literal.test)))
            if folder.holds(path) is not True or _asserted(event, name, folder, trace):
                continue
            results = [result for _, result in folder.outcomes(setter_value(event))]
            if results and all(isinstance(result, int) and result <= 0 for result in results):
                return number
    return None


def _other_options(path: Condition, name: str) -> Iterator[dict[str, int]]:
    """Values of the other options that a path's tests of the parameter speak of: open, then each given or left to the compiler."""
    yield {}
    names = {other for literal in path if name in (asked := inputs_tested(literal.test)) for other in asked} - {name}
    others = sorted(other for other in names if option_named(other) is not None)
    if 0 < len(others) <= _MAX_OTHERS:
        for numbers in product((2, -1), repeat=len(others)):
            yield dict(zip(others, numbers, strict=True))


def _asserted(event: Event, name: str, folder: Folder, trace: Trace) -> bool:
    """An assertion before the event does not hold."""
    return any(
        earlier.kind == "panic" and earlier.value is not None and name in inputs_tested(earlier.value)
        and folder.holds((Literal(earlier.value, True),)) is not True
        for earlier in trace.events[: event.order]
    )  # fmt: skip
