from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cutile_lint.sources import Source


@pytest.fixture
def write_rule(tmp_path: Path) -> Callable[..., Path]:
    """Writes a rule into ``tmp_path/rules/group`` and returns the rules folder."""

    def write(code: str, name: str, check: str | None = None, /, **changes: Any) -> Path:
        folder = tmp_path / "rules" / "group"
        folder.mkdir(parents=True, exist_ok=True)
        stem = name.replace("-", "_")
        keys = {
            "code": code,
            "name": name,
            "level": "error",
            "fix": "manual",
            "layer": "wrapper",
            "summary": "says it",
            **changes,
        }
        text = "".join(f"{key}: {value}\n" for key, value in keys.items() if value is not None)
        (folder / f"{stem}.yaml").write_text(text, encoding="utf-8")
        if check is not None:
            (folder / f"{stem}.py").write_text(textwrap.dedent(check), encoding="utf-8")
        return folder.parent

    return write


@pytest.fixture
def unit() -> Callable[..., Any]:
    """A kernel unit of which only name and files are known: ``unit("op", {"a.py": "x = 1"})``."""

    def make(name: str, files: dict[str, str | bytes]) -> Any:
        sources = [Source(Path("/tree", path), text.encode() if isinstance(text, str) else text) for path, text in files.items()]
        return SimpleNamespace(name=name, files=sources)

    return make
