"""Where the value of an argument comes from in the source: back through names, parameters and calls to the expressions that made it.

The machine's values say *what* arrives; for a place to point at (and to rewrite) the expressions matter. Asked only when
there is something to report.
"""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Span
from cutile_lint.unit.flows.handed_back import handed_back, helper_named
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.trace import Event, Stop
from cutile_lint.unit.machine.values import Partial, Term, Value

_MAX_LEAVES = 40
#: the kind of an origin that is the config itself
_CONFIG = "config"


@dataclass(slots=True, eq=False)
class Origin:
    """An expression that a value starts from.

    ``kind``: "constant", "name" (of the module or not found), "field" (``name`` of a config), "default" (the call ``node`` leaves out the
    parameter ``name``), "helper" (a call whose result is none of its arguments), "other". ``level`` is the stack level it stands in.
    ``calls`` are the calls between it and the argument that it was followed back from, outermost first, as source text of what is
    called; ``argument``: it is an argument on its own.
    """

    kind: str
    node: syntax.Expr
    place: Place
    level: int
    name: str = ""
    calls: tuple[str, ...] = ()
    argument: bool = False


def origins(event: Event, argument: Place, program: Program) -> list[Origin]:
    """The expressions that an argument of an event's call starts from, in source order of the way back.

    The config itself is none of them: it is where a value is read, not the value.
    """
    tracer = _Tracer(event.stack, program)
    node = tracer.node_at(argument)
    if node is None:
        return []
    found = tracer.follow(node, len(event.stack) - 1, (), True, frozenset())
    return [origin for origin in found if origin.kind != _CONFIG][:_MAX_LEAVES]


def node_at(program: Program, place: Place, kind: type[syntax.Node] = syntax.Expr) -> syntax.Node | None:
    """The outermost node of a kind that has exactly the span of a place."""
    module = program.module(place.source.path)
    if module is None:
        return None
    below: list[syntax.Node] = [*module.body]
    while below:
        node = below.pop()
        if node.span == place.span and isinstance(node, kind):
            return node
        if node.span.covers(place.span):
            below += reversed(node.children())
    return None


