"""Ranges of a text, as blocks and the reach of names are: the innermost one around a place is found without going over all of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class Nested(Generic[T]):
    """Made of (start, end, what lies there); of those that begin together the shortest is the innermost, then the first given."""

    __slots__ = ("_ends", "_items", "_outer", "_starts")

    def __init__(self, ranges: Iterable[tuple[int, int, T]]) -> None:
        listed = list(ranges)[::-1]
        listed.sort(key=lambda one: (one[0], -one[1]))
        self._starts = [start for start, _, _ in listed]
        self._ends = [end for _, end, _ in listed]
        self._items = [item for _, _, item in listed]
        #: for each the last one before it that ends later; -1: none
        self._outer: list[int] = []
        pending: list[int] = []
        for number, end in enumerate(self._ends):
            while pending and self._ends[pending[-1]] <= end:
                pending.pop()
            self._outer.append(pending[-1] if pending else -1)
            pending.append(number)

    def around(self, start: int, end: int) -> T | None:
        """What begins last among all that covers ``start`` to ``end``."""
        here = bisect_right(self._starts, start) - 1
        while here >= 0 and self._ends[here] < end:
            here = self._outer[here]
        return self._items[here] if here >= 0 else None
