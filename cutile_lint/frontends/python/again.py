"""Reading a file again after a change of it: what stands in front of the change and behind it is taken from the earlier tree."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Callable

from cutile_lint.frontends import syntax
from cutile_lint.frontends.moved import moved
from cutile_lint.sources import Source
from cutile_lint.sources.lines import line_start
from cutile_lint.sources.texts import unchanged

#: builds the statements of a part of the text, which begins with the line of this number (from 0)
Build = Callable[[ast.Module, int], list[syntax.Stmt]]


def read_again(source: Source, before: syntax.Module, build: Build) -> list[syntax.Stmt] | None:
    """The statements of a file, of which only those are parsed that a change touches; None where it has to be read as a whole.

    Top-level statements say the same wherever they stand: a text is cut at the beginning of a line that such a statement
    begins with. Raises what ``build`` raises.
    """
    known, old, new = before.body, before.source, source
    if before.faults or before.refused or not known:
        return None
    start, tail = unchanged(old.raw, new.raw)
    end = len(old.raw) - tail
    first, last = _touched(known, old, start, end)
    cut = _line_of(known[first], old) if first else line_start(old, 0)
    stop = _line_of(known[last], old) if last < len(known) else len(old.raw)
    shift = len(new.raw) - len(old.raw)
    row = bisect_right(new.line_starts, cut) - 1
    part = new.raw[cut : stop + shift]
    if line_start(new, cut) != cut or start < cut or part.rstrip(b"\r\n").endswith(b"\\"):
        return None
    try:
        tree = ast.parse(part.decode("utf-8"))
    except (SyntaxError, ValueError):
        return None  # the parser says more about an error when it sees what follows
    built = build(tree, row)
    return [*known[:first], *built, *(moved(one, shift) for one in known[last:])]


def _touched(known: list[syntax.Stmt], source: Source, start: int, end: int) -> tuple[int, int]:
    """Numbers ``[first, last)`` of the statements that a change may concern; both neighbours begin lines outside of it."""
    starts = [_line_of(statement, source) for statement in known]
    first = max(bisect_right(starts, start) - 1, 0)  # the last one that begins in front of it may go on
    while first and starts[first] <= known[first - 1].span.end:
        first -= 1
    last = first + 1
    while last < len(known) and starts[last] <= max(end, known[last - 1].span.end):
        last += 1
    return first, last


def _line_of(statement: syntax.Stmt, source: Source) -> int:
    return line_start(source, statement.span.start)
