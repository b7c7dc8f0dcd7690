"""Each format as its reader sees it, with hostile text in names, messages and source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cutile_lint.findings import Applicability, Edit, Finding, Fix, Level, Related
from cutile_lint.reports import View, render
from cutile_lint.reports.summary import summary
from cutile_lint.sources import Place, Source, Span

ROOT = Path("/project")
HOSTILE = "a\x1b[31m\n::error::<b>|*&`"


def source(text: str, name: str = "ops/gelu.py") -> Source:
    return Source(ROOT / name, text.encode())


def place(text: Source, part: str) -> Place:
    start = text.data.index(part.encode())
    return Place(text, Span(start, start + len(part.encode())))


def finding(where: Place, message: str = "m", **rest: Any) -> Finding:
    return Finding(where, message, **{"code": "CTL101", "name": "fill-in-kernel-fn", **rest})


def full(found: Finding, width: int = 80, color: bool = False) -> list[str]:
    return render("full", [found], View(cwd=ROOT, width=width, color=color)).splitlines()


def test_full_shows_places_in_order_and_the_help() -> None:
    python = source("def op(x):\n    launch(\n        zeros(1),\n        b,\n    )\n")
    rust = source("fn ffi(n: i32) {}\n", "kernels/ffi.rs")
    found = finding(
        place(python, "zeros(1)"),
        "`zeros` runs a fill kernel inside the timed region, so that each candidate is timed with it",
        help="allocate with `empty`: the launched kernel stores all of it in every variant, and reads nothing of it",
        related=(
            Related(place(rust, "n: i32"), "the slot"),
            Related(place(python, "launch(\n        zeros(1),\n        b,\n    )"), "the launch"),
        ),
        fix=Fix("use `empty`", (Edit(python, 0, 0, ""),), Applicability.UNSAFE),
    )
    assert full(found) == [
        "error[CTL101] fill-in-kernel-fn: `zeros` runs a fill kernel inside the timed",
        "  region, so that each candidate is timed with it",
        " --> ops/gelu.py:3:9",
        "  |",
        "3 |         zeros(1),",
        "  |         ^^^^^^^^",
        "  |",
        "  1. kernels/ffi.rs:1: the slot",
        "     1 | fn ffi(n: i32) {}",
        "       |        ^^^^^^",
        "  2. ops/gelu.py:2: the launch",
        "     2 |     launch(",
        "       |     ^^^^^^^",
        "     ...",
        "     5 |     )",
        "       |     ^",
        "  help: allocate with `empty`: the launched kernel stores all of it in every",
        "    variant, and reads nothing of it",
        "  fix: use `empty` (--fix --unsafe-fixes)",
        "",
    ]


@pytest.mark.parametrize(
    ("line", "part", "shown", "carets"),
    [
        ("\tx = zeros()", "zeros", "    x = zeros()", "        ^^^^^"),
        ("a\tzeros", "zeros", "a   zeros", "    ^^^^^"),
        ("漢字 = zeros", "zeros", "漢字 = zeros", "       ^^^^^"),
        ("e\u0301 = zeros", "zeros", "e\u0301 = zeros", "    ^^^^^"),
        ("x = '漢' + zeros", "'漢'", "x = '漢' + zeros", "    ^^^^"),
        ("\x1b[2J zeros", "zeros", "\\x1b[2J zeros", "        ^^^^^"),
        ("\u202e zeros", "zeros", "\\u202e zeros", "       ^^^^^"),
        ("zeros", "", "zeros", "^"),
    ],
)
def test_carets_stand_below_what_they_mean(line: str, part: str, shown: str, carets: str) -> None:
    lines = full(finding(place(source(f"{line}\r\nx = 1\r\n"), part)))
    assert lines[3:5] == [f"1 | {shown}", f"  | {carets}"]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize(("before", "after"), [(0, 500), (50, 50), (500, 0), (500, 500), (900_000, 900_000)])
def test_long_lines_are_cut_around_the_place(width: int, before: int, after: int) -> None:
    lines = full(finding(place(source("x" * before + "zeros" + "y" * after + "\n"), "zeros")), width)
    shown, carets = lines[3], lines[4]
    assert max(map(len, lines)) <= width
    start = carets.index("^")
    assert carets.count("^") == 5 and shown[start : start + 5] == "zeros"
    assert shown[4:].startswith("…") == (shown.count("x") < before)
    assert shown.endswith("…") == (shown.count("y") < after)


def test_a_place_longer_than_the_terminal_and_one_at_the_end() -> None:
    long = full(finding(place(source("call(" + "x" * 300 + ")\n"), "x" * 300)), 60)
    assert max(map(len, long)) <= 60 and "^" in long[4]
    text = source("x = (\n")
    end = full(finding(Place(text, Span(6, 6))))
    assert end[1].endswith("ops/gelu.py:2:1") and end[4] == "  | ^"
    empty = full(finding(Place(source(""), Span(0, 0)), "the file cannot be read"))
    assert empty == ["error[CTL101] fill-in-kernel-fn: the file cannot be read", " --> ops/gelu.py:1:1", ""]


def test_colour_changes_nothing_but_colour() -> None:
    found = finding(place(source("x = zeros(1)\n"), "zeros"), help="write `empty`", level=Level.WARNING)
    plain, coloured = full(found), full(found, color=True)
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in coloured] == plain
    assert "\x1b[1;33m^^^^^\x1b[0m" in coloured[4]


def test_concise_is_one_line_each() -> None:
    found = finding(place(source("x = zeros(1)\n"), "zeros"), HOSTILE)
    assert render("concise", [found], View(cwd=ROOT)) == ("ops/gelu.py:1:5: error[CTL101] a\\x1b[31m\\x0a::error::<b>|*&`\n")


def test_json_is_the_contract() -> None:
    python, rust = source("\ufeffx = 'é'; zeros\r\n"), source("fn f() {}\n", "ffi.rs")
    found = finding(
        place(python, "zeros"),
        "m",
        help="h",
        ops=("gelu",),
        related=(Related(place(rust, "f()"), "r"),),
        fix=Fix("f", (Edit(python, 12, 17, "é\n"),)),
        url="https://example.org",
    )
    assert json.loads(render("json", [found], View(cwd=ROOT))) == [
        {
            "code": "CTL101",
            "name": "fill-in-kernel-fn",
            "severity": "error",
            "message": "m",
            "help": "h",
            "ops": ["gelu"],
            "filename": "/project/ops/gelu.py",
            "location": {"row": 1, "column": 10},
            "end_location": {"row": 1, "column": 15},
            "fix": {
                "applicability": "safe",
                "message": "f",
                "edits": [
                    {
                        "filename": "/project/ops/gelu.py",
                        "location": {"row": 1, "column": 9},
                        "end_location": {"row": 1, "column": 14},
                        "content": "é\n",
                    }
                ],
            },
            "related": [
                {
                    "filename": "/project/ffi.rs",
                    "location": {"row": 1, "column": 4},
                    "end_location": {"row": 1, "column": 7},
                    "message": "r",
                }
            ],
            "url": "https://example.org",
        }
    ]
    assert json.loads(render("json", [], View())) == []
    lines = render("json-lines", [found, found], View()).splitlines()
    assert len(lines) == 2 and json.loads(lines[0])["fix"]["applicability"] == "safe"


def test_github_escapes_what_would_end_a_command() -> None:
    found = finding(place(source("x = zeros(1)\n", "a,b:c%.py"), "zeros"), "50%\nof it", level=Level.INFO)
    assert render("github", [found], View(root=ROOT)) == (
        "::notice title=CTL101 fill-in-kernel-fn,file=a%2Cb%3Ac%25.py,line=1,endLine=1,col=5,endColumn=9"
        "::a,b:c%25.py:1:5: CTL101 50%25%0Aof it\n"
    )


def test_gitlab_fingerprints_stay_when_lines_move_and_tell_equals_apart() -> None:
    def prints(text: str) -> list[str]:
        read = source(text)
        found = [finding(Place(read, Span(*match.span()))) for match in re.finditer(rb"zeros\(\s*1\)", read.data)]
        report = json.loads(render("gitlab", found, View(root=ROOT)))
        assert {item["location"]["path"] for item in report} == {"ops/gelu.py"}
        return [item["fingerprint"] for item in report]

    before = prints("x = zeros(1)\ny = zeros(1)\n")
    assert len(set(before)) == 2
    assert prints("\n\nx = zeros(1)\n\ny = zeros(1)\n") == before


def test_markdown_keeps_hostile_text_harmless() -> None:
    found = finding(place(source("x = zeros(1)\n", f"{HOSTILE[:4]}`.py"), "zeros"), HOSTILE, help="<script>", url="javascript:x")
    text = render("markdown", [found], View(root=ROOT))
    assert "\x1b" not in text and "<b>" not in text and "<script>" not in text and "javascript" not in text
    assert "&lt;b&gt;\\|\\*&amp;" in text


def test_sarif_has_flows_fixes_and_relative_places() -> None:
    python, rust = source("x = 'é'; zeros\n", "o p/é.py"), Source(Path("/else/ffi.rs"), b"fn f() {}\n")
    found = finding(
        place(python, "zeros"),
        related=(Related(place(rust, "f"), "hop"),),
        fix=Fix("two", (Edit(python, 0, 1, "y"), Edit(rust, 3, 4, "g"))),
        level=Level.INFO,
    )
    report = json.loads(render("sarif", [found, finding(place(python, "x"), code="CTL102")], View(root=ROOT, errors=("e",))))
    run = report["runs"][0]
    result = run["results"][0]
    assert report["version"] == "2.1.0" and run["originalUriBaseIds"]["ROOT"]["uri"] == "file:///project/"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["CTL101", "CTL102"]
    assert run["results"][1]["ruleIndex"] == 1 and result["level"] == "note"
    where = result["locations"][0]["physicalLocation"]
    assert where["artifactLocation"] == {"uri": "o%20p/%C3%A9.py", "uriBaseId": "ROOT"}
    assert where["region"] == {"startLine": 1, "startColumn": 10, "endLine": 1, "endColumn": 15}
    assert result["relatedLocations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///else/ffi.rs"}
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == ["hop", "m"]
    changes = result["fixes"][0]["artifactChanges"]
    assert [change["replacements"][0]["insertedContent"]["text"] for change in changes] == ["y", "g"]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert json.loads(render("sarif", [], View(root=ROOT)))["runs"][0]["results"] == []


def test_the_summary_counts() -> None:
    text = source("x\n")
    safe = Fix("f", (Edit(text, 0, 1, "y"),))
    unsafe = Fix("f", safe.edits, Applicability.UNSAFE)
    found = [
        finding(place(text, "x"), fix=safe),
        finding(place(text, "x"), fix=unsafe),
        finding(place(text, "x"), level=Level.WARNING),
    ]
    assert summary([]) == "All checks passed."
    assert summary(found) == "Found 2 errors, 1 warning (1 fixable with --fix, 1 more with --unsafe-fixes)."
    assert summary(found[2:]) == "Found 1 warning."
    assert summary(found[1:2], fixed=3, undone=1, fixing=True) == "Fixed 3 findings; 1 error left (1 undone)."
