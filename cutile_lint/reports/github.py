"""``github``: workflow commands that GitHub Actions shows as annotations."""

from __future__ import annotations

from cutile_lint.findings import Finding, Level
from cutile_lint.reports.text import clean
from cutile_lint.reports.view import View

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "notice"}


def render(findings: list[Finding], view: View) -> str:
    return "".join(f"{_command(finding, view)}\n" for finding in findings)


def _command(finding: Finding, view: View) -> str:
    (row, column), (end_row, end_column) = finding.place.start, finding.place.end
    path = view.relative(finding.path)
    properties = {"title": f"{finding.code} {finding.name}", "file": path, "line": row, "endLine": end_row}
    if end_row == row:  # columns across lines are refused
        properties |= {"col": column, "endColumn": max(column, end_column - 1)}
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    text = f"{path}:{row}:{column}: {finding.code} {finding.message}" + (f"\n{finding.help}" if finding.help else "")
    return f"::{_COMMANDS[finding.level]} {listed}::{_data(text)}"


def _data(text: str) -> str:
    return "%0A".join(clean(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
