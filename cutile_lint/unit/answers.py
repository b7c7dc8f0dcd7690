"""Answers to questions about something that does not change any more: each is found once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

A = TypeVar("A")


class Answers:
    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def once(self, question: Hashable, answer: Callable[[], A]) -> A:
        """The answer to the question, which says all that ``answer`` depends on."""
        if question not in self._known:
            self._known[question] = answer()
        return self._known[question]  # type: ignore[no-any-return]

    def forget(self) -> None:
        """Let go of all of them."""
        self._known.clear()
