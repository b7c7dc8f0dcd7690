"""Suppression comments: ``# cutile-lint: ignore[CTL101] reason``, ``// cutile-lint: ignore-file[CTL101]``.

A comment behind code covers findings on its row, and those whose statement begins or ends there. A comment of its own
covers the next line of code in the same way, as far as statements begin there. ``ignore-file`` stands in the head of a file.
Codes and names must be exact: a prefix or a typo silences nothing, and is kept as a :class:`Mistake`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Finding
from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source, Span

if TYPE_CHECKING:
    from cutile_lint.frontends.syntax import Comment

MARK = b"cutile-lint:"

#: at the start of a comment, or behind another marker in it (``# type: ignore  # cutile-lint: ignore[CTL101]``)
_DIRECTIVE = regex(r"(?:#|//[/!]?|/\*+)[ \t]*cutile-lint:[ \t]*(?P<word>[\w-]*)[ \t]*(?:\[(?P<codes>[^\]\n]*)(?P<close>\])?)?")
_WORDS = ("ignore", "ignore-file")


@dataclass(slots=True)
class Suppression:
    """One directive. ``row`` is the row that it covers; 0: the whole file. ``used`` holds the codes that silenced something."""

    place: Place
    codes: tuple[str, ...]
    row: int
    #: the comment stands on a line of its own, before what it covers
    before: bool
    #: the whole comment that it stands in
    comment: Span
    #: the codes as they are written, which may be names
    written: tuple[str, ...]
    #: what else stands between the brackets: no rule's code or name
    unknown: tuple[str, ...] = ()
    reason: str = ""
    used: set[str] = field(default_factory=set)

    def covers(self, finding: Finding) -> bool:
        """Whether the finding is in a row that this one is for (the codes aside)."""
        if self.row == 0 or finding.place.start[0] == self.row:
            return True
        if finding.statement is None:
            return False
        if finding.statement.start[0] == self.row:
            return True
        return not self.before and last_row(finding.statement) == self.row


@dataclass(frozen=True, slots=True)
class Mistake:
    """A directive, or a code in one, that silences nothing because of how it is written."""

    place: Place
    message: str
    help: str = ""


@dataclass(slots=True)
class Suppressions:
    """The directives of one file."""

    source: Source
    items: list[Suppression] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)

    def silences(self, finding: Finding) -> bool:
        """Whether a directive covers the finding; every one that does is marked as used."""
        found = False
        for item in self.items:
            if finding.code in item.codes and item.covers(finding):
                item.used.add(finding.code)
                found = True
        return found


#: the code for a code or name as written in a directive; None if there is no such rule
Resolve = Callable[[str], "str | None"]


def read_suppressions(source: Source, resolve: Resolve) -> Suppressions:
    """The directives of a Python or Rust file; other files, and files without the mark, have none."""
    result = Suppressions(source)
    if MARK not in source.raw:  # an editor looks for it by itself
        return result
    comments = _comments(source)
    if not comments:
        return result
    below = _rows_below({source.position(comment.span.start)[0] for comment in comments if _stands_alone(source, comment)})
    head = _head_end(source, comments)
    for comment in comments:
        for match in _DIRECTIVE.finditer(comment.text):
            _read_directive(result, comment, match, below, head, resolve)
    return result


def _rows_below(rows: set[int]) -> dict[int, int]:
    """For each row of comments alone the first below it that is none."""
    below: dict[int, int] = {}
    for row in sorted(rows, reverse=True):
        below[row] = below.get(row + 1, row + 1)
    return below


def _comments(source: Source) -> list[Comment]:
    if source.is_python:
        from cutile_lint.frontends import python

        return list(python.comments(source))
    if source.is_rust:
        from cutile_lint.frontends import rust

        return list(rust.comments(source))
    return []


def _read_directive(
    result: Suppressions, comment: Comment, match: re.Match[str], below: dict[int, int], head: int, resolve: Resolve
) -> None:
    source = result.source
    place = _inner_place(source, comment, match.start(), match.end())

    def mistake(message: str, where: Place = place, help: str = "") -> None:
        result.mistakes.append(Mistake(where, message, help))

    word, codes = match["word"], match["codes"]
    if word not in _WORDS:
        return mistake(f"`{word}` is no directive; `ignore[…]` or `ignore-file[…]` is expected")
    if codes is None or not match["close"] or not codes.strip():
        return mistake(f"`{word}` names no code; write `{word}[CTL101]`")
    known: list[str] = []
    written: list[str] = []
    unknown: list[str] = []
    for text, start, end in _items(codes, match.start("codes")):
        code = resolve(text)
        if code is None:
            where = _inner_place(source, comment, start, end)
            mistake(f"`{text}` is no rule's code or name, so it silences nothing", where, "`cutile-lint rule --all` lists them")
            unknown.append(text)
        else:
            known.append(code)
            written.append(text)
    row = source.position(comment.span.start)[0]
    before = row in below
    if word == "ignore-file":
        if comment.span.start >= head:
            return mistake("`ignore-file` must stand in the head of the file, before its first statement")
        row = 0
    elif before:
        row = below[row]
    if known:
        reason = comment.text[match.end() :].removesuffix("*/").strip(" \t:–—-")
        item = Suppression(place, tuple(known), row, before, comment.span, tuple(written), tuple(unknown), reason)
        result.items.append(item)


def _items(codes: str, offset: int) -> Iterator[tuple[str, int, int]]:
    """The comma-separated items with their bounds in the comment's text; empty ones are passed over."""
    for match in re.finditer(r"[^,]+", codes):
        text = match[0].strip()
        if text:
            start = offset + match.start() + len(match[0]) - len(match[0].lstrip())
            yield text, start, start + len(text)


def _inner_place(source: Source, comment: Comment, start: int, end: int) -> Place:
    """A part of a comment, given in code points of its text, as a place."""
    first = comment.span.start + len(comment.text[:start].encode())
    return Place(source, Span(first, first + len(comment.text[start:end].encode())))


def _stands_alone(source: Source, comment: Comment) -> bool:
    row = source.position(comment.span.start)[0]
    before = source.data[source.line_starts[row - 1] : comment.span.start].decode("utf-8", "replace")
    if before.strip().lstrip("\ufeff"):
        return False
    end_row = last_row(Place(source, comment.span))
    end = source.line_starts[end_row] if end_row < len(source.line_starts) else len(source.data)
    return not source.data[comment.span.end : end].strip()


def last_row(place: Place) -> int:
    """The row of the last character of a place."""
    end = max(place.span.start, place.span.end - 1)
    return place.source.position(end)[0]


#: what may stand in a file's head besides comments: a docstring, inner attributes of a crate
_HEAD_ITEMS = regex(rb'[rRuU]?"""(?:[^\\]|\\.)*?"""|[rRuU]?\'\'\'(?:[^\\]|\\.)*?\'\'\'|#!\[[^\]]*\]', re.DOTALL)


def _head_end(source: Source, comments: Iterable[Comment]) -> int:
    """Offset of the file's first statement: what comes before is comments, blank lines and a docstring."""
    spans = sorted((comment.span.start, comment.span.end) for comment in comments)
    position = 3 if source.data.startswith(b"\xef\xbb\xbf") else 0
    size = len(source.data)
    index = 0
    while position < size:
        while index < len(spans) and spans[index][1] <= position:
            index += 1
        if index < len(spans) and spans[index][0] == position:
            position = spans[index][1]
        elif source.data[position : position + 1].isspace():
            position += 1
        else:
            item = _HEAD_ITEMS.match(source.data, position)
            if item is None:
                return position
            position = item.end()
    return size