class _Tracer:
    def __init__(self, stack: tuple[Stop, ...], program: Program) -> None:
        self.stack = stack
        self.program = program

    def node_at(self, place: Place) -> syntax.Expr | None:
        found = node_at(self.program, place)
        return found if isinstance(found, syntax.Expr) else None

    def place(self, node: syntax.Node, level: int) -> Place:
        return Place(self.stack[level].source, node.span)

    def leaf(self, kind: str, node: syntax.Expr, level: int, calls: tuple[str, ...], argument: bool, name: str = "") -> Origin:
        return Origin(kind, node, self.place(node, level), level, name, calls, argument)

    def follow(
        self, node: syntax.Expr, level: int, calls: tuple[str, ...], argument: bool, seen: frozenset[tuple[int, Span]]
    ) -> Iterator[Origin]:
        if (level, node.span) in seen or len(seen) > 60:
            return
        seen = seen | {(level, node.span)}
        if isinstance(node, syntax.Const):
            yield self.leaf("constant", node, level, calls, argument)
        elif isinstance(node, syntax.Unary) and isinstance(node.operand, syntax.Const):
            yield self.leaf("constant", node, level, calls, argument)
        elif isinstance(node, syntax.Name):
            yield from self._name(node, level, calls, argument, seen)
        elif isinstance(node, syntax.Attr):
            kind = "field" if self._may_be_config(node.base, level, seen) else "other"
            yield self.leaf(kind, node, level, calls, argument, node.name)
        elif isinstance(node, syntax.Index) and isinstance(node.index, syntax.Const):
            yield self.leaf("field", node, level, calls, argument, str(node.index.value))
        elif isinstance(node, syntax.Cond):
            for part in (node.then, node.orelse):
                if part is not None:
                    yield from self.follow(part, level, calls, False, seen)
        elif isinstance(node, (syntax.Binary, syntax.Compare, syntax.Unary)):
            yield self.leaf("other", node, level, calls, argument)
        elif isinstance(node, syntax.Call):
            yield from self._call(node, level, calls, argument, seen)
        else:
            parts = [part for part in node.children() if isinstance(part, syntax.Expr)]
            if not parts:
                yield self.leaf("other", node, level, calls, argument)
            for part in parts:
                yield from self.follow(part, level, calls, False, seen)

    def _may_be_config(self, node: syntax.Expr, level: int, seen: frozenset[tuple[int, Span]]) -> bool:
        """Not what is read of another object (``_configs()[0]``), nor what a function makes of nothing."""
        found = list(self.follow(node, level, (), False, seen))
        return not found or not all(
            origin.kind == "field"
            or (isinstance(origin.node, syntax.Call) and not origin.node.args and isinstance(origin.node.func, syntax.Name))
            for origin in found
        )

    def _call(
        self, node: syntax.Call, level: int, calls: tuple[str, ...], argument: bool, seen: frozenset[tuple[int, Span]]
    ) -> Iterator[Origin]:
        text = self.stack[level].source.slice(node.func.span)
        if text == "getattr" and len(node.args) >= 2 and isinstance(node.args[1].value, syntax.Const):
            yield self.leaf("field", node, level, calls, argument, str(node.args[1].value.value))
            return
        if (
            isinstance(node.func, syntax.Attr)
            and node.func.name == "get"
            and node.args
            and isinstance(node.args[0].value, syntax.Const)
        ):
            yield self.leaf("field", node, level, calls, argument, str(node.args[0].value.value))
            return
        helper = self._helper(node, level)
        followed = handed_back(node, helper) if helper is not None else node.args
        found = [
            origin
            for arg in followed
            for origin in self.follow(arg.value, level, (*calls, text), not arg.spread, seen)
        ]  # fmt: skip
        if not followed or any(origin.kind == _CONFIG for origin in found):
            yield self.leaf("helper" if node.args else "other", node, level, calls, argument)
        else:
            yield from found

    def _helper(self, node: syntax.Call, level: int) -> syntax.Function | None:
        """The project's function that a call in a file of Python calls by its name."""
        source = self.stack[level].source
        if not isinstance(node.func, syntax.Name) or not source.is_python:
            return None
        around = [function for owner in self._owners(level) if (function := self.stack[owner].frame.function) is not None]
        return helper_named(node.func.id, source.path, around, self.program)

    # ── names ──

    def _name(
        self, node: syntax.Name, level: int, calls: tuple[str, ...], argument: bool, seen: frozenset[tuple[int, Span]]
    ) -> Iterator[Origin]:
        for owner in self._owners(level):
            function = self.stack[owner].frame.function
            assert function is not None
            values = list(_assigned(function, node.id))
            if values:
                for value in values:
                    if value is None:
                        yield self.leaf("other", node, level, calls, argument)
                    else:
                        yield from self.follow(value, owner, calls, False, seen)
                return
            param = next((param for param in function.params if param.name == node.id), None)
            if param is not None:
                yield from self._param(node, param, owner, level, calls, argument, seen)
                return
        yield self.leaf("name", node, level, calls, argument, node.id)

    def _owners(self, level: int) -> Iterator[int]:
        """The level itself, then the levels of the functions around it."""
        inner = self.stack[level].frame.function
        yield level
        for other in range(level - 1, -1, -1):
            outer = self.stack[other].frame.function
            if (
                outer is not None
                and inner is not None
                and self.stack[other].source is self.stack[level].source
                and outer.span.covers(inner.span)
            ):
                yield other

    def _param(
        self,
        node: syntax.Name,
        param: syntax.Param,
        owner: int,
        level: int,
        calls: tuple[str, ...],
        argument: bool,
        seen: frozenset[tuple[int, Span]],
    ) -> Iterator[Origin]:
        frame = self.stack[owner].frame
        assert frame.function is not None
        given = frame.arguments
        names = [one.name for one in frame.function.params]
        at = names.index(param.name)
        bound = given.get(at if param.kind != "keyword" else -1, param.name) if given is not None else None
        if isinstance(bound, Term) and bound.op == "config":
            yield self.leaf(_CONFIG, node, level, calls, argument)
            return
        place = None
        missing = given is None
        if given is not None and param.name in given.keywords:
            place = given.keyword_places.get(param.name)
        elif given is not None and param.kind != "keyword" and at < len(given.positional):
            place = given.places[at] if at < len(given.places) else None
        else:
            missing = True
        if missing:
            call = self.node_at(frame.call) if frame.call is not None else None
            if param.default is not None and call is not None and owner > 0:
                yield Origin("default", call, self.place(call, owner - 1), owner - 1, param.name, calls, True)
            else:
                yield self.leaf("other", node, level, calls, argument)
            return
        value = self.node_at(place) if place is not None else None
        if value is None or (isinstance(value, syntax.Call) and frame.call is not None and value.span == frame.call.span):
            value = self._bound_early(param.name, at, frame.function.name)
        if value is None or owner == 0:
            yield self.leaf("other", node, level, calls, argument)
            return
        yield from self.follow(value, self._level_of(value, owner - 1), calls, True, seen)

    def _level_of(self, node: syntax.Expr, level: int) -> int:
        """The level whose function the node stands in; the caller's where that cannot be told."""
        for candidate in range(len(self.stack) - 1, -1, -1):
            function = self.stack[candidate].frame.function
            if candidate <= level and function is not None and function.span.covers(node.span):
                return candidate
        return max(level, 0)

    def _bound_early(self, name: str, at: int, callee: str) -> syntax.Expr | None:
        """The argument ``name`` of a ``partial(…)`` in one of the functions of the stack; by its place where the callee's name is there."""
        for stop in reversed(self.stack):
            function = stop.frame.function
            for node in function.walk() if function is not None else ():
                if isinstance(node, syntax.Call) and stop.source.slice(node.func.span).rsplit(".", 1)[-1] == "partial":
                    for arg in node.args:
                        if arg.name == name:
                            return arg.value
                    given = [arg for arg in node.args if arg.name is None]
                    first = given[0].value if given else None
                    if isinstance(first, syntax.Name) and first.id == callee and at + 1 < len(given):
                        if not any(arg.spread for arg in given[: at + 2]):
                            return given[at + 1].value
        return None


