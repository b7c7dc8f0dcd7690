"""Source lines with line numbers and carets, for people."""

from __future__ import annotations

from cutile_lint.findings import Level
from cutile_lint.reports.text import cells
from cutile_lint.reports.view import View
from cutile_lint.sources import Place

#: code points of a line that are looked at on each side of a place: a line may have megabytes
_REACH = 400
_MORE = "…"


def snippet(place: Place, view: View, level: Level | None, gutter: int, indent: str = "") -> list[str]:
    """The place's line and the carets below it; of a place over several lines the first and the last.

    ``gutter`` is the width of the line number column. ``level`` gives the carets their colour.
    """
    (row, column), (end_row, end_column) = place.start, place.end
    if end_row > row and end_column == 1:  # ends with the line break: the last line has no part in it
        end_row, end_column = end_row - 1, len(place.source.line(end_row - 1)) + 1
    room = max(20, view.width - gutter - 3 - len(indent))

    def numbered(number: int, start: int, end: int) -> list[str]:
        line, carets = _window(place.source.line(number), start, end, room)
        number_column = view.style("dim", f"{number:>{gutter}} |")
        blank_column = view.style("dim", f"{'':>{gutter}} |")
        marks = view.level(level, carets.lstrip()) if level else view.style("bold", carets.lstrip())
        return [
            f"{indent}{number_column} {line}".rstrip(),
            f"{indent}{blank_column} {carets[: len(carets) - len(carets.lstrip())]}{marks}",
        ]

    if end_row == row:
        return numbered(row, column, end_column)
    first_end = len(place.source.line(row)) + 1
    last = place.source.line(end_row)
    last_start = min(len(last) - len(last.lstrip()) + 1, max(1, end_column - 1))
    lines = numbered(row, column, first_end)
    if end_row > row + 1:
        lines.append(f"{indent}{view.style('dim', '.' * max(3, gutter))}")
    return lines + numbered(end_row, last_start, end_column)


def _window(line: str, start: int, end: int, room: int) -> tuple[str, str]:
    """A line cut to ``room`` columns around code points ``start``..``end`` (from 1, end exclusive), and its carets."""
    first = max(0, start - 1 - _REACH)
    more_before = first > 0
    more_after = len(line) > start + _REACH + room
    shown = cells(line[first : start + _REACH + room])
    begin, stop = start - 1 - first, max(end - 1 - first, start - first)
    total = sum(width for _, width in shown)
    left, right = 0, len(shown)
    if total > room or more_before or more_after:
        left, right = _cut(shown, begin, min(stop, len(shown)), room - 2)
        more_before, more_after = more_before or left > 0, more_after or right < len(shown)
    text = "".join(part for part, _ in shown[left:right])
    offset = sum(width for _, width in shown[left : max(left, begin)]) + more_before
    length = sum(width for _, width in shown[max(left, begin) : min(stop, right)])
    head, tail = (_MORE if more_before else ""), (_MORE if more_after else "")
    return head + text + tail, " " * offset + "^" * max(1, length)


def _cut(shown: list[tuple[str, int]], begin: int, stop: int, room: int) -> tuple[int, int]:
    """The part of the line to show: from its left if the place ends in there, else the place with some text before it."""
    if sum(width for _, width in shown[:stop]) <= room:
        left = 0
    else:
        marked = sum(width for _, width in shown[begin:stop])
        before = max(room // 4, min(room // 2, room - marked - room // 4))
        left = begin
        while left > 0 and before >= shown[left - 1][1]:
            left -= 1
            before -= shown[left][1]
    right, used = left, 0
    while right < len(shown) and used + shown[right][1] <= room:
        used += shown[right][1]
        right += 1
    return left, right
