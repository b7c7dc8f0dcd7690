"""``add-ignore``: the comments that silence findings, each where it is read and where the text can take one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property

from cutile_lint.engine.suppressions import Suppression, last_row, read_suppressions
from cutile_lint.findings import Edit, Finding
from cutile_lint.records import dataclass, field
from cutile_lint.sources import BOM, Source, Span

#: a comment that would make its row longer than this stands above it
WIDTH = 100


@dataclass(slots=True)
class Plan:
    """Edits that silence findings, and the findings for which there is no place (with the reason)."""

    edits: list[Edit] = field(default_factory=list)
    silenced: list[Finding] = field(default_factory=list)
    refused: list[tuple[Finding, str]] = field(default_factory=list)


def plan(findings: Iterable[Finding], reason: str = "") -> Plan:
    """Where comments go. One comment per row names all its codes; an existing one gets the codes that it lacks."""
    result = Plan()
    files: dict[Source, _File] = {}
    by_source: dict[str, Source] = {}
    for finding in findings:
        source = by_source.setdefault(str(finding.path), finding.place.source)
        files.setdefault(source, _File(source)).add(finding, result)
    for file in files.values():
        result.edits += file.edits(reason)
    return result


class _File:
    def __init__(self, source: Source) -> None:
        self.source = source
        #: (row, above it) -> codes
        self.rows: dict[tuple[int, bool], list[str]] = {}
        #: codes to add to directives that are there
        self.grown: dict[int, tuple[Suppression, list[str]]] = {}

    @cached_property
    def existing(self) -> list[Suppression]:
        return read_suppressions(self.source, lambda text: text).items

    @cached_property
    def _hidden(self) -> list[Span]:
        """Strings and block comments: a row that ends or begins in one takes no comment there."""
        if self.source.is_python:
            from cutile_lint.frontends.python.comments import literals

            return literals(self.source)
        from cutile_lint.frontends.rust.lexer import hidden

        data = self.source.data
        return [Span(start, end) for start, end, comment in hidden(data) if not comment or data[start : start + 2] == b"/*"]

    def add(self, finding: Finding, result: Plan) -> None:
        if not (self.source.is_python or self.source.is_rust):
            result.refused.append((finding, f"a `{self.source.path.suffix}` file has no comments that silence"))
            return
        for item in self.existing:
            if item.row and item.covers(finding):
                self._put(self.grown.setdefault(item.place.span.start, (item, []))[1], finding.code)
                result.silenced.append(finding)
                return
        for key in self._places(finding):
            self._put(self.rows.setdefault(key, []), finding.code)
            result.silenced.append(finding)
            return
        result.refused.append((finding, "no line of its statement can take a comment"))

    def _put(self, codes: list[str], code: str) -> None:
        if code not in codes:
            codes.append(code)

    def _places(self, finding: Finding) -> Iterator[tuple[int, bool]]:
        """Rows that cover the finding and can take a comment, the best first: behind short rows, then above, then behind long ones."""
        row = finding.place.start[0]
        behind, above = [row], [row]
        if finding.statement is not None and finding.statement.path == self.source.path:
            behind += [finding.statement.start[0], last_row(finding.statement)]
            above += [finding.statement.start[0]]
        behind = [row for row in dict.fromkeys(behind) if self._takes_behind(row)]
        size = len(finding.code) + 24
        yield from ((row, False) for row in behind[:1] if len(self.source.line(row)) + size <= WIDTH)
        yield from ((row, True) for row in dict.fromkeys(above) if self._takes_above(row))
        yield from ((row, False) for row in behind)

    def _takes_behind(self, row: int) -> bool:
        end = self._bounds(row)[1]
        text = self.source.data[self._bounds(row)[0] : end]
        return not self._inside(end) and not text.endswith(b"\\")

    def _takes_above(self, row: int) -> bool:
        start = self._bounds(row)[0]
        before = self.source.line(row - 1) if row > 1 else ""
        return not self._inside(start) and not before.endswith("\\")

    def _inside(self, offset: int) -> bool:
        """Whether the offset is within a string or block comment that goes on over the line's end."""
        at = bisect_right(self._hidden, offset, key=lambda span: span.start) - 1
        return at >= 0 and self._hidden[at].start < offset < self._hidden[at].end

    def _bounds(self, row: int) -> tuple[int, int]:
        """Start and end of a row without its line ending and a BOM."""
        data, starts = self.source.data, self.source.line_starts
        start = starts[row - 1] + (len(BOM) if row == 1 and data.startswith(BOM) else 0)
        end = starts[row] if row < len(starts) else len(data)
        while end > start and data[end - 1] in b"\r\n":
            end -= 1
        return start, end

    def edits(self, reason: str) -> Iterator[Edit]:
        tail = f" {reason}" if reason else ""
        mark = "#" if self.source.is_python else "//"
        for item, codes in self.grown.values():
            close = self.source.data.index(b"]", item.place.span.start)
            yield Edit(self.source, close, close, "".join(f", {code}" for code in codes))
        for (row, above), codes in sorted(self.rows.items()):
            comment = f"{mark} cutile-lint: ignore[{', '.join(sorted(codes))}]{tail}"
            start, end = self._bounds(row)
            line = self.source.data[start:end].decode("utf-8", "replace")
            if above:
                indent = line[: len(line) - len(line.lstrip())]
                yield Edit(self.source, start, start, f"{indent}{comment}\n")
            else:
                kept = len(self.source.data[start:end].rstrip(b" \t"))
                gap = "" if not kept else "  " if self.source.is_python else " "
                yield Edit(self.source, start + kept, end, gap + comment)
