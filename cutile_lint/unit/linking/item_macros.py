"""Functions that macros make: a ``macro_rules!`` with a ``fn`` in its body, invoked where items stand."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Source, Span
from cutile_lint.unit.machine import rust_macros
from cutile_lint.unit.machine.machine import Machine
from cutile_lint.unit.machine.rust import Metavariable, Repeated, RustDialect
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.state import TooMuch
from cutile_lint.unit.machine.trace import Frame
from cutile_lint.unit.machine.values import Value

if TYPE_CHECKING:
    from cutile_lint.unit.linking.crate import Crate

_VARIABLE = re.compile(r"\$\w+")
#: what may stand around the body of an invocation: nothing, or what hands its result on unless it panics
_AROUND_BODY = re.compile(
    r"""->\s*[\w:$]+\s*(?:\{\s*|unsafe\s*)*(?:
        (?P<plain>\$\w+)[\s}]*$
        |(?:match\s+)?(?:::)?(?:\w+::)*catch_unwind\(\s*(?:(?:::)?(?:\w+::)*AssertUnwindSafe\(\s*)?(?:move\s*)?\|\|\s*(?:unsafe\s*)?
         (?:\{\s*(?P<inner>\$\w+)\s*\}|(?P<alone>\$\w+))\s*\)+
         (?:\.unwrap_or(?:_else)?\(.*\)|\s*\{\s*(?:\w+::)*Ok\((?P<code>\w+)\)\s*=>\s*(?P=code)\s*,.*\})\s*\}$
    )""",
    re.VERBOSE | re.DOTALL,
)
#: the parameters of a function that are the invocation's, and what stands between its name and its body
_PARAMETERS = re.compile(r"\(\s*\$\(\s*\$\w+\s*:\s*\$\w+\s*\)\s*,\s*\*\s*,?\s*\)")
_HEAD = re.compile(r"\bfn\s+[^{]*")
#: Macros that invoke each other are not followed deeper, and no more of them in all.
_MAX_DEPTH, _MAX_INVOKED = 24, 256


@dataclass(slots=True, eq=False)
class Made:
    """A function with what the metavariables of its text stand for.

    ``source``: the file that its text stands in; ``place``: where its name is written, in the invocation if it comes from there;
    ``catches``: what the macro puts around the text catches panics.
    """

    function: syntax.FunctionDef
    source: Source
    names: dict[str, Value]
    place: Place
    catches: bool = False


def made_items(crate: Crate, call: syntax.Call, source: Source) -> Iterator[Made]:
    """The functions that an invocation among a file's items makes."""
    expansion = _Expansion(crate, source)
    try:
        yield from expansion.made(call, crate.scope(expansion.machine, source), 0)
    except (TooMuch, RecursionError):
        return


def invocations(body: list[syntax.Stmt]) -> Iterator[syntax.Call]:
    """The macros that are invoked among items."""
    for node in body:
        if isinstance(node, syntax.ExprStmt) and isinstance(node.value, syntax.Call) and node.value.macro:
            yield node.value


class _Expansion:
    """One invocation, with those that it leads to."""

    def __init__(self, crate: Crate, source: Source) -> None:
        self.crate = crate
        self.dialect = RustDialect(crate)
        self.machine = Machine(self.dialect)
        self.machine.frames.append(Frame(None, None, source, None))
        self._left = _MAX_INVOKED

    def made(self, call: syntax.Call, scope: Scope, depth: int) -> Iterator[Made]:
        name = call.func.last.removesuffix("!") if isinstance(call.func, syntax.Name) else ""
        macro = self.crate.macro(self.machine, name, scope.source)
        self._left -= 1
        if macro is None or depth > _MAX_DEPTH or self._left < 0 or not any(map(_makes_items, macro.definition.arms)):
            return
        with self.machine.inside(scope=scope):
            chosen = rust_macros.choose(self.dialect, self.machine, macro, call)
        if chosen is None:
            return
        arm, bindings = chosen
        inner = Scope(macro.scope.source, macro.scope, transparent=True)
        inner.names.update(bindings)
        yield from self._in_body(arm.body, inner, depth)

    def _in_body(self, body: list[syntax.Stmt], scope: Scope, depth: int) -> Iterator[Made]:
        for node in body:
            if isinstance(node, syntax.FunctionDef):
                made = _function(node, scope)
                if made is not None:
                    yield made
            elif (name := _argument(node)) is not None:
                yield from _given(scope.lookup(name))
            elif isinstance(node, syntax.Repetition):
                used = set(_VARIABLE.findall(scope.source.slice(node.span)))
                groups = {name: value for name in sorted(used) if isinstance(value := scope.lookup(name), Repeated)}
                with self.machine.inside(scope=scope):
                    rounds = list(self.dialect.rounds(self.machine, groups)) if groups else []
                for one in rounds:
                    yield from self._in_body(node.body, one, depth)
            for call in invocations([node]):
                yield from self.made(call, scope, depth + 1)


