"""What an execution did, in order: device work, launches, waits; each with the calls of the linted tree that led to it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, NamedTuple

from cutile_lint.sources import BOM


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a file of the tree that is executed: bytes ``[start, end)``."""

    path: str
    start: int
    end: int

    def covers(self, other: Site) -> bool:
        return self.path == other.path and self.start <= other.start and other.end <= self.end

    def meets(self, other: Site) -> bool:
        return self.covers(other) or other.covers(self)


class Trial(NamedTuple):
    """One call of ``kernel_fn``: which call of the tuner, which config, how often it ran before (-1: the run that gives the output)."""

    tuning: int
    config: int
    repetition: int


@dataclass(slots=True)
class Event:
    """``kind``: alloc, fill, copy, compute, sync, launch, or noop (a copying function that returned its argument).

    ``api`` is what the source called, ``name`` what ran; ``storages`` are those of the tensors it was given, ``made`` those of its results.
    """

    kind: str
    name: str
    api: str
    sites: tuple[Site, ...]
    trial: Trial | None
    storages: tuple[int, ...] = ()
    made: tuple[int, ...] = ()
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def site(self) -> Site | None:
        """The innermost place in the tree."""
        return self.sites[-1] if self.sites else None


class Positions:
    """The byte span of the expression that a frame is in the middle of."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/") + "/"
        self._starts: dict[str, list[int]] = {}
        self._found: dict[tuple[CodeType, int], Site | None] = {}

    def chain(self, frame: FrameType | None) -> tuple[Site, ...]:
        """The calls of the tree that are going on, outermost first."""
        found = []
        while frame is not None:
            code = frame.f_code
            if code.co_filename.startswith(self.root):
                site = self._site(code, frame.f_lasti)
                if site is not None:
                    found.append(site)
            frame = frame.f_back
        return tuple(reversed(found))

    def of_traceback(self, error: BaseException) -> tuple[Site, ...]:
        """The same for the way to an error."""
        found, step = [], error.__traceback__
        while step is not None:
            code = step.tb_frame.f_code
            if code.co_filename.startswith(self.root) and (site := self._site(code, step.tb_lasti)) is not None:
                found.append(site)
            step = step.tb_next
        return tuple(found)

    def _site(self, code: CodeType, instruction: int) -> Site | None:
        key = (code, instruction)
        if key not in self._found:
            row, end_row, column, end_column = list(code.co_positions())[instruction // 2]
            if row is None or end_row is None or column is None or end_column is None:
                self._found[key] = None
            else:
                starts = self._lines(code.co_filename)
                span = starts[row - 1] + column, starts[end_row - 1] + end_column
                self._found[key] = Site(code.co_filename.removeprefix(self.root), *span)
        return self._found[key]

    def _lines(self, path: str) -> list[int]:
        if path not in self._starts:
            with open(path, "rb") as file:
                data = file.read()
            starts = [0]
            for line in data.splitlines(keepends=True):
                starts.append(starts[-1] + len(line))
            starts[0] = len(BOM) if data.startswith(BOM) else 0
            self._starts[path] = starts
        return self._starts[path]


class Recording:
    """Where events go while an op is called."""

    def __init__(self, positions: Positions, trial: Callable[[], Trial | None] = lambda: None) -> None:
        self.events: list[Event] = []
        self._trial = trial
        self._positions = positions

    def add(self, kind: str, name: str, api: str, storages: Sequence[int] = (), made: Sequence[int] = (), **detail: Any) -> Event:
        event = Event(
            kind, name, api, self._positions.chain(sys._getframe(1)), self._trial(), tuple(storages), tuple(made), detail
        )
        self.events.append(event)
        return event
