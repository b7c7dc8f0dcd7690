"""Which arm of a ``macro_rules!`` an invocation takes, and what the arm's metavariables stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust.tokens import Bindings, Token, match, tokens, variables
from cutile_lint.sources import Place, Source, Span
from cutile_lint.unit.machine import rust
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.values import Value

if TYPE_CHECKING:
    from cutile_lint.unit.machine.rust import Macro, RustDialect
    from cutile_lint.unit.machine.statements import Statements as Machine

#: Invocations with more tokens than this are not matched.
MAX_TOKENS = 4000


class _NotKnown(Exception):
    """The tokens of the invocation are not known: a metavariable or repetition of the macro around has no value."""


def choose(
    dialect: RustDialect, machine: Machine, macro: Macro, node: syntax.Call
) -> tuple[syntax.MacroArm, dict[str, Value]] | None:
    """The first arm that the invocation's tokens fit, with the values of its metavariables; None when there is none."""
    if node.args_span is None:
        return None
    source = machine.scope.source
    inside = Span(node.args_span.start + 1, node.args_span.end - 1)
    try:
        given = _trees(dialect, source, inside)
        if bound(machine.scope):
            given = _filled(machine, given, [MAX_TOKENS])
    except _NotKnown:
        return None
    for arm in macro.definition.arms:
        if arm.pattern is None:
            continue
        found = match(_trees(dialect, macro.scope.source, arm.pattern), given, lambda part, kind: _parses(source, part, kind))
        if found is not None:
            return _bound(dialect, machine, arm, found, node)
    return None


def bound(scope: Scope | None) -> dict[str, Value]:
    """The metavariables that a text sees with what they stand for."""
    found: dict[str, Value] = {}
    while scope is not None:
        found = {**{name: value for name, value in scope.names.items() if name.startswith("$")}, **found}
        scope = scope.outer
    return found


def _trees(dialect: RustDialect, source: Source, span: Span) -> list[Token]:
    place = Place(source, span)
    if place not in dialect.token_trees:
        dialect.token_trees[place] = _tokens(source, span)
    return dialect.token_trees[place]


def _tokens(source: Source, span: Span) -> list[Token]:
    source.part(*span)
    return tokens(source.raw, span)


def _parses(source: Source, part: list[Token], kind: str) -> bool:
    if len(part) == 1 and (part[0].value is not None or part[0].kind in ("word", "literal")):
        return True
    if any(token.moved for token in part):
        return False
    from cutile_lint.frontends.rust.fragments import is_fragment

    span = Span(part[0].span.start, part[-1].span.end)
    source.part(*span)
    return is_fragment(source.raw, span, kind)


# ── an invocation in another macro's body ──────────────────────────────────


def _filled(machine: Machine, given: list[Token], left: list[int]) -> list[Token]:
    """The tokens with the metavariables of the macro around replaced, its repetitions written out."""
    result: list[Token] = []
    for token in given:
        left[0] -= 1
        if left[0] < 0:
            raise _NotKnown
        if token.kind == "variable" and token.text != "$crate":
            result.append(_stands_for(machine, token))
        elif token.kind == "repetition":
            result += _rounds(machine, token, left)
        elif token.kind == "group":
            result.append(Token("group", token.text, token.span, _filled(machine, token.inner, left)))
        else:
            result.append(token)
    return result


def _stands_for(machine: Machine, token: Token) -> Token:
    found = machine.scope.lookup(token.text)
    while isinstance(found, rust.Repeated) and found.elements:  # an arm that stands for one per element is run for the first
        found = found.elements[0]
    if not isinstance(found, rust.Metavariable):
        raise _NotKnown
    source = found.scope.source
    alone = _tokens(source, found.node.span)
    if len(alone) == 1 and alone[0].kind in ("word", "literal", "lifetime"):
        return Token(alone[0].kind, alone[0].text, token.span, value=found)
    return Token("fragment", "", token.span, value=found)


def _rounds(machine: Machine, token: Token, left: list[int]) -> list[Token]:
    dialect = machine.dialect
    assert isinstance(dialect, rust.RustDialect)
    groups = {name: value for name in variables(token.inner) if isinstance(value := machine.scope.lookup(name), rust.Repeated)}
    if not groups:
        raise _NotKnown
    result: list[Token] = []
    for position, scope in enumerate(dialect.rounds(machine, groups)):
        if position and token.text:
            result.append(Token("mark", token.text, token.span, moved=True))
        with machine.inside(scope=scope):
            for part in _filled(machine, token.inner, left):
                part = Token(part.kind, part.text, part.span, part.inner, value=part.value, moved=True)
                result.append(part)
    return result


# ── values ─────────────────────────────────────────────────────────────────


def _bound(
    dialect: RustDialect, machine: Machine, arm: syntax.MacroArm, found: Bindings, node: syntax.Call
) -> tuple[syntax.MacroArm, dict[str, Value]] | None:
    fragments = {variable.name: variable.fragment for variable in arm.variables}
    read = {arg.value.span: arg.value for arg in node.args if not arg.name}
    values: dict[str, Value] = {}
    for name, taken in found.items():
        value = _value(dialect, machine, name, fragments.get(name, ""), taken, read)
        if value is None:
            return None
        values[name] = value
    return arm, values


def _value(
    dialect: RustDialect, machine: Machine, name: str, fragment: str, taken: list, read: dict[Span, syntax.Expr]
) -> Value | None:
    if (taken and isinstance(taken[0], list)) or (not taken and fragment != "vis"):
        elements = [_value(dialect, machine, name, fragment, one, read) for one in taken]
        if any(element is None for element in elements):
            return None
        return rust.Repeated(elements)  # type: ignore[arg-type]
    if not taken:
        return rust.Metavariable(syntax.Opaque(Span(0, 0), "tokens"), machine.scope, rust.Known(None))
    if len(taken) == 1 and isinstance(taken[0].value, rust.Metavariable):
        return taken[0].value
    if len(taken) > 1 and any(token.moved for token in taken):
        return None
    place = Place(machine.scope.source, Span(taken[0].span.start, taken[-1].span.end))
    expression = read.get(place.span) or dialect.fragments.get(place)
    if expression is None:
        from cutile_lint.frontends.rust.fragments import fragment as read_fragment

        expression = dialect.fragments[place] = read_fragment(place.source.raw, place.span)
    return dialect.argument(machine, expression, name, fragment)