def _makes_items(arm: syntax.MacroArm) -> bool:
    """There is a function in the arm's text, a place for one, or another macro that may have one."""
    kinds = (syntax.FunctionDef, syntax.Repetition)
    return any(isinstance(node, kinds) or _argument(node) is not None for node in arm.body) or any(invocations(arm.body))


def _argument(node: syntax.Stmt) -> str | None:
    """The metavariable that is all of a statement."""
    value = node.value if isinstance(node, syntax.ExprStmt) else None
    return value.id if isinstance(value, syntax.Name) and value.id.startswith("$") else None


def _given(value: Value | None) -> Iterator[Made]:
    """The function that an ``$item`` is."""
    for one in value.elements if isinstance(value, Repeated) else [value]:
        if not isinstance(one, Metavariable):
            continue
        source = one.scope.source
        for node in one.node.body if isinstance(one.node, syntax.Block) else []:
            if isinstance(node, syntax.FunctionDef):
                yield Made(node, source, {}, Place(source, node.function.name_span or node.span))


def _function(node: syntax.FunctionDef, scope: Scope) -> Made | None:
    """The function with the names and types that the invocation gives; None where these are not known."""
    names = rust_macros.bound(scope)
    function = copy.copy(node.function)
    place = Place(scope.source, function.name_span or function.span)
    given = names.get(function.name)
    if isinstance(given, Metavariable):
        place = Place(given.scope.source, given.node.span)
    params = [copy.copy(param) for param in function.params]
    head = _HEAD.search(scope.source.slice(node.span))
    if head is None or "$(" in head[0]:
        return _of_invocation(node, scope, place, names)
    read = {function.name, function.returns, *(param.annotation for param in params), *(one.name for one in function.generics)}
    if not set(_VARIABLE.findall(head[0])) <= {name for text in read for name in _VARIABLE.findall(text)}:
        return None  # a parameter that is not known, or one that the body would name by the invocation's names
    function.attributes = [copy.copy(one) for one in function.attributes]
    try:
        for one in function.attributes:
            one.text = _written(one.text, names)
        function.name = _written(function.name, names)
        function.returns = _written(function.returns, names)
        for param in params:
            param.annotation = _written(param.annotation, names)
    except KeyError:
        return None
    function.params = params
    made = copy.copy(node)
    made.function = function
    return Made(made, scope.source, names, place)


def _of_invocation(node: syntax.FunctionDef, scope: Scope, place: Place, names: dict[str, Value]) -> Made | None:
    """The function whose parameters and body the invocation gives: ``fn $name($($p: $t),*) -> i32 $body``, or with that body in a
    ``catch_unwind``. None for other text around it, which may make something else of what the body returns."""
    text = scope.source.slice(node.span)
    params = _given_params(node.function.params, names) if _PARAMETERS.search(text) else None
    around = _AROUND_BODY.search(text)
    body = names.get(next(filter(None, around.group("plain", "inner", "alone")))) if around is not None else None
    if params is None or around is None or not isinstance(body, Metavariable) or not isinstance(body.node, syntax.Block):
        return None
    source, block = body.scope.source, body.node
    if any(one.scope.source is not source for pair in params for one in pair):
        return None
    function = copy.copy(node.function)
    try:
        function.name, function.returns = _written(function.name, names), _written(function.returns, names)
    except KeyError:
        return None
    function.params = [
        syntax.Param(Span(one.node.span.start, kind.node.span.end), source.slice(one.node.span), source.slice(kind.node.span))
        for one, kind in params
    ]
    function.body = [*block.body]
    if block.value is not None:
        function.body.append(syntax.Return(block.value.span, block.value, implicit=True))
    function.span, function.name_span = block.span, None
    made = copy.copy(node)
    made.span, made.function = block.span, function
    return Made(made, source, {}, place, catches="catch_unwind" in text)


def _given_params(params: list[syntax.Param], names: dict[str, Value]) -> list[tuple[Metavariable, Metavariable]] | None:
    """Names and types of ``$($p: $t),*``."""
    found = [names.get(text) for param in params for text in (param.name, param.annotation)]
    if len(params) != 1 or not all(isinstance(one, Repeated) for one in found):
        return None
    pairs = list(zip(*(one.elements for one in found), strict=False))  # type: ignore[union-attr]
    if not all(isinstance(one, Metavariable) for pair in pairs for one in pair):
        return None
    return pairs  # type: ignore[return-value]


def _written(text: str, names: dict[str, Value]) -> str:
    """A text with its metavariables replaced. Raises KeyError for one that stands for no single piece of text."""

    def argument(match: re.Match[str]) -> str:
        if match[0] == "$crate":
            return "crate"
        value = names[match[0]]
        if not isinstance(value, Metavariable):
            raise KeyError(match[0])
        return value.scope.source.slice(value.node.span)

    return _VARIABLE.sub(argument, text)
