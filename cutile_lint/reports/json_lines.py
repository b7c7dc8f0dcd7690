"""``json-lines``: one object per finding and line."""

from __future__ import annotations

import json

from cutile_lint.findings import Finding
from cutile_lint.reports.records import record
from cutile_lint.reports.view import View


def render(findings: list[Finding], view: View) -> str:
    return "".join(json.dumps(record(finding)) + "\n" for finding in findings)
