"""A progress bar on a terminal: it comes after a second, and leaves no trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO

#: seconds before it is shown, and between two looks
PATIENCE, BEAT = 1.0, 0.1
_WIDTH = 30


class Bar:
    """Draws on one line of ``stream``."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = monotonic() + PATIENCE
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        now = monotonic()
        if now < self._next or not total:
            return
        self._next = now + BEAT
        self._shown = True
        filled = _WIDTH * done // total
        self._stream.write(f"\r\x1b[Kchecking [{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{total} ops")
        self._stream.flush()

    def clear(self) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False


@contextmanager
def bar(stream: TextIO) -> Iterator[None]:
    """Show how far the checks made inside are."""
    from cutile_lint.engine.progress import watched

    drawn = Bar(stream)
    try:
        with watched(drawn):
            yield
    finally:
        drawn.clear()
