"""The flow map for programs. Rows and columns from 1 in code points, end exclusive; file names as absolute paths."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from cutile_lint.flow import ExportMap, OpMap, OptionWay, SlotRow
from cutile_lint.reports.view import View
from cutile_lint.sources import Place

VERSION = 1


def render(maps: Iterable[OpMap], view: View) -> str:
    return json.dumps({"version": VERSION, "ops": [_op(one) for one in maps]}, indent=2) + "\n"


def place(found: Place | None) -> dict[str, Any] | None:
    if found is None:
        return None
    (row, column), (end_row, end_column) = found.start, found.end
    return {
        "filename": str(found.path),
        "location": {"row": row, "column": column},
        "end_location": {"row": end_row, "column": end_column},
    }


def _op(found: OpMap) -> dict[str, Any]:
    return {
        "op": found.op,
        "wrapper": str(found.wrapper) if found.wrapper is not None else None,
        "reference": found.reference or None,
        "gaps": found.gaps,
        "exports": [_export(one) for one in found.exports],
    }


def _export(export: ExportMap) -> dict[str, Any]:
    return {
        "symbol": export.symbol,
        "place": place(export.place),
        "variants": [
            {"entry": one.entry, "condition": one.condition or None, "place": place(one.place)} for one in export.variants
        ],
        "slots": [_slot(one) for one in export.rows],
        "options": [_way(one) for one in export.options],
        "gaps": export.gaps,
    }


def _slot(slot: SlotRow) -> dict[str, Any]:
    declared = (
        {"name": slot.declared[0], "type": slot.declared[1], "place": place(slot.declared_place)} if slot.declared else None
    )
    return {
        "index": slot.index,
        "python": [
            {"expression": one.text, "value": one.value, "kind": one.kind, "timed": one.timed, "place": place(one.place)}
            for one in slot.given
        ],
        "cdef": declared,
        "rust": {"name": slot.name, "type": slot.type, "place": place(slot.place)},
        "becomes": [
            [{"role": one.role, "text": one.text, "place": place(one.place)} for one in targets] for targets in slot.becomes
        ],
        "option": slot.option,
        "marks": [{"kind": one.kind, "code": one.code, "message": one.message, "place": place(one.place)} for one in slot.marks],
    }


def _way(way: OptionWay) -> dict[str, Any]:
    return {
        "option": way.option,
        "slot": way.slot,
        "status": way.status,
        "note": way.note or None,
        "configs": way.configs,
        "timed": way.timed,
        "reaches": way.reaches,
        "misses": way.misses,
        "hops": [{"text": hop.text, "mark": hop.mark or None, "place": place(hop.place)} for hop in way.hops],
    }
