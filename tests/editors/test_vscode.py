"""The extension for VS Code: compiled, tested against the server, packaged. `.ci/run` installs what it is built with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"


def npm(*arguments: str, **variables: str) -> str:
    command = shutil.which("npm")
    assert command, "npm is not installed"
    assert (EXTENSION / "node_modules").is_dir(), "run `npm ci` in editors/vscode, as .ci/run does"
    env = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    ran = subprocess.run([command, *arguments], cwd=EXTENSION, capture_output=True, text=True, env=env, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_its_client_code_works_with_the_server(tmp_path: Path) -> None:
    server = [sys.executable, "-m", "cutile_lint.cli.main", "server"]
    example = str(ROOT / "examples" / "faulty" / "skill")
    cache = str(tmp_path / "cache")
    told = npm("test", CUTILE_LINT_COMMAND=json.dumps(server), CUTILE_LINT_EXAMPLE=example, XDG_CACHE_HOME=cache)
    assert "# fail 0" in told or "fail 0" in told


def test_it_is_packaged_with_all_that_it_needs() -> None:
    npm("run", "package")
    with zipfile.ZipFile(EXTENSION / "cutile-lint.vsix") as package:
        names = set(package.namelist())
        assert {"extension/package.json", "extension/dist/extension.js", "extension.vsixmanifest"} <= names
        assert not [name for name in names if "node_modules" in name or name.endswith(".ts")]
        manifest = json.loads(package.read("extension/package.json"))
    assert f"extension/{manifest['main'].removeprefix('./')}" in names


def test_the_version_is_the_linter_s() -> None:
    from cutile_lint import __version__

    assert json.loads((EXTENSION / "package.json").read_text())["version"] == __version__
