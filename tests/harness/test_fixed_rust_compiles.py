"""Host Rust that compiled before a fix compiles after it: the export of every case, and of every faulty example.

Cases are sampled; ``CUTILE_LINT_HARNESS=all`` takes them all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cutile_lint.engine.cases import Case, Tree
from tests.harness.fixing import Fixer, fixed_cases, rules_of, sample
from tests.rust_stubs.typecheck import build_stubs, crate_around, type_check

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "faulty"
FIXER = Fixer()


def _edits_rust(case: Case) -> bool:
    for key in ("fixed", "unsafe_fixed"):
        wanted = case.data.get(key)
        edited = case.data.get("edits") if wanted == "base" else wanted
        if isinstance(edited, dict) and any(path.endswith(".rs") for path in edited):
            return "base" in case.data and not case.data.get("encode")
    return False


CASES = sample(filter(_edits_rust, fixed_cases()), 3)


@pytest.fixture(scope="module")
def stub_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_stubs(tmp_path_factory.mktemp("rust_stubs"))


def _errors(tree: Tree, stub_dir: Path, folder: Path) -> str:
    """What the compiler says about the crate in a tree; nothing when it takes it."""
    for path, text in tree.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    roots = sorted(folder.rglob("src/lib.rs"))
    assert len(roots) == 1, roots
    done = type_check(roots[0], stub_dir, folder, warnings="allow")
    return done.stderr if done.returncode else ""


def test_there_are_cases() -> None:
    assert len({case.rule.code for case in CASES}) > 10


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_fixed_case_compiles(case: Case, stub_dir: Path, tmp_path: Path) -> None:
    before = _errors(case.tree, stub_dir, tmp_path / "before")
    after, result = FIXER.run(case.tree, rules_of(case), case, unsafe=True)
    assert any(path.endswith(".rs") and text != case.tree[path] for path, text in after.items()), result.remaining
    assert before or not _errors(after, stub_dir, tmp_path / "after")


@pytest.mark.parametrize("level", ["--fix", "--unsafe-fixes"])
def test_fixed_examples_compile(level: str, stub_dir: Path, tmp_path: Path) -> None:
    """All faulty examples, fixed in place by the command."""
    tree = tmp_path / "faulty"
    shutil.copytree(EXAMPLES, tree)
    command = [sys.executable, "-m", "cutile_lint.cli.main", str(tree), "--fix", level, "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    exports = [path for path in EXAMPLES.rglob("*.rs") if path.read_bytes() != (tree / path.relative_to(EXAMPLES)).read_bytes()]
    assert exports, "the command changed no Rust"
    crates = sorted(tree.rglob("src/lib.rs"))
    for folder in sorted(path.parent for path in tree.glob("skill/*/ffi.rs")):
        (tmp_path / folder.name).mkdir()
        crates.append(crate_around(folder / "kernel.rs", folder / "ffi.rs", tmp_path / folder.name))
    assert len(crates) > 1
    for crate in crates:
        checked = type_check(crate, stub_dir, tmp_path, warnings="allow")
        assert checked.returncode == 0, f"{crate.relative_to(tmp_path)}\n{checked.stderr}"
