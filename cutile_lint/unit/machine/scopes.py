"""Scopes of names, and the journal that lets two branches start from the same state."""

from __future__ import annotations

from cutile_lint.sources import Source
from cutile_lint.unit.machine.values import Value


class Scope:
    """Names of a module, function or block, inside an outer scope."""

    __slots__ = ("function", "globals", "names", "nonlocals", "outer", "source", "transparent")

    def __init__(self, source: Source, outer: Scope | None = None, function: str = "", transparent: bool = False) -> None:
        self.source = source
        self.outer = outer
        self.names: dict[str, Value] = {}
        self.function = function
        #: names that a ``global`` / ``nonlocal`` statement sends outward
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        #: a block: assignments go to the scope that declared the name, not here
        self.transparent = transparent

    def find(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope
            scope = scope.outer
        return None

    def lookup(self, name: str) -> Value | None:
        scope = self.find(name)
        return None if scope is None else scope.names[name]

    @property
    def module(self) -> Scope:
        scope = self
        while scope.outer is not None:
            scope = scope.outer
        return scope


_ABSENT = object()


class Journal:
    """Writes to dicts of names and fields, so that they can be undone and joined."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: list[tuple[dict, object, object]] = []

    def write(self, target: dict, name: object, value: Value) -> None:
        self.entries.append((target, name, target.get(name, _ABSENT)))
        target[name] = value

    def remove(self, target: dict, name: object) -> None:
        if name in target:
            self.entries.append((target, name, target[name]))
            del target[name]

    def mark(self) -> int:
        return len(self.entries)

    def undo(self, mark: int) -> dict[tuple[int, object], tuple[dict, object, object]]:
        """Take back all writes since ``mark``; returns what they had left, by (dict, name)."""
        after: dict[tuple[int, object], tuple[dict, object, object]] = {}
        for target, name, _ in self.entries[mark:]:
            after[(id(target), name)] = (target, name, target.get(name, _ABSENT))
        for target, name, before in reversed(self.entries[mark:]):
            if before is _ABSENT:
                target.pop(name, None)
            else:
                target[name] = before
        del self.entries[mark:]
        return after


def absent(value: object) -> bool:
    return value is _ABSENT
