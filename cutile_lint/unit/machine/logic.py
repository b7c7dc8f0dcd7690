"""Three-valued logic (Kleene's strong one): True, False, and None for what is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def negated(answer: bool | None) -> bool | None:
    """What holds when ``answer`` does not."""
    return None if answer is None else not answer


def joined(decisive: bool, parts: Iterable[Any], question: Callable[..., bool | None], *more: object) -> bool | None:
    """The disjunction (``decisive`` True) or conjunction (False) of ``question(part, *more)``: the first decisive answer ends it."""
    answer: bool | None = not decisive
    for part in parts:
        one = question(part, *more)
        if one is decisive:
            return decisive
        if one is None:
            answer = None
    return answer
