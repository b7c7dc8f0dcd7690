"""The snippet for Neovim in the real one, headless."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EDITOR = ROOT / "editors" / "neovim"


def nvim() -> str:
    found = shutil.which("nvim")
    assert found, "Neovim is not installed; .ci/run installs Debian's package"
    return found


def environment(tmp_path: Path) -> dict[str, str]:
    home = {
        name: str(tmp_path / name.lower()) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    }
    return {**os.environ, **home, "PYTHONPATH": str(ROOT)}


def fixed_by_the_command(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "cutile_lint.cli.main", "--no-cache", "--fix", "--exit-zero", *arguments, str(folder)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120)


@pytest.mark.parametrize("way", ["setup", "enable"])
def test_diagnostics_quick_fix_and_fix_all(tmp_path: Path, way: str) -> None:
    work, expected = tmp_path / "work", tmp_path / "expected"
    for target in (work, expected):
        shutil.copytree(ROOT / "examples" / "faulty" / "skill", target)
    (work / ".git").mkdir()  # the workspace is this folder, and not what there is around the test
    op = work / "scale_residual"
    (op / "reference").mkdir()
    (op / "reference" / "reference.mlir").write_text("cuda_tile.module @m {\n  cuda_tile.entry @k( {\n")
    out = tmp_path / "out.json"
    config = tmp_path / "config"
    (config / "lua").mkdir(parents=True)
    shutil.copy(EDITOR / "cutile-lint.lua", config / "lua")
    shutil.copytree(EDITOR / "lsp", config / "lsp")
    given = {
        "way": way,
        "config": str(config),
        "folder": str(op),
        "cmd": [sys.executable, "-m", "cutile_lint.cli.main", "server"],
        "wrapper": str(op / "wrapper.py"),
        "ffi": str(op / "ffi.rs"),
        "code": "CTL202",
        "title": "CTL202: apply",
        "out": str(out),
    }
    env = {**environment(tmp_path), "CUTILE_LINT_TEST": json.dumps(given)}
    command = [nvim(), "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", str(Path(__file__).with_name("neovim.lua"))]
    ran = subprocess.run(command, capture_output=True, text=True, env=env, timeout=240, stdin=subprocess.DEVNULL)
    assert out.exists(), ran.stderr
    told = json.loads(out.read_text())
    assert not told.get("problem"), (told["problem"], ran.stderr)
    assert "CTL101" in told["before"]["wrapper"] and "CTL202" in told["before"]["ffi"]
    fixed_by_the_command(expected, "--select", "CTL202")
    assert told["quick"] == (expected / "scale_residual" / "ffi.rs").read_text().splitlines()
    fixed_by_the_command(expected)
    assert way == "enable" or told["applied"] is True
    assert told["fixed"] == (expected / "scale_residual" / "wrapper.py").read_text().splitlines()
    assert "CTL101" not in told["after"]["wrapper"] and "CTL202" not in told["after"]["ffi"]
    read = dict.fromkeys(("cutile-lint.toml", "pyproject.toml", "Cargo.toml", "analysis.json"), True)
    detected = {"new.mlir": "mlir", "reference/reference.mlir": "mlir"}
    assert told["attached"] == {**read, "other.toml": False, "other.json": False, **detected}
    assert told["tile_ir"] == ["CTL900"] and told["others"] == "other"
    assert not told["messages"]
    assert (op / "wrapper.py").read_text() == (ROOT / "examples/faulty/skill/scale_residual/wrapper.py").read_text()


def test_both_snippets_are_valid_lua(tmp_path: Path) -> None:
    for path in (EDITOR / "cutile-lint.lua", EDITOR / "lsp" / "cutile_lint.lua"):
        command = [
            nvim(),
            "--headless",
            "-u",
            "NONE",
            "-i",
            "NONE",
            "-n",
            "-c",
            f"lua assert(loadfile({json.dumps(str(path))}))",
            "-c",
            "qall!",
        ]
        ran = subprocess.run(command, capture_output=True, text=True, env=environment(tmp_path), timeout=60)
        assert ran.returncode == 0 and not ran.stderr.strip(), ran.stderr
