"""What is passed over after a look at its bytes has nothing to say: parsed all the same, it gives no more."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutile_lint.config import Settings
from cutile_lint.engine.cases import Case, check_case, load_base, load_cases
from cutile_lint.engine.registry import builtin_rules
from cutile_lint.engine.rule_docs import load_doc
from cutile_lint.fixes.case_runner import MemoryRunner
from cutile_lint.frontends import syntax
from cutile_lint.sources import Workspace
from cutile_lint.unit.linking.layout import Layout
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.runs import module_machine, registrations
from cutile_lint.unit.suite import backward, hidden
from cutile_lint.unit.suite.questions import OpSuite

ROOT = Path(__file__).resolve().parents[2]
RULES = builtin_rules()
CASES = [case for info in RULES for case in load_cases(load_doc(info))]
#: rules that look at texts of tests before they run them
OF_TESTS = ("backward-test-not-skipped", "backend-not-tested", "hidden-failure")
MARKERS = [name for role in ("autotune-launch", "bind-kernel-function-cffi") for name in Settings().names(role)]


def trees() -> Iterator[dict[Path, bytes]]:
    """Every tree of files that there is: the examples, the rules' bases, and their cases (the files that a case changes)."""
    for folder in (ROOT / "examples").iterdir():
        yield {path: path.read_bytes() for path in folder.rglob("*") if path.suffix in (".py", ".rs", ".toml")}
    bases = [load_base(folder.name) for folder in (ROOT / "rules" / "bases").iterdir()]
    for tree in (*bases, *(case.tree for case in CASES)):
        yield {Path("/screened", path): text.encode() for path, text in tree.items()}


@functools.cache
def passed_over() -> dict[bytes, tuple[Path, Workspace]]:
    """The Python texts that are no wrapper's, each once, with the files around it. Tests are none by their name, the runtime by its definitions."""
    found: dict[bytes, tuple[Path, Workspace]] = {}
    for files in trees():
        workspace = Workspace(files)
        layout = Layout(workspace, files, MARKERS)
        for path, data in files.items():
            told = path.name.startswith(("test_", "conftest")) or path.stem.endswith("_test")
            runtime = b"ffi.dlopen(" in data or any(f"def {name}(".encode() in data for name in (*MARKERS, "register_impl"))
            if path.suffix == ".py" and data not in found and not told and not runtime and not layout.is_wrapper(path):
                found[data] = (path, workspace)
    return found


def test_a_file_that_is_passed_over_has_no_op() -> None:
    assert len(passed_over()) > 40
    for path, workspace in passed_over().values():
        program = Program(workspace)
        module = program.module(path)
        assert module is not None
        _, scope = module_machine(program, path)
        own = [one for one in registrations(scope, program) if one.closure.scope.source.path == path]
        assert not [one for one in own if one.backend in ("cutile-rs", "")], path
        called = {
            node.func.name if isinstance(node.func, syntax.Attr) else getattr(node.func, "id", "")
            for node in module.nodes(syntax.Call)
        }
        assert called.isdisjoint(MARKERS), path


@pytest.mark.parametrize("case", [case for case in CASES if case.rule.name in OF_TESTS], ids=lambda case: case.id)
def test_tests_that_are_passed_over_hide_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    everything, selecting = re.compile(b""), OpSuite.selecting
    monkeypatch.setattr(OpSuite, "may_select", lambda suite, path: True)
    monkeypatch.setattr(OpSuite, "selecting", lambda suite, path, suspect: selecting(suite, path, everything))
    monkeypatch.setattr(backward, "_suspicious", lambda data: True)
    monkeypatch.setattr(hidden, "_SUSPECT", everything)
    assert check_case(case, MemoryRunner(), RULES) == []
