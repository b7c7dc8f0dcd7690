"""The main job, as a user runs it, on the examples: clean ports are silent, faulty ones show what was planted, --fix mends what is safe."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLES = Path(__file__).parents[2] / "examples"
FAULTS = tomllib.loads((EXAMPLES / "faulty" / "FAULTS.toml").read_text(encoding="utf-8"))["fault"]


def cutile_lint(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cutile_lint.cli.main", *map(str, arguments), "--no-cache"]
    return subprocess.run(command, capture_output=True, text=True, cwd=EXAMPLES.parent, check=False)


def findings(tree: Path) -> list[dict]:
    result = cutile_lint(tree, "--output-format", "json")
    assert result.stderr == ""
    return json.loads(result.stdout)


def fix_level(finding: dict) -> str:
    return finding["fix"]["applicability"] if finding["fix"] else "manual"


def lines_of(tree: Path, fault: dict) -> set[tuple[str, int]]:
    """The rows a planted fault may be reported on."""
    rows = set()
    places = [(fault["file"], fault["text"]), *((one["file"], one["text"]) for one in fault.get("also", []))]
    for name, text in places:
        content = (tree / name).read_text(encoding="utf-8")
        first = content[: content.index(text)].count("\n") + 1
        rows.update((name, first + offset) for offset in range(text.count("\n") + 1))
    return rows


@pytest.fixture(scope="module")
def reported() -> list[dict]:
    return findings(EXAMPLES / "faulty")


def test_clean_ports_have_nothing_to_fix() -> None:
    result = cutile_lint(EXAMPLES / "clean")
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, "All checks passed.", "")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault['code']}-{Path(fault['file']).name}")
def test_every_planted_fault_is_shown_with_its_fix_level(fault: dict, reported: list[dict]) -> None:
    rows = lines_of(EXAMPLES / "faulty", fault)
    here = [
        finding
        for finding in reported
        if finding["code"] == fault["code"]
        and any(
            (str(Path(finding["filename"]).relative_to(EXAMPLES / "faulty")), row) in rows for row in [finding["location"]["row"]]
        )
    ]
    assert here, f"{fault['code']} is not reported at {fault['text']!r}"
    assert fault["fix"] in {fix_level(finding) for finding in here}


def test_fixing_leaves_only_what_takes_a_person(tmp_path: Path, reported: list[dict]) -> None:
    tree = tmp_path / "faulty"
    shutil.copytree(EXAMPLES / "faulty", tree)
    result = cutile_lint(tree, "--fix")
    assert result.returncode == 1, "manual and unsafe findings are left"
    left = findings(tree)
    assert left
    assert {fix_level(finding) for finding in left} <= {"unsafe", "manual"}
    assert len(left) <= sum(fix_level(finding) != "safe" for finding in reported)
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    cutile_lint(tree, "--fix")
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before
