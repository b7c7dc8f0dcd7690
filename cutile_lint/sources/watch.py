"""What an analysis looks at in the files that are open in an editor, noted while its server wants to know.

A result that did not look at what was changed stays good. Without a watch (every other run) nothing is noted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Watch:
    """Notes of one analysis."""

    __slots__ = ("answers", "looked", "spans", "whole")

    def __init__(self) -> None:
        #: functions whose body was read, modules that were walked
        self.looked: set[object] = set()
        #: parts of texts that were read, by file
        self.spans: dict[Path, set[tuple[int, int]]] = {}
        #: texts that were read in a way that nothing is known of
        self.whole: set[Path] = set()
        #: questions about a whole text (with what else is in them) and their answers, by file
        self.answers: dict[Path, dict[tuple[Callable[..., Any], tuple[Hashable, ...]], Any]] = {}

    def read(self, path: Path, start: int, end: int) -> None:
        self.spans.setdefault(path, set()).add((start, end))

    def apart(self) -> Watch:
        """A watch with functions of its own and all else in common."""
        made = Watch()
        made.spans, made.whole, made.answers = self.spans, self.whole, self.answers
        return made


class _State(threading.local):
    watch: Watch | None = None


state = _State()


@contextmanager
def watching(watch: Watch | None) -> Iterator[Watch | None]:
    """Note what this thread looks at; with None nothing is."""
    before, state.watch = state.watch, watch
    try:
        yield watch
    finally:
        state.watch = before


@contextmanager
def apart() -> Iterator[Watch | None]:
    """Note functions for themselves, where anything is noted."""
    with watching(state.watch.apart() if state.watch is not None else None) as watch:
        yield watch


def looked(what: object) -> None:
    if state.watch is not None:
        state.watch.looked.add(what)
