"""A finding as the JSON object of the contract (DESIGN.md)."""

from __future__ import annotations

from typing import Any

from cutile_lint.findings import Edit, Finding, Related
from cutile_lint.sources import Place, Source


def record(finding: Finding) -> dict[str, Any]:
    """Rows and columns from 1 in code points, ends exclusive; file names absolute."""
    fix = finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.level.value,
        "message": finding.message,
        "help": finding.help,
        "ops": list(finding.ops),
        **_place(finding.place),
        "fix": None
        if fix is None
        else {"applicability": fix.applicability.value, "message": fix.message, "edits": [_edit(edit) for edit in fix.edits]},
        "related": [_related(related) for related in finding.related],
        "url": finding.url,
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "filename": str(place.path),
        "location": _position(place.source, place.span.start),
        "end_location": _position(place.source, place.span.end),
    }


def _related(related: Related) -> dict[str, Any]:
    return {**_place(related.place), "message": related.message}


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "filename": str(edit.path),
        "location": _position(edit.source, edit.start),
        "end_location": _position(edit.source, edit.end),
        "content": edit.content,
    }


def _position(source: Source, offset: int) -> dict[str, int]:
    row, column = source.position(offset)
    return {"row": row, "column": column}
