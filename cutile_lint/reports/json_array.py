"""``json``: an array of findings."""

from __future__ import annotations

import json

from cutile_lint.findings import Finding
from cutile_lint.reports.records import record
from cutile_lint.reports.view import View


def render(findings: list[Finding], view: View) -> str:
    return json.dumps([record(finding) for finding in findings], indent=2) + "\n"
