"""Patterns: of ``let``, parameters, match arms, ``if let`` and ``matches!``.

``&p``, ``ref p`` and ``mut p`` are read as ``p``. A lone name is a capture unless it begins with a capital (``None``,
``OK``), then it is a value; so is a metavariable whose fragment is a pattern, literal, path or expression.
"""

from __future__ import annotations

from tree_sitter import Node

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust.reader import EXTRAS, Reader, parts, pattern
from cutile_lint.sources import Span

_VALUE_FRAGMENTS = frozenset({"pat", "pat_param", "literal", "path", "expr", "ty", "tt"})


def subpatterns(reader: Reader, node: Node) -> list[syntax.Pattern]:
    """The patterns between a node's brackets (``_`` is no named node)."""
    return [
        reader.pattern(child)
        for child in node.children
        if (child.is_named and child.type not in EXTRAS and child.type != "mutable_specifier") or child.type == "_"
    ]


@pattern("_")
def _wildcard(reader: Reader, node: Node) -> syntax.Pattern:
    return syntax.Pattern(reader.span(node), "wildcard")


@pattern("identifier", "metavariable", "shorthand_field_identifier", "self")
def _name(reader: Reader, node: Node) -> syntax.Pattern:
    name = reader.text(node)
    span = reader.span(node)
    if name in ("_", ""):  # "": a name that is missing
        return syntax.Pattern(span, "wildcard")
    if name[0].isupper() or (name[0] == "$" and reader.fragments.get(name) in _VALUE_FRAGMENTS):
        return syntax.Pattern(span, "value", value=syntax.Name(span, name))
    return syntax.Pattern(span, "capture", name)


@pattern("remaining_field_pattern")
def _rest(reader: Reader, node: Node) -> syntax.Pattern:
    return syntax.Pattern(reader.span(node), "rest")


@pattern("ref_pattern", "mut_pattern", "reference_pattern", "match_pattern")
def _transparent(reader: Reader, node: Node) -> syntax.Pattern:
    inner = [
        child
        for child in node.children
        if (child.is_named and child.type not in EXTRAS and child.type != "mutable_specifier") or child.type == "_"
    ]
    return reader.pattern(inner[0]) if inner else syntax.Pattern(reader.span(node), "wildcard")


@pattern("captured_pattern")
def _captured(reader: Reader, node: Node) -> syntax.Pattern:
    below = subpatterns(reader, node)
    name = reader.text(next(iter(parts(node)), None))
    return syntax.Pattern(reader.span(node), "capture", name, items=below[1:2])


@pattern("or_pattern")
def _alternatives(reader: Reader, node: Node) -> syntax.Pattern:
    items: list[syntax.Pattern] = []
    while True:  # `a | b | c` leans to the left
        below = [child for child in node.children if (child.is_named and child.type not in EXTRAS) or child.type == "_"]
        if len(below) == 2:
            items.append(reader.pattern(below[1]))
        if not below:
            break
        if below[0].type != "or_pattern":
            items.append(reader.pattern(below[0]))
            break
        node = below[0]
    items.reverse()
    span = Span(items[0].span.start, items[-1].span.end) if items else reader.span(node)
    return syntax.Pattern(span, "or", items=items)


@pattern("tuple_pattern", "slice_pattern")
def _sequence(reader: Reader, node: Node) -> syntax.Pattern:
    return syntax.Pattern(reader.span(node), "sequence", items=subpatterns(reader, node))


@pattern("tuple_struct_pattern")
def _constructor(reader: Reader, node: Node) -> syntax.Pattern:
    kind = node.child_by_field_name("type")
    items = [
        reader.pattern(child)
        for child in node.children
        if child != kind and ((child.is_named and child.type not in EXTRAS) or child.type == "_")
    ]
    return syntax.Pattern(reader.span(node), "constructor", reader.inline(kind), items=items)


@pattern("struct_pattern")
def _fields(reader: Reader, node: Node) -> syntax.Pattern:
    result = syntax.Pattern(reader.span(node), "constructor", reader.inline(node.child_by_field_name("type")))
    for child in node.named_children:
        if child.type == "field_pattern":
            name = child.child_by_field_name("name")
            below = child.child_by_field_name("pattern")
            if name is None:
                continue
            label = reader.text(name)
            inner = reader.pattern(below) if below is not None else syntax.Pattern(reader.span(name), "capture", label)
            result.fields.append((label, inner))
        elif child.type == "remaining_field_pattern":
            result.items.append(reader.pattern(child))
    return result


@pattern("range_pattern")
def _range(reader: Reader, node: Node) -> syntax.Pattern:
    span = reader.span(node)
    left = node.child_by_field_name("left")
    right = node.child_by_field_name("right")
    if right is None:
        rest = [child for child in parts(node) if left is None or child != left]
        right = rest[0] if rest else None
    inclusive = any(child.type in ("..=", "...") for child in node.children)
    start = reader.expression(left) if left is not None else None
    end = reader.expression(right) if right is not None else None
    return syntax.Pattern(span, "range", value=syntax.Range(span, start, end, inclusive))


@pattern("")
def _value(reader: Reader, node: Node) -> syntax.Pattern:
    """Literals, paths, macro calls: compared with."""
    return syntax.Pattern(reader.span(node), "value", value=reader.expression(node))


def target(found: syntax.Pattern) -> syntax.Expr | None:
    """The pattern as an assignment target: names, ``_`` and (nested) tuples; None for any other."""
    if found.kind == "capture" and not found.items:
        return syntax.Name(found.span, found.name)
    if found.kind == "wildcard":
        return syntax.Name(found.span, "_")
    if found.kind == "value" and isinstance(found.value, syntax.Name) and "::" not in found.value.id:
        return found.value
    if found.kind == "sequence":
        items = [target(item) for item in found.items]
        known = [item for item in items if item is not None]
        if len(known) == len(items):
            return syntax.Sequence(found.span, "tuple", known)
    return None
