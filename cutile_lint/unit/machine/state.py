"""The machine's state: path, scope, journal, stack, trace; running branches and joining them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.sources import Place, Span
from cutile_lint.unit.machine.paths import contradictory, extend, literals, negation, truth
from cutile_lint.unit.machine.scopes import Journal, Scope, absent
from cutile_lint.unit.machine.trace import Event, Frame, Stop, Trace
from cutile_lint.unit.machine.values import (
    Arguments,
    Choice,
    Condition,
    Entries,
    Items,
    Known,
    Literal,
    Record,
    Term,
    Value,
    alternatives,
    beyond,
)

if TYPE_CHECKING:
    from cutile_lint.unit.machine.dialect import Dialect

#: Evaluations in one run before it is given up as too large.
MAX_STEPS = 60_000
#: A choice of more parts (the largest of TileGym has 9,000) costs steps to look at; and so many of its conditions are a step.
LARGE, CONDITIONS = 10_000, 16
#: Alternatives of one value that operations are distributed over.
MAX_ALTERNATIVES = 8
MAX_DEPTH = 28


_TESTS = frozenset(["compare", "not", "and", "or"])
#: attributes that are True or False
_FLAGS = frozenset(["requires_grad", "is_cuda", "is_leaf"])


class TooMuch(Exception):
    """The run is over its budget of steps."""


def _settled(value: Value, path: Condition) -> Value:
    """A test is known where its own path has made it: ``x.requires_grad`` of the ``x`` that an ``if`` left alone for it."""
    if path and isinstance(value, Term) and (value.op in _TESTS or (value.op == "attr" and value.name in _FLAGS)):
        key = value.key()
        for literal in path:
            if literal.test.key() == key:
                return Known(literal.holds, value.place, value.trail)
    return value


class State:
    """What the statements, expressions and calls of a run share."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.trace = Trace()
        self.journal = Journal()
        self.path: Condition = ()
        self.alive = True
        #: paths that ended: ("return" | "raise" | "break" | "continue", full path)
        self.exits: list[tuple[str, Condition]] = []
        self.frames: list[Frame] = []
        self.scope: Scope = None  # type: ignore[assignment]
        self.loops: tuple[syntax.Node, ...] = ()
        self.contexts: tuple[Value, ...] = ()
        self.tries: tuple[syntax.Try, ...] = ()
        #: ``with suppress(…)`` by the ``id`` of its node, as the ``try`` that it is
        self.suppressing: dict[int, syntax.Try] = {}
        self.expansions: tuple[Place, ...] = ()
        self.timed = 0
        self.steps = 0
        #: items written into containers that are a module's state, by (container, index)
        self.stored: dict[object, Value] = {}
        self.serial = 0

    # ── places and events ──

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def place(self, node: syntax.Node | Span) -> Place:
        return Place(self.scope.source, node if isinstance(node, Span) else node.span)

    def fresh(self) -> int:
        self.serial += 1
        return self.serial

    def emit(
        self,
        kind: str,
        node: syntax.Node,
        name: str = "",
        value: Value | None = None,
        arguments: Arguments | None = None,
        target: Value | None = None,
    ) -> Event:
        stack = tuple(Stop(frame, frame.statement, frame.source) for frame in self.frames)
        event = Event(
            kind,
            self.place(node),
            self.path,
            stack,
            len(self.trace.events),
            name,
            value,
            arguments,
            target,
            self.loops,
            self.contexts,
            self.tries,
            self.timed,
            node,
            expansions=self.expansions,
        )
        if kind == "call" and name.startswith("cutile_"):
            event.held = self._held()
        self.trace.events.append(event)
        return event

    def _held(self) -> tuple[Value, ...]:
        """What the names of all running functions hold now, in containers too."""
        scopes: dict[int, Scope] = {}
        for scope in (self.scope, *(frame.scope for frame in self.frames)):
            while scope is not None and id(scope) not in scopes:
                scopes[id(scope)] = scope
                scope = scope.outer
        found: list[Value] = []
        seen: set[int] = set()
        pending = [value for scope in scopes.values() for value in scope.names.values()]
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            for _, one in alternatives(value):
                if isinstance(one, Items):
                    pending += one.left(self.path)
                elif isinstance(one, Entries):
                    pending += one.entries.values()
                elif isinstance(one, Record):
                    pending += one.fields.values()
                else:
                    found.append(one)
        self.steps += len(seen) >> 8
        return tuple(found)

    def gap(self, reason: str, node: syntax.Node | Span | None = None) -> None:
        self.trace.gaps.append((reason, self.place(node) if node is not None else None))

    # ── values under the current path ──

    def resolve(self, value: Value) -> Value:
        """``value`` without the alternatives that the current path rules out."""
        if not isinstance(value, Choice):
            return value
        flat = alternatives(value)
        self.steps += (max(0, value.size - LARGE) >> 3) + sum([len(path) for path, _ in flat]) // CONDITIONS
        kept = [(path, inner) for path, inner in flat if not contradictory(self.path, path)]
        if len(kept) == 1:
            return kept[0][1]
        if not kept:
            return value
        first = kept[0][1].key()
        if all(inner.key() == first for _, inner in kept):
            return kept[0][1]
        return Choice(kept, value.place, value.trail)

    def distribute(self, value: Value, function: Callable[[Value], Value]) -> Value:
        """``function`` (without effects) of the value, or of each of its alternatives."""
        value = self.resolve(value)
        if not isinstance(value, Choice):
            return function(value)
        flat = alternatives(value)
        if len(flat) > MAX_ALTERNATIVES:
            return function(Term("unknown", "too many alternatives", (), serial=self.fresh(), place=value.place))
        return self.choice([(path, _settled(function(inner), path)) for path, inner in flat], value.place)

    def choice(self, options: list[tuple[Condition, Value]], place: Place | None = None) -> Value:
        if len(options) == 1:
            return options[0][1]
        first = options[0][1].key()
        if all(value.key() == first for _, value in options):
            return options[0][1]
        return Choice(options, place)

    def require(self, test: Value, node: syntax.Node) -> None:
        """Go on where the test holds only (``assert``)."""

        def fails() -> None:
            self.emit("assert", node, value=test)
            self.stop("raise")

        self.go_on_if(test, fails)

    def go_on_if(self, test: Value, leave: Callable[[], None]) -> None:
        """Go on where the test holds; ``leave`` ends the path where it does not."""
        known = truth(test)
        if known is False:
            leave()
        elif known is None:
            yes, no = self.split(test)
            self.branches([(no, leave), (yes, lambda: None)])

    def split(self, test: Value) -> tuple[Condition, Condition]:
        """The literals of a test's two outcomes."""
        if isinstance(test, Choice):
            flat = alternatives(test)
            outcomes = [(path, truth(value)) for path, value in flat]
            if None not in {outcome for _, outcome in outcomes}:
                yes = [path for path, outcome in outcomes if outcome]
                no = [path for path, outcome in outcomes if not outcome]
                if len(yes) == 1 and yes[0]:
                    return yes[0], no[0] if len(no) == 1 else negation(yes[0])
                if len(no) == 1 and no[0]:
                    return negation(no[0]), no[0]
            return (Literal(test, True),), (Literal(test, False),)
        return literals(test, True), literals(test, False)

    # ── branching ──

    def stop(self, kind: str) -> None:
        """End the current path here."""
        self.exits.append((kind, self.path))
        self.alive = False

    def branches(self, options: list[tuple[Condition, Callable[[], Value | None]]]) -> list[tuple[Condition, Value]]:
        """Run each option from the same state under its literals; join what they leave. Returns the values of those that go on."""
        base, mark, exits = self.path, self.journal.mark(), len(self.exits)
        self.steps += len(base)  # each option is held against all of it
        results: list[tuple[Condition, Value]] = []
        states: list[tuple[Condition, dict]] = []
        for conditions, run in options:
            if contradictory(base, conditions):
                continue
            self.path = extend(base, conditions)
            self.alive = True
            value = run()
            after = self.journal.undo(mark)
            if self.alive:
                states.append((conditions, after))
                results.append((conditions, value if value is not None else Known(None)))
        self.path = base
        self.alive = bool(states)
        self._join(states)
        self.leave_exits(exits)
        return results

    def leave_exits(self, mark: int, drop: tuple[str, ...] = ()) -> None:
        """Go on with the knowledge that no path since ``mark`` that ended was taken; ``drop`` forgets those kinds of ends."""
        base = self.path
        for kind, path in self.exits[mark:]:
            if kind not in drop and (relative := beyond(path, base)):
                self.path = extend(self.path, negation(relative))
        if drop:
            self.exits[mark:] = [item for item in self.exits[mark:] if item[0] not in drop]

    def _join(self, states: list[tuple[Condition, dict]]) -> None:
        if not states:
            return
        if len(states) == 1:
            for target, name, value in states[0][1].values():
                if absent(value):
                    self.journal.remove(target, name)
                else:
                    self.journal.write(target, name, value)  # type: ignore[arg-type]
            return
        touched: dict[tuple[int, object], tuple[dict, object]] = {}
        for _, after in states:
            for key, (target, name, _) in after.items():
                touched[key] = (target, name)
        for key, (target, name) in touched.items():
            options: list[tuple[Condition, Value]] = []
            for conditions, after in states:
                value = after[key][2] if key in after else target.get(name)
                if value is None or absent(value):
                    continue
                options.append((conditions, value))  # type: ignore[arg-type]
            if options:
                self.journal.write(target, name, self.choice(options))

    @contextmanager
    def inside(self, **settings: object):
        """Set attributes of the state for a while."""
        saved = {name: getattr(self, name) for name in settings}
        for name, value in settings.items():
            setattr(self, name, value)
        try:
            yield
        finally:
            for name, value in saved.items():
                setattr(self, name, value)
