"""Expressions: literals, paths, calls, operators, literals of arrays, tuples and structs.

Parentheses are transparent. Chains of ``a + b + c`` and ``a || b || c`` are read along their left spine, without recursion.
"""

from __future__ import annotations

from tree_sitter import Node

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust.literals import character, number, string
from cutile_lint.frontends.rust.reader import COMMENTS, EXTRAS, MAX_DEPTH, Reader, Repeated, TooDeep, expression, parts
from cutile_lint.sources import Span

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_LOGIC = {"&&": "and", "||": "or"}
_MAX_SPINE = 4 * MAX_DEPTH


@expression("identifier", "scoped_identifier", "self", "crate", "super", "metavariable", "type_identifier", "primitive_type")
@expression("scoped_type_identifier", "generic_function", "generic_type", "generic_type_with_turbofish", "bracketed_type")
@expression("shorthand_field_identifier", "generic_pattern")
def _name(reader: Reader, node: Node) -> syntax.Expr:
    return reader.name(node)


@expression("integer_literal", "float_literal")
def _number(reader: Reader, node: Node) -> syntax.Expr:
    value, suffix = number(reader.text(node))
    return syntax.Const(reader.span(node), value, suffix)


@expression("negative_literal")
def _negative(reader: Reader, node: Node) -> syntax.Expr:
    return syntax.Unary(reader.span(node), "-", reader.inner(node))


@expression("string_literal", "raw_string_literal")
def _string(reader: Reader, node: Node) -> syntax.Expr:
    return syntax.Const(reader.span(node), string(reader.text(node)))


@expression("char_literal")
def _char(reader: Reader, node: Node) -> syntax.Expr:
    value, suffix = character(reader.text(node))
    return syntax.Const(reader.span(node), value, suffix)


@expression("boolean_literal")
def _boolean(reader: Reader, node: Node) -> syntax.Expr:
    return syntax.Const(reader.span(node), reader.text(node) == "true")


@expression("unit_expression")
def _unit(reader: Reader, node: Node) -> syntax.Expr:
    return syntax.Sequence(reader.span(node), "tuple", [])


@expression("parenthesized_expression", "expression_statement")
def _parenthesised(reader: Reader, node: Node) -> syntax.Expr:
    return reader.inner(node)


@expression("call_expression")
def _call(reader: Reader, node: Node) -> syntax.Expr:
    below = node.children if node.child_count == 2 else parts(node)  # else there are comments between
    if len(below) != 2:
        return syntax.Opaque(reader.span(node), "call")
    function, arguments = below
    generics: tuple[str, ...] = ()
    if function.type == "generic_function":
        generics = _generics(reader, function)
        function = function.child_by_field_name("function") or function
    around = _repeated_links(reader, function) if reader.repetitions and function.type == "field_expression" else ()
    base = reader.expression(function)
    outside = reader.repetitions
    reader.repetitions = tuple(one for one in outside if one not in around)
    given = [syntax.Arg(value.span, value) for value in items(reader, arguments)]
    reader.repetitions = outside
    call = syntax.Call(reader.span(node), base, given, generics=generics, args_span=reader.span(arguments))
    if not around or not isinstance(base, syntax.Attr):
        return call
    return _linked(call, base, around[0].outer) if len(around) == 1 else syntax.Opaque(call.span, "repetition", [call])


def _repeated_links(reader: Reader, link: Node) -> tuple[Repeated, ...]:
    """The repetitions of ``base $( .name($x) )*``: the call is there any number of times, its base once."""
    name, start = link.children[-1].start_byte + reader.shift, link.start_byte + reader.shift
    return tuple(one for one in reader.repetitions if one.covers(name) and not one.covers(start))


def _linked(call: syntax.Call, func: syntax.Attr, around: Span) -> syntax.Links:
    before, span = func.base, Span(call.span.start, around.end)
    if isinstance(before, syntax.Links) and before.around == around:  # a round of several links
        func.base = before.link
        return syntax.Links(span, before.base, call, around)
    func.base = syntax.Name(before.span, syntax.LAST)
    return syntax.Links(span, before, call, around)


def _generics(reader: Reader, node: Node) -> tuple[str, ...]:
    given = node.child_by_field_name("type_arguments")
    if given is None:
        return ()
    found: list[str] = []
    sign = ""
    for child in given.named_children:
        if child.type in COMMENTS:
            continue
        text = sign + reader.inline(child)
        sign = "-" if text == "-" else ""  # the grammar has `-1` as an error and a number
        if not sign:
            found.append(text)
    return tuple(found)


def items(reader: Reader, node: Node, skip: Node | None = None) -> list[syntax.Expr]:
    """The elements between a node's brackets; those of a repetition are marked ``Unary("*repeat", …)``."""
    found: list[syntax.Expr] = []
    for child in node.named_children:
        if child.type in EXTRAS or (skip is not None and child == skip):
            continue
        found.append(repeated(reader, child) if reader.repetitions else reader.expression(child))
    return found


def repeated(reader: Reader, node: Node) -> syntax.Expr:
    """An element, marked when a repetition of the macro body begins around it."""
    offset = node.start_byte + reader.shift
    around = next((one for one in reader.repetitions if one.covers(offset)), None)
    if around is None:
        return reader.expression(node)
    outside = reader.repetitions
    reader.repetitions = tuple(one for one in outside if one is not around)
    value = repeated(reader, node)
    reader.repetitions = outside
    return syntax.Unary(around.outer, "*repeat", value)


