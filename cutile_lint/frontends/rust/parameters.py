"""Parameters of functions and closures, and generic parameters with their bounds."""

from __future__ import annotations

from tree_sitter import Node

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust.reader import Reader, parts


def read(reader: Reader, node: Node) -> list[syntax.Param]:
    """The parameters between the brackets; ``self`` keeps its whole text (``&mut self``) as annotation."""
    found: list[syntax.Param] = []
    for child in node.children:
        span = reader.span(child)
        if child.type == "parameter":
            found.append(_typed(reader, child))
        elif child.type == "self_parameter":
            found.append(syntax.Param(span, "self", reader.inline(child)))
        elif child.type == "variadic_parameter":
            found.append(syntax.Param(span, "...", kind="*"))
        elif child.type == "_":
            found.append(syntax.Param(span, "_"))
        elif child.is_named and (child.type == "identifier" or child.type.endswith("_pattern")):
            found.append(_named(reader, child, syntax.Param(span, "")))
    return found


def _typed(reader: Reader, node: Node) -> syntax.Param:
    type_node = node.child_by_field_name("type")
    found = syntax.Param(
        reader.span(node),
        "",
        reader.inline(type_node),
        annotation_span=reader.span(type_node) if type_node is not None else None,
    )
    pattern = node.child_by_field_name("pattern")
    return found if pattern is None else _named(reader, pattern, found)


def _named(reader: Reader, node: Node, param: syntax.Param) -> syntax.Param:
    """Fill in the name; a pattern that is no plain name is kept as pattern."""
    if node.type in ("identifier", "self", "metavariable"):
        param.name = reader.text(node)
        return param
    found = reader.pattern(node)
    if found.kind == "capture" and not found.items:
        param.name = found.name
    elif found.kind == "wildcard":
        param.name = "_"
    else:
        param.pattern = found
    return param


def generics(reader: Reader, node: Node) -> list[syntax.Generic]:
    """The generic parameters of an item; bounds of its ``where`` clause are added to those at the parameter."""
    found: dict[str, syntax.Generic] = {}
    declared = node.child_by_field_name("type_parameters")
    for child in parts(declared) if declared is not None else ():
        name = reader.text(child.child_by_field_name("name"))
        kind = {"type_parameter": "type", "const_parameter": "const", "lifetime_parameter": "lifetime"}.get(child.type)
        if kind is None:
            continue
        bound = reader.inline(child.child_by_field_name("type" if kind == "const" else "bounds")).lstrip(": ")
        found[name] = syntax.Generic(reader.span(child), name, kind, bound)
    clause = next((child for child in node.named_children if child.type == "where_clause"), None)
    for predicate in parts(clause) if clause is not None else ():
        generic = found.get(reader.text(predicate.child_by_field_name("left")))
        bound = reader.inline(predicate.child_by_field_name("bounds")).lstrip(": ")
        if generic is not None and bound:
            generic.bound = f"{generic.bound} + {bound}" if generic.bound else bound
    return list(found.values())
