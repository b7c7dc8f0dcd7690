"""How far a check is, across its processes: a counter in shared memory, and who is told of it.

Nobody is told unless :func:`watched` is entered; then :func:`step` costs a few bytes written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: one count for each process, found by its id
_SLOTS, _WIDTH = 256, 4

#: (ops done, ops there are)
Tell = Callable[[int, int], None]


class Progress:
    """Counts of ops done."""

    def __init__(self, tell: Tell) -> None:
        from mmap import mmap

        self._memory = mmap(-1, _SLOTS * _WIDTH)
        self._tell = tell
        self._owner = os.getpid()
        self.total = 0

    def step(self) -> None:
        at = os.getpid() % _SLOTS * _WIDTH
        count = int.from_bytes(self._memory[at : at + _WIDTH], "little") + 1
        self._memory[at : at + _WIDTH] = count.to_bytes(_WIDTH, "little")
        self.tell()

    def tell(self) -> None:
        if os.getpid() == self._owner:
            data = self._memory[:]
            done = sum(int.from_bytes(data[at : at + _WIDTH], "little") for at in range(0, len(data), _WIDTH))
            self._tell(min(done, self.total), self.total)


current: Progress | None = None


@contextmanager
def watched(tell: Tell) -> Iterator[None]:
    """Have ``tell`` called as the checks made inside go on."""
    global current
    current = Progress(tell)
    try:
        yield
    finally:
        current = None


def started(total: int) -> None:
    """So many more ops are to be checked."""
    if current is not None:
        current.total += total


def step() -> None:
    """One more is done (in whichever process)."""
    if current is not None:
        current.step()
