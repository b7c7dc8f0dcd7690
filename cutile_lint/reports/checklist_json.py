"""The checklist for programs. Rows and columns from 1 in code points; file names as absolute paths."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from cutile_lint.checklist import OpChecklist, Status, Verdict
from cutile_lint.checklist.verdict import Evidence
from cutile_lint.reports.flow_json import place
from cutile_lint.reports.view import View

VERSION = 1


def render(lists: Iterable[OpChecklist], view: View) -> str:
    return json.dumps({"version": VERSION, "ops": [_op(one) for one in lists]}, indent=2) + "\n"


def _op(checklist: OpChecklist) -> dict[str, Any]:
    return {
        "op": checklist.op,
        "wrapper": str(checklist.wrapper) if checklist.wrapper is not None else None,
        "counts": {status.value: len(checklist.having(status)) for status in Status},
        "items": [_item(one) for one in checklist.verdicts],
    }


def _item(verdict: Verdict) -> dict[str, Any]:
    item = verdict.item
    return {
        "item": item.key,
        "title": item.title,
        "section": item.section,
        "rules": list(item.rules),
        "status": verdict.status.value,
        "evidence": [_evidence(one) for one in verdict.evidence],
    }


def _evidence(one: Evidence) -> dict[str, Any]:
    found = place(one.place) or {
        "filename": str(one.path) if one.path is not None else None,
        "location": None,
        "end_location": None,
    }
    return {"kind": type(one).__name__.lower(), "text": one.text, "code": one.code or None, **found}
