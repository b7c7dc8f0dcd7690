"""Syntax errors of a file: the outermost place of each ERROR or MISSING node."""

from __future__ import annotations

from tree_sitter import Node

from cutile_lint.frontends.syntax import Fault
from cutile_lint.sources import Source, Span

_MAX_FAULTS = 100
_SHOWN = 24


def faults(source: Source, root: Node) -> list[Fault]:
    """In order of their places; never more than a hundred."""
    found: list[Fault] = []
    stack = [root]
    while stack and len(found) < _MAX_FAULTS:
        node = stack.pop()
        if node.is_missing:
            found.append(Fault(Span(node.start_byte, node.end_byte), f"syntax error: missing `{_missing(node)}`"))
        elif node.is_error:
            if not _is_negative_generic(node):
                found.append(_unexpected(source, node))
        elif node.has_error:
            stack.extend(reversed(node.children))
    return found


def _is_negative_generic(node: Node) -> bool:
    """``Tensor<E, -1>`` is Rust, but the grammar (0.24) has no word for the minus."""
    return (
        node.child_count == 1
        and node.children[0].type == "-"
        and node.parent is not None
        and node.parent.type == "type_arguments"
    )


def _missing(node: Node) -> str:
    return node.type.replace("_", " ") if node.is_named else node.type


def _unexpected(source: Source, node: Node) -> Fault:
    """Of a whole file in one ERROR, the first token outside its items is the place."""
    start, end = node.start_byte, node.end_byte
    if node.parent is None:
        loose = next((child for child in node.children if not child.is_named or child.is_error), None)
        if loose is not None:
            start, end = loose.start_byte, loose.end_byte
    text = " ".join(source.data[start:end].decode("utf-8", "replace").split())
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return Fault(Span(start, end), f"syntax error: unexpected `{shown}`" if shown else "syntax error")