def _assigned(function: syntax.Function, name: str) -> Iterator[syntax.Expr | None]:
    """The expressions assigned to a local name; None for an assignment that has no expression of its own for it."""
    stack: list[syntax.Node] = list(reversed(function.body))
    while stack:
        node = stack.pop()
        if isinstance(node, (syntax.FunctionDef, syntax.ClassDef, syntax.Lambda)):
            continue
        if isinstance(node, syntax.Assign):
            for target in node.targets:
                yield from _targets(target, node.value, name)
        elif isinstance(node, syntax.Walrus) and node.target.id == name:
            yield node.value
        elif isinstance(node, syntax.For) and any(
            isinstance(part, syntax.Name) and part.id == name for part in node.target.walk()
        ):
            yield None
        stack.extend(reversed(list(node.children())))


def _targets(target: syntax.Expr, value: syntax.Expr | None, name: str) -> Iterator[syntax.Expr | None]:
    if isinstance(target, syntax.Name) and target.id == name:
        yield value
    elif isinstance(target, syntax.Sequence):
        values = (
            value.items
            if isinstance(value, syntax.Sequence) and len(value.items) == len(target.items)
            else [None] * len(target.items)
        )
        for part, one in zip(target.items, values, strict=True):
            yield from _targets(part, one, name)


def named_values(event: Event, level: int) -> Iterator[tuple[str, Value]]:
    """Parameters (name, value) that code at a stack level can see: its function's own, then those of the functions around it."""
    tracer = _Tracer(event.stack, None)  # type: ignore[arg-type]
    for owner in tracer._owners(level):
        frame = event.stack[owner].frame
        if frame.function is None or frame.arguments is None:
            continue
        for param, value in zip(frame.function.params, frame.arguments.positional, strict=False):
            if not isinstance(value, Partial):
                yield param.name, value
        yield from frame.arguments.keywords.items()
