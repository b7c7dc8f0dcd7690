"""Byte offsets of a source and the positions of the protocol, in the negotiated encoding.

A position counts lines from 0, ended by LF, CRLF or a lone CR as everywhere in cutile-lint, and columns in code units of UTF-8,
UTF-16 or UTF-32. A byte order mark counts where the client sent it with the text, and not for files that are read from disk:
editors hide it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from lsprotocol.types import Position, Range

from cutile_lint.sources import BOM, Place, Source, Span
from cutile_lint.sources.texts import unchanged


class Encoding:
    """Conversions in one encoding: ``utf-8``, ``utf-16`` or ``utf-32``."""

    def __init__(self, name: str = "utf-16") -> None:
        self.name = name

    def position(self, source: Source, offset: int, shows_bom: bool = False) -> Position:
        """The position of a byte offset."""
        offset = max(0, min(offset, len(source.data)))
        row = bisect_right(source.line_starts, offset) - 1
        start = _start(source, row, shows_bom)
        return Position(row, self.units(source.data[start:offset]) if offset > start else 0)

    def range(self, source: Source, span: Span, shows_bom: bool = False) -> Range:
        """The range of a span of bytes."""
        return Range(self.position(source, span.start, shows_bom), self.position(source, span.end, shows_bom))

    def offset(self, source: Source, position: Position, shows_bom: bool = False) -> int:
        """The byte offset of a position; one behind the end of its line means that end, one behind the text the text's."""
        row = max(0, position.line)
        if row >= len(source.line_starts):
            return len(source.data)
        start = _start(source, row, shows_bom)
        end = source.line_starts[row + 1] if row + 1 < len(source.line_starts) else len(source.data)
        line = source.data[start:end].rstrip(b"\r\n")
        return start + self._bytes(line, max(0, position.character))

    def span(self, source: Source, range_: Range, shows_bom: bool = False) -> Span:
        """The span of a range; its end is never before its start."""
        start = self.offset(source, range_.start, shows_bom)
        return Span(start, max(start, self.offset(source, range_.end, shows_bom)))

    def units(self, data: bytes) -> int:
        """Length of a piece of UTF-8 in code units of the encoding."""
        if self.name == "utf-8" or data.isascii():
            return len(data)
        text = data.decode("utf-8", "replace")
        return len(text) if self.name == "utf-32" else len(text.encode("utf-16-le", "replace")) // 2

    def _bytes(self, line: bytes, units: int) -> int:
        """Bytes of the first ``units`` code units of a line; a position within a character means its start."""
        if units >= len(line) or line.isascii():
            return min(units, len(line))
        if self.name == "utf-8":
            while units and line[units] & 0xC0 == 0x80:
                units -= 1
            return units
        text = line.decode("utf-8", "replace")
        if self.name == "utf-32":
            return len(text[:units].encode())
        return len(text.encode("utf-16-le")[: units * 2].decode("utf-16-le", "ignore").encode())


def _start(source: Source, row: int, shows_bom: bool) -> int:
    """Offset of a row's first character."""
    return len(BOM) if row == 0 and not shows_bom and source.data.startswith(BOM) else source.line_starts[row]


#: lines of a changed stretch beyond which it is one change; bytes of lines that are the same ones when they are equal
_MOST_LINES, _LEAST = 2_000, 20


class Moved:
    """Places of an older text in a newer one, as far as they lie outside of what has changed between the two."""

    def __init__(self, old: bytes, new: bytes) -> None:
        self.old, self.new = old, new
        #: what both texts have: its start and end in the old one, and how much further on it is now
        self._pieces = list(_pieces(old, new))

    def span(self, span: Span) -> Span | None:
        """Where the span is now; one that encloses a change grows with it; None when a change cuts into it."""
        start = self._offset(span.start, before=span.start == span.end)
        end = self._offset(span.end, before=True)
        if start is None or end is None or end < start:
            return None
        return Span(start, end)

    def _offset(self, offset: int, before: bool) -> int | None:
        for start, end, shift in self._pieces:
            if start <= offset < end or (offset == end and (before or end == len(self.old))):
                return offset + shift
        return None

    def place(self, place: Place, source: Source) -> Place | None:
        """The place in ``source``, which has the newer text."""
        span = self.span(place.span)
        return Place(source, span) if span is not None else None


def _pieces(old: bytes, new: bytes) -> Iterator[tuple[int, int, int]]:
    head, tail = unchanged(old, new)
    yield 0, head, 0
    before, after = (text[head : len(text) - tail].splitlines(keepends=True) for text in (old, new))
    if 1 < len(before) <= _MOST_LINES and 1 < len(after) <= _MOST_LINES:  # there may be several changes
        from difflib import SequenceMatcher

        starts, starts_now = ([*accumulate(map(len, lines), initial=head)] for lines in (before, after))
        for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
            start, end = starts[block.a], starts[block.a + block.size]
            if len(b"".join(old[start:end].split())) >= _LEAST:
                yield start, end, starts_now[block.b] - start
    yield len(old) - tail, len(old), len(new) - len(old)
