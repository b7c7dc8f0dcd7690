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


def test_a_closed_pipe_is_no_traceback(tmp_path: Path) -> None:
    command = f"{sys.executable} -m cutile_lint.cli.main rule --all | head -c 1 > /dev/null"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.stderr == ""
