"""Can two paths be taken by the same call? Answered by trying the flags (``static_persistent``) that their conditions test."""

from __future__ import annotations

from itertools import product

from cutile_lint.unit.fold import Folder
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Term, Value

#: flags tried together; more are left open
_MAX_FLAGS = 3
_VALUES = (True, False, None)
_TRANSPARENT = frozenset(["not", "and", "or", "compare", "binary", "unary"])


def flags_of(condition: Condition) -> dict[str, Term]:
    """Parameters of the op whose own value (not their shape or dtype) the condition tests, by name."""
    found: dict[str, Term] = {}
    for literal in condition:
        _collect(literal.test, found)
    return found


def _collect(value: Value, found: dict[str, Term]) -> None:
    if isinstance(value, Choice):
        for path, inner in value.alternatives:
            found.update(flags_of(path))
            _collect(inner, found)
    elif isinstance(value, Items):
        for item in value.items:
            _collect(item, found)
    elif isinstance(value, Term):
        if value.op == "input":
            found.setdefault(value.name, value)
        elif value.op in _TRANSPARENT or (value.op == "call" and value.name in ("bool", "int")):
            for arg in value.args:
                _collect(arg, found)


def agreement(first: Condition, second: Condition) -> int:
    """How well two paths go together: 2 for some flags both are surely taken, 1 both may be, 0 no call takes both."""
    flags = flags_of(first)
    shared = [name for name in flags_of(second) if name in flags]
    names = (shared + [name for name in (*flags, *flags_of(second)) if name not in shared])[:_MAX_FLAGS]
    best = 0
    for values in product(_VALUES, repeat=len(names)):
        known = dict(zip(names, values, strict=True))
        folder = Folder(lambda term, known=known: Known(known[term.name]) if term.op == "input" and term.name in known else None)
        answers = [_relevant(folder, path) for path in (first, second)]
        if False not in answers:
            best = max(best, 2 if None not in answers else 1)
    return best


def _relevant(folder: Folder, path: Condition) -> bool | None:
    """Whether the path is taken as far as flags decide it: literals without a flag are taken to hold."""
    return folder.holds(tuple(literal for literal in path if flags_of((literal,))))
