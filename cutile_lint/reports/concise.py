"""``concise``: one line per finding."""

from __future__ import annotations

from cutile_lint.findings import Finding
from cutile_lint.reports.text import clean
from cutile_lint.reports.view import View


def render(findings: list[Finding], view: View) -> str:
    return "".join(f"{_line(finding, view)}\n" for finding in findings)


def _line(finding: Finding, view: View) -> str:
    row, column = finding.place.start
    label = view.level(finding.level, f"{finding.level.value}[{finding.code}]")
    return f"{view.path(finding.path)}:{row}:{column}: {label} {clean(finding.message)}"
