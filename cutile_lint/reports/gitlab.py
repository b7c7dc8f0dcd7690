"""``gitlab``: a Code Quality report."""

from __future__ import annotations

import json

from cutile_lint.findings import Finding, Level
from cutile_lint.reports.identity import fingerprints
from cutile_lint.reports.view import View

_SEVERITIES = {Level.ERROR: "major", Level.WARNING: "minor", Level.INFO: "info"}


def render(findings: list[Finding], view: View) -> str:
    records = []
    for finding, fingerprint in zip(findings, fingerprints(findings, view), strict=True):
        (row, column), (end_row, end_column) = finding.place.start, finding.place.end
        records.append(
            {
                "description": f"{finding.code}: {finding.message}",
                "check_name": finding.code,
                "fingerprint": fingerprint,
                "severity": _SEVERITIES[finding.level],
                "location": {
                    "path": view.relative(finding.path),
                    "positions": {"begin": {"line": row, "column": column}, "end": {"line": end_row, "column": end_column}},
                },
            }
        )
    return json.dumps(records, indent=2) + "\n"
