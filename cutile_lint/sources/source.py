"""A text with its bytes, and places in it.

Offsets inside cutile-lint are **byte offsets** into :attr:`Source.data` (tree-sitter and ``ast`` count bytes).
Rows and columns, for people, count from 1 and in code points; they are made at the edges only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from cutile_lint.records import dataclass
from cutile_lint.sources.watch import state, watching

if TYPE_CHECKING:
    from re import Pattern

T = TypeVar("T")
BOM = b"\xef\xbb\xbf"


class Span(NamedTuple):
    """Half-open byte range ``[start, end)`` of one source. (A tuple: hundreds are made per file.)"""

    start: int
    end: int

    def covers(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


class Source:
    """One file's content: ``path`` (absolute), ``data`` (bytes as on disk, BOM and CRLF included).

    Raises :class:`UnicodeDecodeError` on construction when the bytes are not UTF-8.
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data
        self.text = data.decode("utf-8")

    def __repr__(self) -> str:
        return f"Source({str(self.path)!r})"

    def __reduce__(self) -> tuple[type[Source], tuple[Path, bytes]]:
        return Source, (self.path, self.data)

    @property
    def raw(self) -> bytes:
        """The bytes, for who answers himself for what he does with them (:mod:`~cutile_lint.sources.watch`)."""
        return self.data

    def part(self, start: int, end: int) -> bytes:
        return self.data[start:end]

    def tells(self, question: Callable[..., T], *more: Hashable) -> T:
        """``question(data, *more)``: the answer to a question about the bytes as a whole."""
        return question(self.data, *more)

    def has(self, text: bytes) -> bool:
        return self.tells(bytes.__contains__, text)

    def matches(self, pattern: Pattern[bytes]) -> bool:
        """The pattern is found somewhere."""
        return self.tells(_is_found, pattern)

    @cached_property
    def line_starts(self) -> list[int]:
        """Byte offset of each line's first byte; lines end at LF, CRLF or a lone CR, as in Python."""
        starts = [0]
        data = self.raw
        if b"\r" not in data:
            position = data.find(b"\n")
            while position != -1:
                starts.append(position + 1)
                position = data.find(b"\n", position + 1)
            return starts
        for index, byte in enumerate(data):
            if byte == 10 or (byte == 13 and data[index + 1 : index + 2] != b"\n"):
                starts.append(index + 1)
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """(row, column) of a byte offset, both from 1, the column in code points (a BOM counts as none)."""
        row = bisect_right(self.line_starts, offset)
        start = self.line_starts[row - 1]
        if row == 1 and self.data.startswith(BOM):
            start = min(len(BOM), offset)
        return row, len(self.data[start:offset].decode("utf-8", "replace")) + 1

    def offset(self, row: int, column: int) -> int:
        """Byte offset of a (row, column) as :meth:`position` gives them; clamped to the text."""
        if row > len(self.line_starts):
            return len(self.data)
        start = self.line_starts[row - 1]
        if row == 1 and self.data.startswith(BOM):
            start = len(BOM)
        return min(start + len(self.line(row)[: column - 1].encode()), len(self.data))

    def line(self, row: int) -> str:
        """Text of a row (from 1) without its line ending (and without a BOM)."""
        start = self.line_starts[row - 1]
        end = self.line_starts[row] if row < len(self.line_starts) else len(self.data)
        return self.data[start:end].decode("utf-8", "replace").rstrip("\r\n").lstrip("\ufeff")

    def slice(self, span: Span) -> str:
        return self.data[span.start : span.end].decode("utf-8", "replace")

    @property
    def newline(self) -> str:
        """The file's line ending: that of its first line."""
        first = self.data.find(b"\n")
        if first == -1:
            return "\r" if b"\r" in self.data else "\n"
        return "\r\n" if self.data[first - 1 : first] == b"\r" else "\n"

    @property
    def is_python(self) -> bool:
        return self.path.suffix in (".py", ".pyi")

    @property
    def is_rust(self) -> bool:
        return self.path.suffix == ".rs"


class OpenSource(Source):
    """A text in an editor: notes what is looked at."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._raw = data
        super().__init__(path, data)

    @property
    def raw(self) -> bytes:
        return self._raw

    @property
    def data(self) -> bytes:  # type: ignore[override]
        if state.watch is not None:
            state.watch.whole.add(self.path)
        return self._raw

    @data.setter
    def data(self, data: bytes) -> None:
        self._raw = data

    @property
    def text(self) -> str:  # type: ignore[override]
        if state.watch is not None:
            state.watch.whole.add(self.path)
        return self._text

    @text.setter
    def text(self, text: str) -> None:
        self._text = text

    def tells(self, question: Callable[..., T], *more: Hashable) -> T:
        answer = question(self._raw, *more)
        if state.watch is not None:
            state.watch.answers.setdefault(self.path, {})[question, more] = answer
        return answer

    def part(self, start: int, end: int) -> bytes:
        if state.watch is not None:
            state.watch.read(self.path, start, end)
        return self._raw[start:end]

    @property
    def newline(self) -> str:
        self.part(0, self.line_starts[1] if len(self.line_starts) > 1 else len(self._raw))
        with watching(None):
            return Source.newline.fget(self)  # type: ignore[attr-defined, no-any-return]

    def slice(self, span: Span) -> str:
        if state.watch is not None:
            state.watch.read(self.path, *span)
        return self._raw[span.start : span.end].decode("utf-8", "replace")

    def position(self, offset: int) -> tuple[int, int]:
        if state.watch is not None:
            state.watch.whole.add(self.path)
        return super().position(offset)

    def line(self, row: int) -> str:
        if state.watch is not None:
            state.watch.whole.add(self.path)
        return super().line(row)


@dataclass(frozen=True, slots=True)
class Place:
    """A span of one source: what a finding or a related location points at."""

    source: Source
    span: Span

    @property
    def path(self) -> Path:
        return self.source.path

    @property
    def start(self) -> tuple[int, int]:
        """(row, column) of the first character."""
        return self.source.position(self.span.start)

    @property
    def end(self) -> tuple[int, int]:
        """(row, column) behind the last character."""
        return self.source.position(self.span.end)

    @property
    def text(self) -> str:
        return self.source.slice(self.span)

    def covers(self, other: Place) -> bool:
        """The other place is in this one."""
        return self.span.covers(other.span) and self.source.path == other.source.path

    def __str__(self) -> str:
        row, column = self.start
        return f"{self.path}:{row}:{column}"

    def __hash__(self) -> int:
        return hash(self.span)  # few files have the same one: hashing a path costs more

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Place) or self.span != other.span:
            return False
        return self.source is other.source or self.source.path == other.source.path


def _is_found(data: bytes, pattern: Pattern[bytes]) -> bool:
    return pattern.search(data) is not None
