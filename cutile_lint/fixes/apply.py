"""Edits to bytes: which fixes go together in one pass, and the texts that come out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from cutile_lint.findings import Edit, Finding, Fix


class BadEdit(Exception):
    """A fix that no text can take: its edits overlap each other or lie outside their file. The rule is at fault."""


def check_edits(fix: Fix) -> None:
    """Raise :class:`BadEdit` unless the fix's own edits can be applied together."""
    if not fix.edits:
        raise BadEdit("the fix has no edits")
    for edit in fix.edits:
        if not 0 <= edit.start <= edit.end <= len(edit.source.data):
            raise BadEdit("an edit lies outside its file")
    for edits in _by_file(fix.edits).values():
        for before, after in pairwise(edits):
            if after.start < before.end:
                raise BadEdit("two edits of the fix overlap")


def compatible(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, in order, whose fixes touch nothing that an earlier one touches; a conflict waits for the next pass."""
    taken: dict[Path, list[tuple[int, int]]] = {}
    chosen = []
    for finding in findings:
        assert finding.fix is not None
        edits = finding.fix.edits
        if any(_meets(edit, start, end) for edit in edits for start, end in taken.get(edit.path, ())):
            continue
        for edit in edits:
            taken.setdefault(edit.path, []).append((edit.start, edit.end))
        chosen.append(finding)
    return chosen


def _meets(edit: Edit, start: int, end: int) -> bool:
    """Overlap; or an insertion at the other's border, where the order of the two would be a guess."""
    if edit.start == edit.end or start == end:
        return edit.start <= end and start <= edit.end
    return edit.start < end and start < edit.end


def apply(fixes: Iterable[Fix], texts: Mapping[Path, bytes]) -> dict[Path, bytes]:
    """The new bytes of every file that the fixes touch. ``texts`` holds the bytes that the edits refer to."""
    edits = [edit for fix in fixes for edit in fix.edits]
    return {path: _apply(texts[path], ordered) for path, ordered in _by_file(edits).items()}


def _by_file(edits: Iterable[Edit]) -> dict[Path, list[Edit]]:
    """Edits by file, in text order; insertions at one place keep the order they were given in and precede a replacement."""
    files: dict[Path, list[Edit]] = {}
    for edit in edits:
        files.setdefault(edit.path, []).append(edit)
    for found in files.values():
        found.sort(key=lambda edit: (edit.start, edit.end))
    return files


def _apply(data: bytes, edits: list[Edit]) -> bytes:
    parts = []
    position = 0
    for edit in edits:
        parts += [data[position : edit.start], _content(edit)]
        position = edit.end
    return b"".join([*parts, data[position:]])


def _content(edit: Edit) -> bytes:
    """The edit's text with the file's line endings, whatever the rule wrote."""
    content = edit.content.replace("\r\n", "\n")
    newline = edit.source.newline
    return (content if newline == "\n" else content.replace("\n", newline)).encode()
