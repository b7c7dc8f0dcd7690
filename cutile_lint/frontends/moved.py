"""A piece of a tree as it is somewhere else in the text."""

from __future__ import annotations

from typing import Any, TypeVar

from cutile_lint.frontends import syntax
from cutile_lint.sources import Span

N = TypeVar("N", bound=syntax.Node)
_NEW = tuple.__new__


def moved(node: N, by: int) -> N:
    """The node with all that is below it, ``by`` bytes further on. Bodies of functions follow when somebody reads them."""
    made = object.__new__(type(node))
    is_function = isinstance(node, syntax.Function)
    for name in node.FIELDS:
        if not (is_function and name == "body"):
            setattr(made, name, _moved(getattr(node, name), by))
    if is_function:
        syntax.set_body_later(made, node, by, _moved)
    return made


def _moved(value: Any, by: int) -> Any:
    kind = value.__class__
    if kind is Span:
        return _NEW(Span, (value[0] + by, value[1] + by))  # as `Span(…)`: there is one for every node
    if kind is list:
        return [_moved(one, by) for one in value]
    if kind is tuple:
        return tuple(_moved(one, by) for one in value)
    return value if kind is str or not isinstance(value, syntax.Node) else moved(value, by)
