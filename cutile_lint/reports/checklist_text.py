"""The checklist for a terminal, at most ``view.width`` wide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cutile_lint.checklist import OpChecklist, Status, Verdict
from cutile_lint.checklist.verdict import Evidence
from cutile_lint.reports.tables import fit_path
from cutile_lint.reports.text import clean, width, wrap
from cutile_lint.reports.view import View

SIGNS = {
    Status.PASS: ("✓", "pass", "help"),
    Status.FAIL: ("✗", "FAIL", "error"),
    Status.UNVERIFIED: ("?", "unverified", "warning"),
    Status.NOT_APPLICABLE: ("–", "not applicable", "dim"),
}
#: Pieces of evidence that are listed; more are counted (Markdown and JSON have them).
_LISTED = 3


def render(lists: Iterable[OpChecklist], view: View) -> str:
    return "\n".join("".join(f"{line.rstrip()}\n" for line in _op(one, view)) for one in lists)


def counts(checklist: OpChecklist) -> str:
    found = Counter(verdict.status for verdict in checklist.verdicts)
    return ", ".join(f"{found[status]} {status.value}" for status in Status if found[status])


def _op(checklist: OpChecklist, view: View) -> list[str]:
    name = clean(checklist.op)
    where = (
        fit_path(view.path(checklist.wrapper), view.width - width(name) - 2) if checklist.wrapper is not None else "no wrapper"
    )
    lines = [f"{view.style('bold', name)}  {where}", counts(checklist)]
    section = ""
    for verdict in checklist.verdicts:
        if verdict.item.section != section:
            section = verdict.item.section
            lines += ["", view.style("bold", section)]
        lines += _verdict(verdict, view)
    return lines


def _verdict(verdict: Verdict, view: View) -> list[str]:
    sign, word, style = SIGNS[verdict.status]
    title = f"{verdict.item.title}: {word}"
    lines = [view.style(style, line) for line in wrap(title, view.width, f"  {sign} ", "    ")]
    shown = verdict.evidence[:_LISTED] if len(verdict.evidence) > _LISTED + 1 else verdict.evidence
    for one in shown:
        lines += _evidence(one, view)
    if len(verdict.evidence) > len(shown):
        lines.append(f"      and {len(verdict.evidence) - len(shown)} more")
    return lines


def _evidence(one: Evidence, view: View) -> list[str]:
    text = clean(f"{one.code}: {one.text}" if one.code else one.text)
    lines = wrap(text, view.width, "      ", "        ")
    spot = _spot(one, view)
    if not spot:
        return lines
    if width(lines[-1]) + 2 + width(spot) <= view.width:
        return [*lines[:-1], f"{lines[-1]}  {view.style('dim', spot)}"]
    return [*lines, f"        {view.style('dim', fit_path(spot, view.width - 8))}"]


def _spot(one: Evidence, view: View) -> str:
    if one.file is None:
        return ""
    return view.path(one.file) + (f":{one.row}" if one.row is not None else "")
