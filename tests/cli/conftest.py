"""The command line over demo rules (``rules/``) and units of one wrapper and its ``.rs`` partner: no real rule matters."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

import cutile_lint.unit
from cutile_lint.cli.main import main
from cutile_lint.config import Settings
from cutile_lint.engine import registry
from cutile_lint.sources import Workspace

RULES = Path(__file__).parent / "rules"


@dataclass
class Result:
    status: int
    out: str
    err: str


def units(workspace: Workspace, paths: list[Path], settings: Settings) -> list[SimpleNamespace]:
    found = {}
    for path in paths:
        wrapper = path.with_suffix(".py")
        files = [source for source in map(workspace.source, (wrapper, path.with_suffix(".rs"))) if source]
        if files:
            found[wrapper] = SimpleNamespace(name=path.stem, files=files)
    return list(found.values())


class Plan:
    """All units in one batch, and none left over."""

    def __init__(self, workspace: Workspace, paths: list[Path], settings: Settings) -> None:
        self.covered: set[Path] = set()
        self._units = units(workspace, paths, settings)

    def __len__(self) -> int:
        return 2

    def units(self, number: int) -> list[SimpleNamespace]:
        return self._units if number == 0 else []


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Result]:
    """``lint("--fix", "a.py", stdin=b"…")`` runs in a folder of its own; gives status, standard output and error."""
    monkeypatch.setattr(cutile_lint.unit, "Plan", Plan)
    demo = registry.folder_rules(RULES)
    monkeypatch.setattr(registry, "builtin_rules", lambda: demo)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        try:
            status = main(arguments)
        except SystemExit as end:
            status = int(end.code or 0)
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Result(status, out.decode(), err.decode())

    return run
