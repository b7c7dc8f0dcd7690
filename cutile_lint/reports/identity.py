"""Names for findings that stay when lines move: for GitLab and SARIF, which compare runs."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

from cutile_lint.engine.identity import text_of
from cutile_lint.findings import Finding
from cutile_lint.reports.view import View


def fingerprints(findings: list[Finding], view: View) -> list[str]:
    """One per finding, from code, path, symbol, the place's text without regard to blanks, and the ordinal among equals."""
    seen: Counter[str] = Counter()
    names = []
    for finding in findings:
        base = "\0".join((finding.code, view.relative(finding.path), finding.symbol, text_of(finding)))
        ordinal = seen[base]
        seen[base] += 1
        names.append(sha256(f"{base}\0{ordinal}".encode("utf-8", "surrogateescape")).hexdigest())
    return names
