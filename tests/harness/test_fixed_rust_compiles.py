"""Host Rust that compiled before a fix compiles after it: the export of every case, and of every faulty example.

Cases are sampled; ``CUTILE_LINT_HARNESS=all`` takes them all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.engine.cases import Case, Tree
from tests.harness.fixing import Fixer, fixed_cases, sample
from tests.rust_stubs.typecheck import build_stubs, type_check

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
    after, result = FIXER.run(case.tree, (case.rule,), case, unsafe=True)
    assert any(path.endswith(".rs") and text != case.tree[path] for path, text in after.items()), result.remaining
    assert before or not _errors(after, stub_dir, tmp_path / "after")
