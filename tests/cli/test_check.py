"""``cutile-lint [check]`` as a user runs it: output, files and exit status."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

Lint = Callable[..., "Result"]  # noqa: F821 - conftest's
FAULTY = "x = zeros(1)\n"


def test_clean_files_pass(lint: Lint) -> None:
    Path("a.py").write_text("x = empty(1)\n")
    result = lint()
    assert (result.status, result.out, result.err) == (0, "All checks passed.\n", "")


def test_findings_are_shown_and_fail_the_run(lint: Lint) -> None:
    Path("a.py").write_text(FAULTY)
    result = lint("a.py")
    assert result.status == 1 and result.err == ""
    assert result.out == (
        "error[DEMO101] demo-fill: `zeros` is here\n"
        " --> a.py:1:5\n"
        "  |\n"
        "1 | x = zeros(1)\n"
        "  |     ^^^^^\n"
        "  |\n"
        "  help: write `empty`\n"
        "  fix: use `empty` (--fix)\n"
        "\n"
        "Found 1 error (1 fixable with --fix).\n"
    )
    assert lint("check", "a.py").out == result.out


def test_levels_decide_the_exit_status(lint: Lint) -> None:
    Path("a.py").write_text("# TODO\n")
    assert lint().status == 0 and "Found 1 info (1 fixable with --unsafe-fixes)." in lint().out
    assert lint("--min-level", "info").status == 1
    Path("cutile-lint.toml").write_text('severity = { DEMO201 = "warning" }\n')
    assert lint().status == 1
    assert lint("--min-level", "error").status == 0
    assert lint("--exit-zero").status == 0


def test_selection(lint: Lint) -> None:
    Path("a.py").write_text("x = zeros(1)  # TODO\n")

    def codes(*options: str) -> list[str]:
        return [finding["code"] for finding in json.loads(lint("--output-format", "json", *options).out)]

    assert codes() == ["DEMO101", "DEMO201"]
    assert codes("--select", "DEMO2") == ["DEMO201"]
    assert codes("--ignore", "demo-fill") == ["DEMO201"]
    assert codes("--ignore", "DEMO101,DEMO201") == []
    Path("cutile-lint.toml").write_text('select = ["DEMO2"]\n')
    assert codes() == ["DEMO201"]
    assert codes("--extend-select", "DEMO101") == ["DEMO101", "DEMO201"]
    Path("cutile-lint.toml").write_text('ignore = ["DEMO1"]\n[per-file-ignores]\n"a.py" = ["DEMO201"]\n')
    assert codes() == []
    assert codes("--select", "DEMO101") == ["DEMO101"]


def test_settings_hold_for_the_files_below_them(lint: Lint) -> None:
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "a.py").write_text(FAULTY)
    Path("two/cutile-lint.toml").write_text('ignore = ["DEMO1"]\n')
    assert lint("--output-format", "concise").out.splitlines()[0] == "one/a.py:1:5: error[DEMO101] `zeros` is here"
    assert "two/a.py" not in lint().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gone.py"], "gone.py: no such file or directory"),
        (["--select", "NOPE1"], "no rule is selected by `NOPE1`"),
        (["--select", "a b"], "holds `a b`, which is no rule code"),
        (["--min-level", "fatal"], "takes `info`, `warning` or `error`, not `'fatal'`"),
        (["--output-format", "xml"], "invalid choice: 'xml'"),
        (["--config", "gone.toml"], "gone.toml: no such file"),
        (["-j", "0"], "takes a number from 1"),
        (["--frobnicate"], "unrecognized arguments"),
        (["-", "a.py"], "`-` stands alone"),
        (["--stdin-filename", "b.py", "a.py"], "--stdin-filename names standard input"),
    ],
)
def test_usage_errors_exit_2(lint: Lint, arguments: list[str], told: str) -> None:
    Path("a.py").write_text("")
    result = lint(*arguments)
    assert result.status == 2 and told in result.err and "Traceback" not in result.err


def test_configuration_errors_name_the_file(lint: Lint) -> None:
    Path("a.py").write_text("")
    Path("pyproject.toml").write_text("[tool.cutile-lint]\nselekt = []\n")
    result = lint()
    assert result.status == 2 and f"{Path.cwd()}/pyproject.toml: unknown key `selekt`; did you mean `select`?" in result.err
    Path("pyproject.toml").write_text('[tool.cutile-lint]\nseverity = { DEMO999 = "info" }\n')
    assert "pyproject.toml: `severity`: no rule is selected by `DEMO999`" in lint().err


def test_errors_come_after_the_findings_and_exit_zero_does_not_hide_them(lint: Lint) -> None:
    Path("a.py").write_text("x = zeros(1)  # BOOM\n")
    result = lint("a.py", "gone.py", "--exit-zero")
    assert result.status == 2 and "DEMO101" in result.out
    assert "rule DEMO201 failed on `a`: RuntimeError: went off" in result.err
    assert "gone.py: no such file" in result.err and "Traceback" not in result.err


def test_fix_writes_and_says_what_it_did(lint: Lint) -> None:
    path = Path("a.py")
    path.write_bytes(b"\xef\xbb\xbfx = zeros(1)\r\ny = zeros(2)  # TODO\r\n")
    path.chmod(0o640)
    result = lint("--fix", "--select", "DEMO101")
    assert path.read_bytes() == b"\xef\xbb\xbfx = empty(1)\r\ny = empty(2)  # TODO\r\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert result.status == 0
    assert result.out == "Fixed 2 findings in 1 file:\n  a.py: 2 x DEMO101 demo-fill\nFixed 2 findings; none left.\n"
    assert lint("--fix", "--exit-non-zero-on-fix").status == 0
    path.write_text(FAULTY)
    assert lint("--fix", "--exit-non-zero-on-fix").status == 1


def test_unsafe_fixes_need_their_option(lint: Lint) -> None:
    Path("a.py").write_text("# TODO\n")
    assert lint("--fix").status == 0 and Path("a.py").read_text() == "# TODO\n"
    lint("--fix", "--unsafe-fixes")
    assert Path("a.py").read_text() == "# DONE\n"


def test_a_fix_that_breaks_the_file_is_undone_told_and_still_fails(lint: Lint) -> None:
    Path("a.py").write_text("x = zeros  # broken\ny = zeros(1)\n")
    result = lint("--fix")
    assert Path("a.py").read_text() == "x = zeros  # broken\ny = empty(1)\n"
    assert result.status == 1
    assert "undone: a.py:1:5: fix of DEMO101: the file no longer compiles (row 1: " in result.out
    assert result.out.endswith("Fixed 1 finding; 1 error left (1 undone).\n")


def test_diff_shows_and_writes_nothing(lint: Lint) -> None:
    Path("a.py").write_text("x = zeros(1)\ny = 2")
    result = lint("--diff")
    assert result.status == 1 and Path("a.py").read_text() == "x = zeros(1)\ny = 2"
    assert result.out == (
        "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n-x = zeros(1)\n+x = empty(1)\n y = 2\n\\ No newline at end of file\n"
    )
    assert "Would fix 1 finding in 1 file" in result.err
    Path("a.py").write_text("x = 1\n")
    assert (lint("--diff").status, lint("--diff").out) == (0, "")


def test_a_partner_outside_paths_is_fixed_unless_excluded(lint: Lint) -> None:
    Path("a.py").write_text("x = zeros(1)  # both\n")
    Path("a.rs").write_text("fn old() {}\n")
    Path("cutile-lint.toml").write_text('exclude = ["*.rs"]\n')
    result = lint("--fix", "a.py")
    assert result.status == 1 and "withheld: a.py:1:5: fix of DEMO101" in result.out and "a.rs` is excluded" in result.out
    assert Path("a.py").read_text() == "x = zeros(1)  # both\n" and Path("a.rs").read_text() == "fn old() {}\n"
    Path("cutile-lint.toml").unlink()
    assert lint("--fix", "a.py").status == 0
    assert Path("a.py").read_text() == "x = empty(1)  # both\n" and Path("a.rs").read_text() == "fn new() {}\n"


def test_excluded_files_are_not_checked_even_by_name(lint: Lint) -> None:
    Path("gen").mkdir()
    Path("gen/a.py").write_text(FAULTY)
    Path("cutile-lint.toml").write_text('extend-exclude = ["gen/"]\n')
    assert lint("gen/a.py").status == 0 and lint().status == 0
    assert lint("-", "--stdin-filename", "gen/a.py", stdin=FAULTY.encode()).status == 0


def test_standard_input(lint: Lint) -> None:
    Path("a.rs").write_text("fn old() {}\n")
    seen = lint("-", "--stdin-filename", "a.py", stdin=b"x = zeros(1)\r\n")
    assert seen.status == 1 and " --> a.py:1:5" in seen.out and not Path("a.py").exists()
    fixed = lint("--fix", "--stdin-filename", "a.py", stdin=b"x = zeros(1)\r\n")
    assert (fixed.status, fixed.out) == (0, "x = empty(1)\r\n") and "Fixed 1 finding" in fixed.err
    partner = lint("--fix", "-", "--stdin-filename", "a.py", stdin=b"x = zeros(1)  # both\n")
    assert partner.status == 1 and partner.out == "x = zeros(1)  # both\n" and "withheld" in partner.err
    assert Path("a.rs").read_text() == "fn old() {}\n"
    Path("cutile-lint.toml").write_text('exclude = ["a.py"]\n')
    excluded = lint("--fix", "-", "--stdin-filename", "a.py", stdin=b"x = zeros(1)\n")
    assert (excluded.status, excluded.out) == (0, "x = zeros(1)\n")


def test_bad_files_are_named_and_do_not_stop_the_others(lint: Lint) -> None:
    Path("bad.py").write_bytes(b"x = '\xe9'\n")
    Path("nul.py").write_bytes(b"x\0\n")
    Path("empty.py").write_bytes(b"")
    Path("a.py").write_text(FAULTY)
    Path("pipe.py").mkdir()
    result = lint("--output-format", "concise")
    assert result.status == 1 and result.err == ""
    assert result.out.splitlines() == [
        "a.py:1:5: error[DEMO101] `zeros` is here",
        "bad.py:1:1: info[CTL903] the file is not UTF-8: byte 0xe9 in row 1",
        "nul.py:1:1: info[CTL903] the file holds NUL bytes; it is not text",
        "Found 1 error, 2 info (1 fixable with --fix).",
    ]
    assert "CTL903" not in lint("--ignore", "CTL903").out
    assert lint("nul.py", "--select", "not-analysed", "--min-level", "info").status == 1
    Path("cutile-lint.toml").write_text('[per-file-ignores]\n"bad.py" = ["CTL9"]\n')
    assert "bad.py" not in lint().out


def test_file_names_that_are_not_text(lint: Lint) -> None:
    name = os.fsdecode(b"\xff.py")
    Path(name).write_text(FAULTY)
    assert lint("--output-format", "concise").out.startswith("\\udcff.py:1:5: error")
    for output_format in ("json", "sarif", "gitlab"):
        json.loads(lint("--output-format", output_format).out)
    for output_format in ("github", "markdown"):
        assert lint("--output-format", output_format).status == 1
    assert lint("--fix").status == 0 and Path(name).read_text() == "x = empty(1)\n"


def test_json_stays_json_while_fixing(lint: Lint) -> None:
    Path("a.py").write_text("x = zeros(1)  # TODO\n")
    result = lint("--fix", "--output-format", "json")
    assert [finding["code"] for finding in json.loads(result.out)] == ["DEMO201"]
    assert "Fixed 1 finding in 1 file" in result.err


def test_a_file_that_cannot_be_written_is_an_error(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text(FAULTY)
    Path("b.py").write_text(FAULTY)
    replace = os.replace

    def failing(source: str, target: str) -> None:
        if target.endswith("a.py"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    result = lint("--fix")
    assert result.status == 2 and "a.py: not fixed: No space left on device" in result.err
    assert Path("a.py").read_text() == FAULTY and Path("b.py").read_text() == "x = empty(1)\n"
    assert sorted(os.listdir()) == ["a.py", "b.py"]
    assert " --> a.py:1:5\n" in result.out
    assert result.out.endswith("Fixed 1 finding in 1 file:\n  b.py: DEMO101 demo-fill\nFixed 1 finding; 1 error left.\n")


def test_what_a_file_that_was_not_written_has_is_told_where_it_stands(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text with the fixes, in which it would stand elsewhere, is nowhere."""
    Path("a.py").write_text("x = zeros(1); y = zeros(2)  # TODO\n")
    monkeypatch.setattr(os, "replace", lambda source, target: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    result = lint("--fix", "--unsafe-fixes", "--output-format", "json")
    assert result.status == 2 and "Fixed" not in result.err
    assert [(finding["code"], finding["location"]["column"]) for finding in json.loads(result.out)] == [
        ("DEMO101", 5),
        ("DEMO101", 19),
        ("DEMO201", 31),
    ]


def test_a_read_only_file_keeps_its_findings_and_no_half_of_a_fix_is_written(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text("x = zeros(1)  # both\n")
    Path("a.rs").write_text("fn old() {}\n")
    Path("b.py").write_text(FAULTY)
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("a.rs") and access(path, mode))
    result = lint("--fix", "--output-format", "concise")
    assert (
        result.status == 2 and result.err == f"cutile-lint: error: {Path('a.rs').absolute()}: not fixed: the file is read-only\n"
    )
    assert result.out.splitlines() == [
        "a.py:1:5: error[DEMO101] `zeros` is here",
        "Fixed 1 finding in 1 file:",
        "  b.py: DEMO101 demo-fill",
        "withheld: a.py:1:5: fix of DEMO101: the file is read-only",
        "Fixed 1 finding; 1 error left.",
    ]
    assert (Path("a.py").read_text(), Path("a.rs").read_text()) == ("x = zeros(1)  # both\n", "fn old() {}\n")


def test_statistics_counts_by_rule(lint: Lint) -> None:
    Path("a.py").write_text("x = zeros(zeros(1))  # TODO\n")
    result = lint("--statistics")
    assert result.out.splitlines()[:2] == ["2  DEMO101  [*] demo-fill", "1  DEMO201  [*] demo-note"]


def test_output_file(lint: Lint) -> None:
    Path("a.py").write_text(FAULTY)
    result = lint("--output-format", "json", "--output-file", "out.json")
    assert result.status == 1 and result.out == ""
    assert json.loads(Path("out.json").read_text())[0]["code"] == "DEMO101"
    assert lint("--output-file", "no/folder.txt").status == 2


def test_colour_is_asked_for_or_left_out(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text(FAULTY)
    assert "\x1b" not in lint().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31merror[DEMO101]\x1b[0m" in lint().out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in lint().out


def test_rules_of_a_discovered_project_run_only_when_trusted(lint: Lint) -> None:
    rules = Path("rules/own")
    rules.mkdir(parents=True)
    (rules / "own.yaml").write_text("{code: OWN101, name: own-rule, level: error, fix: manual, layer: wrapper, summary: Own.}\n")
    (rules / "own.py").write_text("raise SystemError('ran')\n")
    Path("cutile-lint.toml").write_text('rule-paths = ["rules"]\n')
    Path("a.py").write_text("x = 1\n")
    result = lint("a.py")
    assert result.status == 0 and "`rule-paths` is not loaded without --trust-project-rules" in result.err
    trusted = lint("a.py", "--trust-project-rules")
    assert trusted.status == 2 and "OWN101" in trusted.err and "ran" in trusted.err


def test_nothing_to_check_is_said(lint: Lint) -> None:
    result = lint()
    assert result.status == 0 and "files found" in result.err


def test_names_with_escapes_stay_harmless(lint: Lint) -> None:
    Path("a\x1b[31m\n::error::x.py").write_text(FAULTY)
    for output_format in ("full", "concise", "github", "markdown"):
        out = lint("--output-format", output_format).out
        assert "\x1b" not in out and not any(line.startswith("::error::") for line in out.splitlines())


def test_a_run_that_failed_does_not_say_that_all_is_well(lint: Lint) -> None:
    result = lint("nowhere.py")
    assert (result.status, result.out) == (2, "")
    assert "no such file" in result.err


def test_quiet_says_findings_and_errors_only(lint: Lint) -> None:
    Path("a.py").write_text("x = zeros(1)\n")
    found = lint("-q", "--output-format", "concise", "a.py")
    assert found.status == 1 and found.out == "a.py:1:5: error[DEMO101] `zeros` is here\n" and found.err == ""
    assert lint("--quiet", "--statistics", "a.py").out == "1  DEMO101  [*] demo-fill\n"
    fixed = lint("--quiet", "--fix", "a.py")
    assert (fixed.status, fixed.out, fixed.err) == (0, "", "")
    assert (lint("-q").status, lint("-q").out) == (0, "")
    gone = lint("-q", "gone.py")
    assert gone.status == 2 and gone.out == "" and "gone.py: no such file or directory" in gone.err
    Path("empty").mkdir()
    assert lint("-q", "empty").err == ""


def test_color_is_chosen_by_option_before_the_environment(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text("x = zeros(1)\n")
    assert "\x1b[" not in lint("a.py").out and "\x1b[" in lint("--color", "always", "a.py").out
    assert "\x1b[" not in lint("a.py").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" in lint("--color=always", "a.py").out and "\x1b[" not in lint("a.py").out
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" not in lint("--color", "never", "a.py").out
    assert "\x1b[" in lint("rule", "DEMO101", "--color", "always").out
    assert lint("--color", "sometimes", "a.py").status == 2
