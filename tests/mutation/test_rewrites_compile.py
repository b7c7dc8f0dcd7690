"""Host Rust that compiled before a rewrite compiles after it: what the rewrites make is code that somebody could have written."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from tests.rust_stubs.typecheck import build_stubs, type_check

from .judge import REWRITES, mutate
from .rust import RUST
from .sources import sources

ALL = os.environ.get("CUTILE_LINT_HARNESS") == "all"
BASES = ("row_scale", "gemm", "batched")
PAIRS = [(base, name) for name in RUST for base in BASES if ALL or base == BASES[zlib.crc32(name.encode()) % 3]]


@pytest.fixture(scope="module")
def stub_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_stubs(tmp_path_factory.mktemp("rust_stubs"))


def test_there_are_rewrites_of_both_languages() -> None:
    assert len(RUST) > 25
    assert len(REWRITES) - len(RUST) > 50


@pytest.mark.parametrize(("base", "rewrite"), PAIRS)
def test_rewritten_base_compiles(base: str, rewrite: str, stub_dir: Path, tmp_path: Path) -> None:
    mutant = mutate(next(source for source in sources() if source.id == f"base-{base}"), rewrite)
    if mutant is None:
        return
    for path, text in mutant.tree.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    root = next(tmp_path.rglob("src/lib.rs"))
    done = type_check(root, stub_dir, tmp_path, warnings="allow")
    assert done.returncode == 0, done.stderr
