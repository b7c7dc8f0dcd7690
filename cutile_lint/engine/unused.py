"""CTL901: suppressions that silence nothing, and the edit that takes them out.

A code counts as unused when its rule was on in the file, ran on every op that the file is part of, had its evidence, and
could follow those ops to the end: silence because something is not known is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.engine.suppressions import Suppression, Suppressions
from cutile_lint.findings import Edit, Finding, Fix
from cutile_lint.records import dataclass
from cutile_lint.sources import BOM, Source, Span

if TYPE_CHECKING:
    from cutile_lint.engine.registry import RuleInfo
    from cutile_lint.unit import KernelUnit


@dataclass(frozen=True, slots=True)
class Answers:
    """Which rules gave an answer: those that ran, the ops by file, and whether a rule is on in a file."""

    rules: Mapping[str, RuleInfo]
    units: Mapping[Path, list[KernelUnit]]
    is_on: Callable[[Path, RuleInfo], bool]

    def said_no(self, code: str, path: Path) -> bool:
        info = self.rules.get(code)
        units = self.units.get(path, [])
        if info is None or not units or not self.is_on(path, info):
            return False
        return all(unit.knows(info.layer, info.needs) for unit in units)


def unused_suppressions(files: Iterable[Suppressions], answers: Answers) -> Iterator[Finding]:
    """The findings, without code, name and level. To be called when everything that can be silenced has been."""
    for file in files:
        for mistake in file.mistakes:
            yield Finding(mistake.place, mistake.message, help=mistake.help)
        for item in file.items:
            idle = [
                code for code in dict.fromkeys(item.codes) if code not in item.used and answers.said_no(code, file.source.path)
            ]
            if idle:
                yield _finding(item, idle)


def _finding(item: Suppression, idle: list[str]) -> Finding:
    listed = ", ".join(f"`{code}`" for code in idle)
    where = "in this file" if item.row == 0 else "here"
    edit = _without(item, set(idle))
    fix = (
        None if edit is None else Fix("remove the comment" if len(idle) == len(set(item.codes)) else f"remove {listed}", (edit,))
    )
    verb = "is" if len(idle) == 1 else "are"
    return Finding(item.place, f"{listed} {verb} suppressed but not found {where}", help="remove the suppression", fix=fix)


def _without(item: Suppression, codes: set[str]) -> Edit | None:
    """The edit that takes the codes out, and the whole directive with its reason when none is left; None: not safely."""
    source = item.place.source
    left = [text for code, text in zip(item.codes, item.written, strict=True) if code not in codes]
    if left or item.unknown:
        found = re.compile(rb"\[([^\]\n]*)\]").search(source.data, item.place.span.start, item.place.span.end)
        if found is None:
            return None
        return Edit(source, found.start(1), found.end(1), ", ".join([*left, *item.unknown]))
    span = _directive(item)
    return None if span is None else Edit(source, span.start, span.end, "")


def _directive(item: Suppression) -> Span | None:
    """The directive up to the next marker in its comment, the blanks before it, and its line when nothing else is on it."""
    source, comment = item.place.source, item.comment
    data = source.data
    start, end = item.place.span.start, comment.end
    if data[comment.start : comment.start + 2] == b"/*":
        if start != comment.start or b"\n" in data[comment.start : comment.end]:
            return None
    else:
        behind = re.compile(rb"[ \t]+(#|//)").search(data, item.place.span.end, end)
        end = end if behind is None else behind.start(1)
    row = source.position(start)[0]
    line = source.line_starts[row - 1]
    line += len(BOM) if line == 0 and data.startswith(BOM) else 0
    next_line = source.line_starts[row] if row < len(source.line_starts) else len(data)
    alone = not data[line:start].strip() and not data[end:next_line].strip()
    if alone:
        return Span(line, next_line)
    if not data[end:next_line].strip():  # behind code: the blanks before go too
        start -= len(data[line:start]) - len(data[line:start].rstrip(b" \t"))
    return Span(start, end)


def holders(units: Iterable[KernelUnit], sources: Iterable[Source]) -> dict[Path, list[KernelUnit]]:
    """The units that each of the sources is part of."""
    wanted = {source.path for source in sources}
    found: dict[Path, list[KernelUnit]] = {}
    for unit in units:
        for source in unit.files:
            if source.path in wanted:
                found.setdefault(source.path, []).append(unit)
    return found
