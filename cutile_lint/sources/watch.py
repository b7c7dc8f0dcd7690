"""What an analysis looks at in the files that are open in an editor, noted while its server wants to know.

A result that did not look at what was changed stays good. Without a watch (every other run) nothing is noted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Watch:
    """Notes of one analysis."""

    __slots__ = ("answers", "common", "known", "looked", "read_again", "spans", "whole")

    def __init__(self) -> None:
        #: functions whose body was read, modules that were walked
        self.looked: set[object] = set()
        #: of an analysis beside others: the notes in common
        self.common: Watch | None = None
        #: what is noted elsewhere already, and which of it was read here once more
        self.known: Set[object] = frozenset()
        self.read_again: set[object] = set()
        #: parts of texts that were read, by file
        self.spans: dict[Path, set[tuple[int, int]]] = {}
        #: texts that were read in a way that nothing is known of
        self.whole: set[Path] = set()
        #: questions about a whole text (with what else is in them) and their answers, by file
        self.answers: dict[Path, dict[tuple[Callable[..., Any], tuple[Hashable, ...]], Any]] = {}

    def look(self, what: object) -> None:
        (self.read_again if what in self.known else self.looked).add(what)

    def read(self, path: Path, start: int, end: int) -> None:
        spans = self.spans if self.common is None or path.suffix == ".py" else self.common.spans  # ops share their crate
        spans.setdefault(path, set()).add((start, end))

    def apart(self) -> Watch:
        """A watch with functions of its own and all else in common."""
        made = Watch()
        made.spans, made.whole, made.answers = self.spans, self.whole, self.answers
        return made

    def beside(self, known: Set[object]) -> Watch:
        """A watch with all in common but for parts of Python texts and what is ``known``, which it notes for itself."""
        made = self.apart()
        made.common, made.looked, made.known, made.spans = self, self.looked, known, {}
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


def know_nothing() -> None:
    """From here on, the analysis notes everything in common: what it finds may be kept where others find it."""
    watch = state.watch
    if watch is not None and watch.common is not None:
        watch.known, watch.spans = frozenset(), watch.common.spans


@contextmanager
def for_all() -> Iterator[None]:
    """Note everything in common: others will use what is found here, who may not know what this analysis knows."""
    with watching(state.watch.common or state.watch if state.watch is not None else None):
        yield


def looked(what: object) -> None:
    if state.watch is not None:
        state.watch.look(what)
