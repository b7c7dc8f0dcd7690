"""``sarif``: SARIF 2.1.0 with fixes, related locations and, for a flow, its steps."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from cutile_lint import __version__
from cutile_lint.engine.registry import find_rule
from cutile_lint.findings import Edit, Finding, Fix, Level
from cutile_lint.reports.identity import fingerprints
from cutile_lint.reports.view import View
from cutile_lint.sources import Place, Source

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}


def render(findings: list[Finding], view: View) -> str:
    rules = {finding.code: finding for finding in reversed(findings)}
    codes = sorted(rules)
    invocation: dict[str, Any] = {"executionSuccessful": not view.errors}
    if view.errors:
        invocation["toolExecutionNotifications"] = [{"level": "error", "message": {"text": error}} for error in view.errors]
    run = {
        "tool": {
            "driver": {
                "name": "cutile-lint",
                "version": __version__,
                "rules": [_rule(rules[code]) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"ROOT": {"uri": _absolute_uri(str(view.root or view.cwd)).rstrip("/") + "/"}},
        "invocations": [invocation],
        "results": [
            _result(finding, codes.index(finding.code), name, view)
            for finding, name in zip(findings, fingerprints(findings, view), strict=True)
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(finding: Finding) -> dict[str, Any]:
    info = find_rule(finding.code)
    rule: dict[str, Any] = {
        "id": finding.code,
        "name": finding.name,
        "shortDescription": {"text": _text(info.summary if info is not None else finding.name or finding.code)},
        "help": {"text": f"cutile-lint rule {finding.code}"},
    }
    if info is not None:
        rule["defaultConfiguration"] = {"level": _LEVELS[info.level]}
    return rule | ({"helpUri": finding.url} if finding.url else {})


def _result(finding: Finding, index: int, fingerprint: str, view: View) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.level],
        "message": {"text": _text(finding.message + (f"\n{finding.help}" if finding.help else ""))},
        "locations": [_location(finding.place, view)],
        "partialFingerprints": {"cutileLint/v1": fingerprint},
    }
    if finding.ops:
        result["properties"] = {"ops": list(finding.ops)}
    if finding.related:
        hops = [_location(related.place, view, related.message) for related in finding.related]
        result["relatedLocations"] = [{"id": number, **hop} for number, hop in enumerate(hops, 1)]
        steps = [*hops, _location(finding.place, view, finding.message)]
        result["codeFlows"] = [{"threadFlows": [{"locations": [{"location": step} for step in steps]}]}]
    if finding.fix is not None:
        result["fixes"] = [_fix(finding.fix, view)]
    return result


def _location(place: Place, view: View, message: str = "") -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": _artifact(place.source, view),
            "region": _region(place.source, place.span.start, place.span.end),
        }
    }
    return location | ({"message": {"text": _text(message)}} if message else {})


def _text(message: str) -> str:
    """A message in which nothing is taken for a link (``[text](target)``)."""
    return re.sub(r"[\\\[\]]", r"\\\g<0>", message) if "](" in message else message


def _region(source: Source, start: int, end: int) -> dict[str, int]:
    (row, column), (end_row, end_column) = source.position(start), source.position(end)
    return {"startLine": row, "startColumn": column, "endLine": end_row, "endColumn": end_column}


def _fix(fix: Fix, view: View) -> dict[str, Any]:
    files: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        files.setdefault(str(edit.path), []).append(edit)
    return {
        "description": {"text": fix.message},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(edits[0].source, view),
                "replacements": [
                    {
                        "deletedRegion": _region(edit.source, edit.start, edit.end),
                        "insertedContent": {"text": edit.content},
                    }
                    for edit in edits
                ],
            }
            for edits in files.values()
        ],
    }


def _artifact(source: Source, view: View) -> dict[str, str]:
    path = view.relative(source.path)
    if path == str(source.path).replace("\\", "/"):
        return {"uri": _absolute_uri(path)}
    return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": "ROOT"}


def _absolute_uri(path: str) -> str:
    path = path.replace("\\", "/")
    return "file://" + ("" if path.startswith("/") else "/") + quote(path, safe="/:", errors="surrogateescape")