@expression("field_expression")
def _field(reader: Reader, node: Node) -> syntax.Expr:
    below = node.children
    base, field = below[0], below[-1]
    return syntax.Attr(reader.span(node), reader.expression(base), reader.text(field), reader.span(field))


@expression("try_expression", "await_expression")
def _postfix(reader: Reader, node: Node) -> syntax.Expr:
    operator = "?" if node.type == "try_expression" else "await"
    return syntax.Unary(reader.span(node), operator, reader.inner(node))


@expression("unary_expression")
def _unary(reader: Reader, node: Node) -> syntax.Expr:
    operator = node.children[0].type
    return syntax.Unary(reader.span(node), "not" if operator == "!" else operator, reader.inner(node, -1))


@expression("reference_expression")
def _reference(reader: Reader, node: Node) -> syntax.Expr:
    mutable = any(child.type == "mutable_specifier" for child in node.named_children)
    return syntax.Unary(reader.span(node), "&mut" if mutable else "&", reader.field(node, "value"))


@expression("binary_expression")
def _binary(reader: Reader, node: Node) -> syntax.Expr:
    spine: list[tuple[Node, Node, Node]] = []
    left = node
    while left.type == "binary_expression":
        below = left.children
        if len(below) > 3:
            below = [child for child in below if child.type not in COMMENTS]
        if len(below) != 3:
            return syntax.Opaque(reader.span(node), "binary")
        spine.append((left, below[1], below[2]))
        left = below[0]
        if len(spine) > _MAX_SPINE:
            raise TooDeep
    result = reader.expression(left)
    for whole, operator, right in reversed(spine):
        value = repeated(reader, right) if reader.repetitions else reader.expression(right)
        result = _joined(reader.span(whole), operator.type, result, value)
    return result


def _joined(span: Span, operator: str, left: syntax.Expr, right: syntax.Expr) -> syntax.Expr:
    if operator in _COMPARISONS:
        return syntax.Compare(span, operator, left, right)
    if operator not in _LOGIC:
        return syntax.Binary(span, operator, left, right)
    logic = _LOGIC[operator]
    if isinstance(left, syntax.Logic) and left.op == logic:
        return syntax.Logic(span, logic, [*left.items, right])
    return syntax.Logic(span, logic, [left, right])


@expression("let_chain")
def _chain(reader: Reader, node: Node) -> syntax.Expr:
    below = [reader.expression(child) for child in parts(node)]
    found: list[syntax.Expr] = []
    for value in below:
        found += value.items if isinstance(value, syntax.Logic) and value.op == "and" else [value]
    return syntax.Logic(reader.span(node), "and", found)


@expression("let_condition")
def _let_condition(reader: Reader, node: Node) -> syntax.Expr:
    pattern = node.child_by_field_name("pattern")
    value = node.child_by_field_name("value")
    if pattern is None or value is None:
        return syntax.Opaque(reader.span(node), "let")
    return syntax.PatternTest(reader.span(node), reader.expression(value), reader.pattern(pattern))


@expression("range_expression")
def _range(reader: Reader, node: Node) -> syntax.Expr:
    start: syntax.Expr | None = None
    end: syntax.Expr | None = None
    inclusive = seen = False
    for child in node.children:
        if child.type in ("..", "..=", "..."):
            seen = True
            inclusive = child.type != ".."
        elif child.is_named and child.type not in EXTRAS:
            if seen:
                end = reader.expression(child)
            else:
                start = reader.expression(child)
    return syntax.Range(reader.span(node), start, end, inclusive)


@expression("index_expression")
def _index(reader: Reader, node: Node) -> syntax.Expr:
    return syntax.Index(reader.span(node), reader.inner(node), reader.inner(node, -1))


@expression("type_cast_expression")
def _cast(reader: Reader, node: Node) -> syntax.Expr:
    return syntax.Cast(reader.span(node), reader.field(node, "value"), reader.inline(node.child_by_field_name("type")))


@expression("tuple_expression")
def _tuple(reader: Reader, node: Node) -> syntax.Expr:
    return syntax.Sequence(reader.span(node), "tuple", items(reader, node))


@expression("array_expression")
def _array(reader: Reader, node: Node) -> syntax.Expr:
    length = node.child_by_field_name("length")
    if length is None:
        return syntax.Sequence(reader.span(node), "list", items(reader, node))
    value = next((child for child in parts(node) if child != length), length)
    return syntax.Repeat(reader.span(node), reader.expression(value), reader.expression(length))


@expression("struct_expression")
def _struct(reader: Reader, node: Node) -> syntax.Expr:
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    found: list[tuple[str, syntax.Expr]] = []
    for child in parts(body) if body is not None else ():
        below = parts(child)
        if child.type == "field_initializer":
            label = child.child_by_field_name("field")
            value = child.child_by_field_name("value")
            if value is not None:
                found.append((reader.text(label), reader.expression(value)))
        elif child.type == "shorthand_field_initializer" and below:
            found.append((reader.text(below[0]), reader.expression(below[0])))
        elif child.type == "base_field_initializer" and below:
            found.append(("..", reader.expression(below[0])))
    return syntax.Struct(reader.span(node), reader.inline(name), found)


@expression("ERROR")
def _error(reader: Reader, node: Node) -> syntax.Expr:
    return syntax.Opaque(reader.span(node), "error", [reader.expression(child) for child in parts(node)])
