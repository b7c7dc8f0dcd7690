"""Each output format and the options around it, run as a program on a real op."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]


def lint(cwd: Path, *arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "cutile_lint.cli.main", "--no-cache", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    return subprocess.run(command, cwd=cwd, env=environment, input=stdin, capture_output=True, timeout=60)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a faulty op in a folder whose name has to be escaped."""
    folder = tmp_path / "repo"
    shutil.copytree(ROOT / "rules" / "bases" / "row_scale", folder / "a,b: %ö|`c")
    (folder / ".git").mkdir()
    wrapper = next(folder.glob("*/row_scale.py"))
    text = wrapper.read_text(encoding="utf-8").replace("y = torch.empty_like(x)\n", "y = torch.zeros_like(x)\n")
    wrapper.write_text(text, encoding="utf-8")
    return folder


OP = "a,b: %ö|`c"


def test_paths_are_relative_to_the_root_wherever_the_run_starts(repository: Path) -> None:
    for cwd in (repository, repository / OP):
        sarif = json.loads(lint(cwd, "--output-format", "sarif", ".").stdout)
        location = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        assert location == {"uri": "a%2Cb%3A%20%25%C3%B6%7C%60c/row_scale.py", "uriBaseId": "ROOT"}
        gitlab = json.loads(lint(cwd, "--output-format", "gitlab", ".").stdout)
        assert gitlab[0]["location"]["path"] == f"{OP}/row_scale.py"
        github = lint(cwd, "--output-format", "github", ".").stdout.decode()
        assert github.startswith("::error title=CTL101 fill-in-kernel-fn,file=a%2Cb%3A %25ö|`c/row_scale.py,line=")
        markdown = lint(cwd, "--output-format", "markdown", ".").stdout.decode()
        assert f"### ``{OP}/row_scale.py``" in markdown and "- **error** CTL101 fill-in-kernel-fn at " in markdown


def test_gitlab_is_what_gitlab_takes_and_names_stay_when_lines_move(repository: Path) -> None:
    schema = {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["description", "check_name", "fingerprint", "severity", "location"],
            "properties": {
                "description": {"type": "string", "minLength": 1},
                "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
                "location": {"type": "object", "required": ["path", "positions"]},
            },
        },
    }
    first = json.loads(lint(repository, "--output-format", "gitlab").stdout)
    jsonschema.validate(first, schema)
    wrapper = repository / OP / "row_scale.py"
    wrapper.write_text("# one\n# two\n" + wrapper.read_text(encoding="utf-8"), encoding="utf-8")
    second = json.loads(lint(repository, "--output-format", "gitlab").stdout)
    assert [item["fingerprint"] for item in first] == [item["fingerprint"] for item in second]
    assert first[0]["location"]["positions"] != second[0]["location"]["positions"]


def test_json_lines_are_the_array_line_by_line(repository: Path) -> None:
    array = json.loads(lint(repository, "--output-format", "json").stdout)
    lines = lint(repository, "--output-format", "json-lines").stdout.decode().splitlines()
    assert array and [json.loads(line) for line in lines] == array
    assert array[0]["filename"] == str(repository / OP / "row_scale.py")


@pytest.mark.parametrize("output_format", ["full", "concise", "json", "json-lines", "sarif", "github", "gitlab", "markdown"])
def test_a_report_goes_to_its_file_and_nothing_else_does(repository: Path, output_format: str) -> None:
    shown = lint(repository, "--output-format", output_format)
    kept = lint(repository, "--output-format", output_format, "--output-file", "report")
    assert kept.returncode == shown.returncode == 1
    report = (repository / "report").read_bytes()
    assert report and b"\x1b" not in report and shown.stdout.startswith(report)
    if output_format in ("full", "concise"):
        assert kept.stdout == shown.stdout.removeprefix(report)
    else:
        assert kept.stdout == b"" and shown.stdout == report


def test_statistics_and_exit_codes(repository: Path) -> None:
    counted = lint(repository, "--statistics", "--exit-zero")
    assert (counted.returncode, counted.stdout.splitlines()[0]) == (0, b"1  CTL101  [*] fill-in-kernel-fn")
    machine = lint(repository, "--statistics", "--output-format", "json")
    assert json.loads(machine.stdout) and machine.stderr == b"1  CTL101  [*] fill-in-kernel-fn\n"
    assert lint(repository, "--exit-zero", "gone.py").returncode == 2
    assert lint(repository, "--fix", "--exit-non-zero-on-fix").returncode == 1
    assert lint(repository, "--fix", "--exit-non-zero-on-fix").returncode == 0


def test_standard_input_reads_partners_from_disk(repository: Path) -> None:
    path = f"{OP}/row_scale.py"
    text = (repository / path).read_bytes()
    fixed = lint(repository, "--fix", "--stdin-filename", path, stdin=text)
    assert fixed.returncode == 0 and fixed.stdout == text.replace(b"zeros_like", b"empty_like")
    assert b"Fixed 1 finding" in fixed.stderr and (repository / path).read_bytes() == text
    seen = lint(repository, "-", "--stdin-filename", path, "--output-format", "json", stdin=text)
    assert [item["filename"] for item in json.loads(seen.stdout)] == [str(repository / path)]
    (repository / "cutile-lint.toml").write_text('extend-exclude = ["row_scale.py"]\n')
    crlf = text.replace(b"\n", b"\r\n")
    assert lint(repository, "--fix", "--stdin-filename", path, stdin=crlf).stdout == crlf
    broken = b"def f(:\r\n\xff"
    assert lint(repository, "--fix", "--stdin-filename", path, stdin=broken).stdout == broken


def test_the_address_of_rules_pages_is_in_every_format_that_has_a_place_for_it(repository: Path) -> None:
    (repository / "cutile-lint.toml").write_text('docs-url = "https://docs.test/rules/{code}/#{name}"\n')
    url = "https://docs.test/rules/CTL101/#fill-in-kernel-fn"
    assert json.loads(lint(repository, "--output-format", "json").stdout)[0]["url"] == url
    (rule,) = json.loads(lint(repository, "--output-format", "sarif").stdout)["runs"][0]["tool"]["driver"]["rules"]
    assert rule["helpUri"] == url and rule["shortDescription"]["text"].startswith("a device fill")
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert f"[CTL101]({url})" in lint(repository, "--output-format", "markdown").stdout.decode()
    (repository / "cutile-lint.toml").write_text('docs-url = "docs.test"\n')
    wrong = lint(repository)
    assert wrong.returncode == 2 and b"key `docs-url` takes an address with `{code}` or `{name}` in it" in wrong.stderr
