"""Can two paths be taken by the same call? Answered by trying the flags (``static_persistent``) that their conditions test."""

from __future__ import annotations

from itertools import product

from cutile_lint.unit.flows.fold import Folder
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Term, Value

#: flags tried together; more are left open
_MAX_FLAGS = 3
_VALUES = (True, False, None)
_TRANSPARENT = frozenset(["not", "and", "or", "compare", "binary", "unary"])


def flag_literals(condition: Condition) -> Condition:
    """The literals that test nothing but parameters of the op themselves (not a shape, a dtype, the device)."""
    return tuple(literal for literal in condition if _is_plain(literal.test, 0) and _inputs(literal.test))


def _is_plain(value: Value, depth: int) -> bool:
    if depth > 12:
        return False
    if isinstance(value, Choice):
        return all(
            _is_plain(inner, depth + 1) and all(_is_plain(literal.test, depth + 1) for literal in path)
            for path, inner in value.alternatives
        )
    if isinstance(value, Items):
        return all(_is_plain(item, depth + 1) for item in value.items)
    if isinstance(value, Term):
        if value.op in _TRANSPARENT or (value.op == "call" and value.name in ("bool", "int")):
            return all(_is_plain(arg, depth + 1) for arg in value.args)
        return value.op == "input"
    return isinstance(value, Known)


def _inputs(value: Value) -> dict[str, None]:
    """Names of the parameters in a plain value."""
    found: dict[str, None] = {}
    if isinstance(value, Choice):
        for path, inner in value.alternatives:
            found.update(_inputs(inner))
            for literal in path:
                found.update(_inputs(literal.test))
    elif isinstance(value, Items):
        for item in value.items:
            found.update(_inputs(item))
    elif isinstance(value, Term):
        if value.op == "input":
            found[value.name] = None
        for arg in value.args:
            found.update(_inputs(arg))
    return found


def agreement(first: Condition, second: Condition) -> int:
    """How well two plain paths go together: 2 for some flags both are surely taken, 1 both may be, 0 no call takes both."""
    ours, theirs = _names(first), _names(second)
    shared = [name for name in ours if name in theirs]
    if not shared:
        return 1
    names = (shared + [name for name in (*ours, *theirs) if name not in shared])[:_MAX_FLAGS]
    best = 0
    for values in product(_VALUES, repeat=len(names)):
        known = {name: Known(value) for name, value in zip(names, values, strict=True)}
        folder = Folder(lambda term, known=known: known.get(term.name) if term.op == "input" else None)
        mine = folder.holds(first)
        if mine is False:
            continue
        other = folder.holds(second)
        if other is not False:
            best = max(best, 2 if mine and other else 1)
            if best == 2:
                break
    return best


def _names(condition: Condition) -> dict[str, None]:
    return {name: None for literal in condition for name in _inputs(literal.test)}
