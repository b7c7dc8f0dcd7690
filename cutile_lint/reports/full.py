"""``full``: each finding with its source, the related places in order, and what to do."""

from __future__ import annotations

from cutile_lint.findings import Applicability, Finding
from cutile_lint.reports.snippet import snippet
from cutile_lint.reports.text import clean, wrap
from cutile_lint.reports.view import View


def render(findings: list[Finding], view: View) -> str:
    return "".join("\n".join(_finding(finding, view)) + "\n\n" for finding in findings)


def _finding(finding: Finding, view: View) -> list[str]:
    row, column = finding.place.start
    gutter = len(str(finding.place.end[0]))
    lines = _headline(finding, view)
    lines.append(f"{'':>{gutter}}{view.style('dim', '-->')} {view.path(finding.path)}:{row}:{column}")
    bar = f"{'':>{gutter}} {view.style('dim', '|')}"
    if finding.place.source.data:
        lines += [bar, *snippet(finding.place, view, finding.level, gutter)]
    if finding.related or finding.help or finding.fix:
        lines.append(bar)
    for number, related in enumerate(finding.related, 1):
        head = f"  {number}. "
        where = f"{view.path(related.place.path)}:{related.place.start[0]}: "
        lines += wrap(where + clean(related.message), view.width, head, " " * len(head))
        lines += snippet(related.place, view, None, len(str(related.place.end[0])), " " * len(head))
    if finding.help:
        lines += _labelled("help", finding.help, view)
    if finding.fix is not None:
        option = "--fix" if finding.fix.applicability is Applicability.SAFE else "--fix --unsafe-fixes"
        lines += _labelled("fix", f"{finding.fix.message} ({option})", view)
    return lines


def _headline(finding: Finding, view: View) -> list[str]:
    label = f"{finding.level.value}[{finding.code}]"
    lines = wrap(clean(f"{label} {finding.name}: {finding.message}"), view.width, "", "  ")
    return [view.level(finding.level, label) + lines[0][len(label) :], *lines[1:]]


def _labelled(label: str, text: str, view: View) -> list[str]:
    """``help:`` and the text, wrapped; lines that the text has itself are kept."""
    lines: list[str] = []
    for part in text.splitlines():
        first = f"  {label}: " if not lines else "    "
        lines += wrap(clean(part.replace("\t", "    ")), view.width, first, "    ")
    if lines:
        lines[0] = lines[0].replace(f"{label}:", view.style("help", f"{label}:"), 1)
    return lines
