"""The checklist as Markdown, to paste into a report: one table per section."""

from __future__ import annotations

from collections.abc import Iterable

from cutile_lint.checklist import OpChecklist, Verdict
from cutile_lint.checklist.verdict import Evidence
from cutile_lint.reports.checklist_text import counts
from cutile_lint.reports.flow_markdown import code, prose
from cutile_lint.reports.view import View

_LISTED = 8


def render(lists: Iterable[OpChecklist], view: View) -> str:
    return "\n".join("\n".join(_op(one, view)) + "\n" for one in lists)


def _op(checklist: OpChecklist, view: View) -> list[str]:
    lines = [f"## Checklist of {code(checklist.op)}", ""]
    where = f"{code(view.relative(checklist.wrapper))}: " if checklist.wrapper is not None else ""
    lines.append(f"{where}{counts(checklist)}.")
    section = ""
    for verdict in checklist.verdicts:
        if verdict.item.section != section:
            section = verdict.item.section
            lines += ["", f"### {prose(section)}", "", "| item | status | evidence |", "| --- | --- | --- |"]
        lines.append(_row(verdict, view))
    return lines


def _row(verdict: Verdict, view: View) -> str:
    told = [_evidence(one, view) for one in verdict.evidence[:_LISTED]]
    if len(verdict.evidence) > _LISTED:
        told.append(f"and {len(verdict.evidence) - _LISTED} more")
    return f"| {prose(verdict.item.title)} | **{verdict.status.value}** | {'<br>'.join(told)} |"


def _evidence(one: Evidence, view: View) -> str:
    where = ""
    if one.file is not None:
        where = " " + code(view.relative(one.file) + (f":{one.row}" if one.row is not None else ""))
    return (f"{one.code}: " if one.code else "") + prose(one.text) + where
