"""The completion scripts: bash's is run, the others are looked at."""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from cutile_lint.cli.main import COMMANDS

Lint = Callable[..., "Result"]  # noqa: F821 - conftest's


@pytest.mark.parametrize("command", COMMANDS)
def test_every_commands_help_fits_a_screen(lint: Lint, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = lint(command, "--help")
    assert result.status == 0 and len(result.out.splitlines()) <= 40
    assert result.out.startswith(f"usage: cutile-lint {'[check]' if command == 'check' else command}")
    assert command in lint("--help").out


@pytest.mark.parametrize(
    ("line", "wanted", "unwanted"),
    [
        ("cutile-lint --fi", {"--fix"}, {"--diff"}),
        ("cutile-lint ad", {"add-ignore"}, {"baseline"}),
        ("cutile-lint add-ignore --r", {"--reason"}, {"--fix"}),
        ("cutile-lint --output-format sa", {"sarif"}, {"json"}),
        ("cutile-lint check --min-level ", {"info", "warning", "error"}, {"check"}),
        ("cutile-lint --select DEMO1", {"DEMO101"}, {"DEMO201"}),
        ("cutile-lint rule demo-f", {"demo-fill"}, {"demo-note"}),
        ("cutile-lint completion z", {"zsh"}, {"bash"}),
        ("cutile-lint some", {"some_file.py"}, {"check"}),
    ],
)
def test_bash(lint: Lint, line: str, wanted: set[str], unwanted: set[str]) -> None:
    Path("some_file.py").write_text("")
    Path("complete.bash").write_text(lint("completion", "bash").out)
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    script = f"source ./complete.bash; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _cutile_lint; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=20)
    found = set(done.stdout.split())
    assert done.stderr == "" and wanted <= found and not unwanted & found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_option_of_every_command_is_there(lint: Lint, shell: str) -> None:
    script = lint("completion", shell).out
    for command, module in COMMANDS.items():
        made: argparse.ArgumentParser = import_module(f"cutile_lint.cli.{module}").parser()
        assert command in script
        for action in made._actions:
            for name in action.option_strings:
                written = {"fish": rf"-l {name[2:]}\b" if name.startswith("--") else rf"-s {name[1:]}\b"}.get(
                    shell, re.escape(name)
                )
                assert re.search(written, script), (command, name)
    assert lint("completion", "tcsh").status == 2
