"""Help, version, rule pages, and what start-up costs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cutile_lint import __version__

ROOT = Path(__file__).parents[2]
Lint = Callable[..., "Result"]  # noqa: F821 - conftest's


def _python(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, **options)  # type: ignore[call-overload]


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["rule", "--help"]])
def test_help_fits_a_screen(lint: Lint, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = lint(*arguments)
    assert result.status == 0 and len(result.out.splitlines()) <= 40


def test_version(lint: Lint) -> None:
    assert lint("--version").out == f"cutile-lint {__version__}\n"


def test_rule_pages(lint: Lint) -> None:
    page = lint("rule", "DEMO101").out
    assert page.startswith("DEMO101 demo-fill\n`zeros` where `empty` would do.\n\nlevel: error; fix: --fix; layer: wrapper\n")
    assert "  - one thing\n  - another\n" in page and "\n    x = zeros(1)   # as it is\n" in page
    assert max(map(len, page.splitlines())) <= 80
    assert lint("rule", "demo-fill").out == page
    listing = lint("rule", "--all").out
    assert "DEMO101 demo-fill (error, fix: safe)\n    `zeros` where" in listing and "DEMO201" in listing
    assert lint("rule").status == 2
    unknown = lint("rule", "DEMO11")
    assert unknown.status == 2 and "did you mean" in unknown.err


def test_starting_imports_nothing_heavy() -> None:
    code = "import cutile_lint.cli.main, cutile_lint.cli.check, sys; print(*sys.modules)"
    loaded = set(_python("-c", code).stdout.split())
    heavy = {
        "libcst",
        "tree_sitter",
        "yaml",
        "rich",
        "pathspec",
        "ruff",
        "difflib",
        "json",
        "tomllib",
        "subprocess",
        "hashlib",
    }
    assert loaded and not loaded & heavy


@pytest.mark.parametrize("arguments", [["--help"], ["rule", "--all"], ["check", "."]])
def test_a_closed_pipe_is_no_traceback(tmp_path: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    (tmp_path / "a.py").write_text("x = 1\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "cutile_lint.cli.main", *arguments]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment)
    os.close(writer)
    assert done.stderr == ""


def test_an_interrupt_is_one_line(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    Path("a.py").write_text("x = zeros(1)\n")
    monkeypatch.setattr("cutile_lint.unit.Plan", interrupted)
    result = lint("--fix", "a.py")
    assert (result.status, result.out, result.err) == (130, "", "cutile-lint: interrupted\n")


def test_an_internal_error_is_told_without_a_traceback(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise RecursionError("too deep")

    Path("a.py").write_text("x = zeros(1)\n")
    monkeypatch.setattr("cutile_lint.unit.Plan", failing)
    result = lint("a.py")
    assert result.status == 2 and "internal error while reading the files: RecursionError: too deep" in result.err
    assert "Traceback" not in result.err
    monkeypatch.setenv("CUTILE_LINT_TRACEBACK", "1")
    assert "Traceback" in lint("a.py").err


def test_mistyped_options_and_commands_are_told_what_they_may_be(lint: Lint) -> None:
    assert "unrecognized arguments: --selct; did you mean `--select`?" in lint("--selct", "DEMO1", ".").err
    assert "did you mean `--output-format`?" in lint("checklist", "--outputformat=json", ".").err
    assert "did you mean `--all`?" in lint("rule", "--alll").err
    assert "chek: no such file or directory; did you mean `check`?" in lint("chek", ".").err
    assert "did you mean" not in lint("a/chek").err + lint(".", "chek").err + lint("--zzzzzz").err
