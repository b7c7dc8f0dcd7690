"""Taking the linter into a project that has findings: suppressions written for it, and the baseline."""

from __future__ import annotations

import os
import re
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
    """A copy of an example that has findings in Python and Rust."""
    return Path(shutil.copytree(ROOT / "examples" / "faulty" / "skill", tmp_path / "project"))


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".cutile_lint_cache" not in path.parts}


def test_add_ignore_silences_everything_once(tmp_path: Path) -> None:
    project = Path(shutil.copytree(ROOT / "examples" / "faulty", tmp_path / "all"))
    shown = lint(project, "add-ignore", "--diff", ".")
    assert "+++ skill/scale_residual/wrapper.py" in shown.stdout and lint(project, ".").returncode == 1
    first = lint(project, "add-ignore", "--reason", "known since 1.2", ".")
    assert first.returncode == 0 and first.stderr.startswith("Silenced "), first.stderr
    texts = {path: path.read_bytes() for path in project.rglob("*") if path.is_file() and ".cutile_lint_cache" not in path.parts}
    assert any(b"// cutile-lint: ignore[CTL2" in data and b"] known since 1.2" in data for data in texts.values())
    after = lint(project, "--output-format", "concise", ".")
    assert after.returncode == 0, after.stdout
    again = lint(project, "add-ignore", ".")
    assert again.stderr == "Silenced 0 findings in 0 files.\n"
    assert {
        path: path.read_bytes() for path in project.rglob("*") if path.is_file() and ".cutile_lint_cache" not in path.parts
    } == texts


def test_add_ignore_keeps_to_the_selection(project: Path) -> None:
    assert lint(project, "add-ignore", "--select", "CTL301", ".").returncode == 0
    left = lint(project, "--output-format", "concise", ".").stdout
    assert "[CTL301]" not in left and "[CTL101]" in left
    assert lint(project, "add-ignore", "--reason", "a\nb", ".").returncode == 2


def test_a_baseline_passes_over_what_is_known_and_finds_what_is_new(project: Path) -> None:
    written = lint(project, "baseline", ".")
    assert written.returncode == 0 and written.stdout.startswith("cutile-lint-baseline.json: "), written.stderr
    assert '`baseline = "cutile-lint-baseline.json"` in the configuration' in written.stdout
    file = project / "cutile-lint-baseline.json"
    rows = file.read_text().splitlines()
    assert len(rows) > 5 and rows[1:-1] == sorted(rows[1:-1], key=lambda row: row.rstrip(",").partition('"code"'))
    assert lint(project, "baseline", ".").stdout.endswith("(0 added, 0 removed).\n") and file.read_text().splitlines() == rows
    assert lint(project, ".").returncode == 1
    known = lint(project, "--baseline", file.name, "--output-format", "json", ".")
    assert (known.returncode, known.stdout, known.stderr) == (0, "[]\n", "")

    wrapper = project / "scale_residual/wrapper.py"
    text = wrapper.read_text()
    moved = "# a line\n# more\n" + text.replace("torch.zeros_like(x)", "torch.zeros_like( x )")
    wrapper.write_text(moved)
    assert lint(project, "--baseline", file.name, ".").returncode == 0
    wrapper.write_text(moved.replace("residual.contiguous()", "residual.clone()"))
    new = lint(project, "--baseline", file.name, "--output-format", "concise", ".")
    assert new.returncode == 1
    assert "[CTL102] `residual.clone" in new.stdout and new.stdout.count("[CTL") == 1


def test_a_baseline_shrinks_with_what_is_mended(project: Path) -> None:
    (project / "cutile-lint.toml").write_text('baseline = "known.json"\n')
    missing = lint(project, ".")
    assert missing.returncode == 2 and "known.json: no such baseline; `cutile-lint baseline` writes one" in missing.stderr
    assert lint(project, "baseline").returncode == 0
    before = (project / "known.json").read_text().splitlines()
    wrapper = project / "scale_residual/wrapper.py"
    wrapper.write_text(wrapper.read_text().replace("torch.zeros_like(x)", "torch.empty_like(x)"))
    told = lint(project, ".")
    assert told.returncode == 0
    assert "known finding no longer there; `cutile-lint baseline` takes them out of known.json:" in told.stdout
    assert "scale_residual/wrapper.py: CTL101" in told.stdout
    assert "torch.zeros_like" not in lint(project, "tests").stdout  # not looked for there
    assert "CTL101" not in lint(project, "--select", "CTL3", ".").stdout
    assert "(0 added, 1 removed)" in lint(project, "baseline", "scale_residual").stdout
    assert re.fullmatch(r"All checks passed \(\d+ known from the baseline\)\.\n", lint(project, ".").stdout)
    after = (project / "known.json").read_text().splitlines()
    assert len(after) == len(before) - 1 and set(before) - set(after) <= {row for row in before if "zeros_like(x)" in row}
    assert lint(project, "--no-baseline", ".").returncode == 1


def test_known_findings_are_not_fixed(project: Path) -> None:
    assert lint(project, "baseline", "--output-file", "b.json").returncode == 0
    texts = {path: path.read_bytes() for path in project.rglob("*") if path.is_file() and ".cutile_lint_cache" not in path.parts}
    assert lint(project, "--fix", "--unsafe-fixes", "--baseline", "b.json").returncode == 0
    assert {
        path: path.read_bytes() for path in project.rglob("*") if path.is_file() and ".cutile_lint_cache" not in path.parts
    } == texts


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not a baseline: "),
        ("[]", "not a baseline of cutile-lint"),
        ('{"version": 9, "findings": []}', "a baseline of version 9"),
        ('{"version": 1, "findings": [{"code": 1}]}', "not an entry of a baseline"),
    ],
)
def test_a_broken_baseline_is_told(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "b.json").write_text(text)
    done = lint(tmp_path, "--baseline", "b.json", ".")
    assert done.returncode == 2 and f"b.json: {told}" in done.stderr and "Traceback" not in done.stderr
