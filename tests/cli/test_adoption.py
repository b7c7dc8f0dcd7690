"""Taking the linter into a project that has findings: suppressions written for it, and the baseline."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    command = [sys.executable, "-m", "cutile_lint.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=120)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the examples that has findings in Python, in macro bodies and in functions of Rust."""
    return Path(shutil.copytree(ROOT / "examples" / "faulty", tmp_path / "project"))


def test_add_ignore_silences_everything_once(project: Path) -> None:
    shown = lint(project, "add-ignore", "--diff", ".")
    assert "+++ skill/scale_residual/wrapper.py" in shown.stdout and lint(project, ".").returncode == 1
    first = lint(project, "add-ignore", "--reason", "known since 1.2", ".")
    assert first.returncode == 0 and first.stderr.startswith("Silenced "), first.stderr
    texts = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert any(b"// cutile-lint: ignore[CTL2" in data and b"] known since 1.2" in data for data in texts.values())
    after = lint(project, "--output-format", "concise", ".")
    assert after.returncode == 0, after.stdout
    again = lint(project, "add-ignore", ".")
    assert again.stderr == "Silenced 0 findings in 0 files.\n"
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == texts


def test_add_ignore_keeps_to_the_selection(project: Path) -> None:
    assert lint(project, "add-ignore", "--select", "CTL301", ".").returncode == 0
    left = lint(project, "--output-format", "concise", ".").stdout
    assert "[CTL301]" not in left and "[CTL101]" in left
    assert lint(project, "add-ignore", "--reason", "a\nb", ".").returncode == 2
