"""Lines of a text around an offset."""

from __future__ import annotations

from bisect import bisect_right

from cutile_lint.sources.source import BOM, Source


def line_start(source: Source, offset: int) -> int:
    """Offset of the first character of the line around ``offset`` (behind a BOM)."""
    row = bisect_right(source.line_starts, offset) - 1
    start = source.line_starts[row]
    return len(BOM) if not row and source.raw.startswith(BOM) else start


def line_end(source: Source, offset: int) -> int:
    """Offset behind the line around ``offset``, its line ending included."""
    row = bisect_right(source.line_starts, offset)
    return source.line_starts[row] if row < len(source.line_starts) else len(source.raw)
