"""Columns of text: cells that fit a width, rows of several lines."""

from __future__ import annotations

from collections.abc import Sequence

from cutile_lint.reports.text import clean, width


def fit(text: str, columns: int) -> str:
    """The text in at most ``columns``; what is too long loses its middle, so that name and end stay."""
    text = clean(text)
    if width(text) <= columns:
        return text
    if columns < 4:
        return text[: max(columns, 0)]
    head = (columns - 1) * 2 // 3
    tail = columns - 1 - head
    start, end = text[:head], text[len(text) - tail :]
    while width(start) > head:
        start = start[:-1]
    while width(end) > tail:
        end = end[1:]
    return f"{start}…{end}"


def fit_path(text: str, columns: int) -> str:
    """A path or ``path:row`` in at most ``columns``; what is too long loses its beginning."""
    text = clean(text)
    while width(text) > columns and "/" in text.removeprefix("…/"):
        text = "…/" + text.removeprefix("…/").split("/", 1)[1]
    return fit(text, columns)


def pad(text: str, columns: int) -> str:
    return text + " " * max(columns - width(text), 0)


def row(cells: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """The lines of a row whose cells have several lines; two blanks between columns, none at the end."""
    height = max((len(cell) for cell in cells), default=0)
    lines = []
    for at in range(height):
        parts = [pad(fit(cell[at], size) if at < len(cell) else "", size) for cell, size in zip(cells, widths, strict=True)]
        lines.append("  ".join(parts).rstrip())
    return lines
