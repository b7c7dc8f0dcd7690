"""Findings as bytes and back, complete: every output format can be made from what comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cutile_lint.findings import Applicability, Edit, Finding, Fix, Level, Related
from cutile_lint.sources import Place, Source, Span


def pack_findings(findings: list[Finding]) -> bytes:
    """JSON: the paths, whether their text is shown, and the findings with places as [path, start, end]."""
    paths: dict[tuple[str, bool], int] = {}

    def source(item: Source) -> int:
        return paths.setdefault((str(item.path), bool(item.data)), len(paths))

    def place(item: Place | None) -> Any:
        return None if item is None else [source(item.source), item.span.start, item.span.end]

    def fix(item: Fix | None) -> Any:
        if item is None:
            return None
        edits = [[source(edit.source), edit.start, edit.end, edit.content] for edit in item.edits]
        return [item.message, edits, item.applicability.value]

    rows = [
        [
            place(item.place),
            item.message,
            item.help,
            [[place(related.place), related.message] for related in item.related],
            fix(item.fix),
            item.ops,
            item.code,
            item.name,
            item.level.value,
            place(item.statement),
            item.symbol,
            item.url,
            item.level_override and item.level_override.value,
        ]
        for item in findings
    ]
    return json.dumps([list(paths), rows]).encode()


def unpack_findings(data: bytes) -> list[Finding]:
    """The findings, their sources read from the disk. Raises ValueError, LookupError, TypeError or OSError for what is none."""
    paths, rows = json.loads(data)
    sources = [Source(Path(path), Path(path).read_bytes() if shown else b"") for path, shown in paths]

    def place(item: Any) -> Any:
        return None if item is None else Place(sources[item[0]], Span(item[1], item[2]))

    def fix(item: Any) -> Fix | None:
        if item is None:
            return None
        message, edits, applicability = item
        made = tuple(Edit(sources[number], start, end, content) for number, start, end, content in edits)
        return Fix(message, made, Applicability(applicability))

    return [
        Finding(
            place=place(at),
            message=message,
            help=help_text,
            related=tuple(Related(place(where), text) for where, text in related),
            fix=fix(fixed),
            ops=tuple(ops),
            code=code,
            name=name,
            level=Level(level),
            statement=place(statement),
            symbol=symbol,
            url=url,
            level_override=Level(override) if override else None,
        )
        for at, message, help_text, related, fixed, ops, code, name, level, statement, symbol, url, override in rows
    ]
