"""The case harness itself: that it sets trees up as written, and that it notices every kind of deviation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from cutile_lint.engine.cases import CaseError, apply_edits, check_case, load_base, load_cases, locate, make_case
from cutile_lint.engine.registry import folder_rules
from cutile_lint.engine.rule_docs import load_doc
from cutile_lint.engine.rule_index import RuleFileError
from cutile_lint.fixes.case_runner import MemoryRunner

#: finds `zeros(` in Python files; the fix makes it `empty(`
CHECK = """
from cutile_lint.findings import Applicability, Edit, Finding, Fix, Related
from cutile_lint.sources import Place, Span

def check(unit):
    for source in unit.files:
        start = source.data.find(b"zeros(")
        while source.is_python and start >= 0:
            place = Place(source, Span(start, start + 5))
            safe = Applicability.UNSAFE if b"unsafe" in source.data else Applicability.SAFE
            fix = Fix("empty", (Edit(source, start, start + 5, "empty"),), safe)
            yield Finding(place, "`zeros` fills", help="use `empty`", fix=fix, related=(Related(place, "here"),))
            start = source.data.find(b"zeros(", start + 1)
"""


class Unit:
    def __init__(self, name: str, files: list[Any]) -> None:
        self.name, self.files = name, files


def load(workspace: Any, paths: Sequence[Path], settings: Any) -> list[Unit]:
    """All files as one unit."""
    return [Unit("op", [workspace.source(path) for path in paths])]


@pytest.fixture
def outcome(write_rule):
    """What the harness says about one case."""

    def check(data: dict[str, Any], valid: bool = False, source: str = CHECK) -> list[str]:
        root = write_rule("XYZ001", "zeros", source)
        (info,) = folder_rules(root)
        case = make_case(info, {"name": "case", **data}, valid=valid)
        return check_case(case, MemoryRunner(load), (info,))

    return check


FILES = {"files": {"a.py": "out = zeros(n)\nother = ones(n)\n", "ffi.rs": "fn zeros() {}\n"}}
FIXED = {"a.py": [["zeros", "empty"]]}
AT = {"at": "zeros", "file": "a.py"}


def test_a_case_that_holds_has_no_problem(outcome) -> None:
    expected = {
        **AT,
        "message": "fills",
        "help": "empty",
        "level": "error",
        "fix": "safe",
        "related": [{**AT, "message": "here"}],
    }
    assert outcome({**FILES, "findings": [expected], "fixed": FIXED}) == []
    assert outcome({"files": {"a.py": "out = empty(n)\n"}}, valid=True) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"findings": []}, "the case expects no finding"),
        ({"findings": [{"at": "ones"}]}, "no finding at 'ones' in a.py"),
        ({"findings": [AT, {"at": "other"}]}, "no finding at 'other' in a.py"),
        ({"findings": [{**AT, "message": "copies"}]}, "the message is '`zeros` fills'; 'copies' is not in it"),
        ({"findings": [{**AT, "help": "full"}]}, "the help is 'use `empty`'"),
        ({"findings": [{**AT, "level": "info"}]}, "the level is error, not info"),
        ({"findings": [{**AT, "fix": "unsafe"}]}, "the fix is safe, not unsafe"),
        ({"findings": [{**AT, "related": [{"at": "ones"}]}]}, "no related place 'ones' in a.py"),
        ({"fixed": "unchanged"}, "`fixed`: a.py is not as expected"),
        ({"fixed": {"a.py": "out = empty(n)\n"}}, " out = empty(n)\n+other = ones(n)\n"),
        (
            {"files": {"a.py": "zeros(zeros(1))"}, "findings": [{"at": "«zeros»(zeros"}], "fixed": {}},
            "not expected: a.py:1:7: XYZ001",
        ),
    ],
)
def test_every_deviation_is_told(outcome, change: dict[str, Any], problem: str) -> None:
    problems = outcome({**FILES, "findings": [AT], "fixed": FIXED, **change})
    assert problem in "\n".join(problems)


def test_a_finding_in_a_valid_case_is_told(outcome) -> None:
    assert outcome(FILES, valid=True) == ["not expected: a.py:1:7: XYZ001 `zeros` fills (at 'zeros')"]


def test_a_rule_that_fails_is_told(outcome) -> None:
    (problem,) = outcome(FILES, valid=True, source="def check(unit):\n    raise ValueError('no slot')\n")
    assert "rule XYZ001 failed on `op`: ValueError: no slot" in problem


def test_unsafe_fixes_are_made_only_where_they_are_expected(outcome) -> None:
    files = {"a.py": "out = zeros(n)  # unsafe\n"}
    findings = [{"at": "zeros", "fix": "unsafe"}]
    assert outcome({"files": files, "findings": findings, "fixed": "unchanged", "unsafe_fixed": FIXED}) == []


def test_a_fix_that_leaves_its_finding_is_told(outcome) -> None:
    source = CHECK.replace('start + 5, "empty")', 'start + 5, "zeros")')
    problems = outcome({**FILES, "findings": [AT], "fixed": "unchanged"}, source=source)
    assert "still there after the fix: a.py:1:7: XYZ001 `zeros` fills (at 'zeros')" in problems
    assert any(problem.endswith("a.py:1:7 was undone: it changes nothing") for problem in problems)


def test_line_endings_and_byte_order_mark_are_put_on_and_kept_by_the_fix(outcome) -> None:
    files = {"a.py": "n = 'größe'\nout = (\n    zeros(n)\n)\n"}
    case = {"files": files, "encode": ["crlf", "bom"], "findings": [{"at": "(\n    «zeros»(n)"}], "fixed": FIXED}
    assert outcome(case) == []


def test_other_rules_are_asked_only_when_the_case_says_so(write_rule) -> None:
    write_rule("XYZ002", "ones", CHECK.replace("zeros(", "ones(").replace("start + 5", "start + 4"))
    root = write_rule("XYZ001", "zeros", CHECK)
    infos = folder_rules(root)
    data = {"name": "case", "files": {"a.py": "ones(n)\n"}}
    assert check_case(make_case(infos[0], data, valid=True), MemoryRunner(load), infos) == []
    (problem,) = check_case(make_case(infos[0], {**data, "only": True}, valid=True), MemoryRunner(load), infos)
    assert problem.startswith("another rule's finding: a.py:1:1: XYZ002")


def test_options_are_the_configuration_and_paths_choose_the_files(outcome) -> None:
    assert outcome({**FILES, "options": {"ignore": ["XYZ001"]}}, valid=True) == []
    tree = {"files": {"a.py": "zeros(n)\n", "sub/b.py": "ones(n)\n"}}
    assert outcome({**tree, "paths": ["sub"]}, valid=True) == []
    assert outcome({**tree, "paths": ["sub", "a.py"]}, valid=True) != []


def test_a_tree_is_the_base_with_files_added_removed_renamed_and_edited(write_rule) -> None:
    root = write_rule("XYZ001", "zeros", CHECK)
    (root / "bases" / "small" / "sub").mkdir(parents=True)
    (root / "bases" / "small" / "a.py").write_bytes(b"one\r\n")
    (root / "bases" / "small" / "sub" / "b.py").write_text("two\n", encoding="utf-8")
    (root / "bases" / "small" / "c.py").write_text("three\n", encoding="utf-8")
    data = {
        "name": "case",
        "base": "small",
        "remove": ["c.py"],
        "rename": {"sub/b.py": "d.py"},
        "add": {"e.py": "five\n"},
        "edits": {"a.py": [["one", "1"], ["1", "uno"]], "e.py": [["five", "5"]]},
    }
    case = make_case(folder_rules(root)[0], data, valid=True)
    assert case.clean == {"a.py": "one\r\n", "d.py": "two\n", "e.py": "five\n"}
    assert case.tree == {"a.py": "uno\r\n", "d.py": "two\n", "e.py": "5\n"}


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({"a.py": [["x", "y"]]}, "'x' occurs 0 times in a.py; once is expected"),
        ({"a.py": [["n", "y"]]}, "'n' occurs 2 times in a.py"),
        ({"b.py": [["n", "y"]]}, "there is no file b.py; there are a.py"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(edits: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        apply_edits({"a.py": "n + n"}, edits, "case")


def test_a_missing_base_is_named() -> None:
    with pytest.raises(CaseError, match="there is no base `nowhere`"):
        load_base("nowhere")


@pytest.mark.parametrize(
    ("at", "expected"),
    [("é(", (2, 5)), ("f(«é(1)»)", (2, 7)), ("«f»(é", (0, 1))],
)
def test_places_are_found_in_bytes(at: str, expected: tuple[int, int]) -> None:
    path, span = locate({"a.py": "f(é(1)); é"}, {"at": at})
    assert (path, (span.start, span.end)) == ("a.py", expected)


def test_an_ambiguous_place_is_refused() -> None:
    with pytest.raises(CaseError, match=r"'n' occurs 2 times in a\.py, b\.py; once is expected"):
        locate({"a.py": "n", "b.py": "n"}, {"at": "n"})


@pytest.mark.parametrize("name", ["row_scale", "gemm", "batched"])
def test_the_bases_are_complete_ops(name: str) -> None:
    tree = load_base(name)
    assert {"__init__.py", "ffi_util.rs", f"{name}.py", f"{name}_kernel/ffi.rs", f"{name}_kernel/kernel.rs"} < set(tree)
    assert {"cutile_kernels/Cargo.toml", "cutile_kernels/src/lib.rs"} < set(tree)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"wat": "typo"}, "the rule has an unknown key `wat`"),
        ({"valid": "none"}, "`valid` must be a list of mappings"),
        ({"why": ["a"]}, "`why` must be a text"),
        ({"leaves_alone": [1]}, "`leaves_alone` must be a list of texts"),
        ({"valid": [{"files": {}}]}, "a case has no name"),
        ({"valid": [{"name": "a"}]}, "case `a` must have either `files` or `base`"),
        ({"valid": [{"name": "a", "files": {}, "findings": []}]}, "case `a` has an unknown key `findings`"),
        ({"invalid": [{"name": "a", "files": {}, "finding": []}]}, "case `a` has an unknown key `finding`"),
        ({"invalid": [{"name": "a", "files": {}, "findings": [{"an": "x"}]}]}, "a finding of case `a` has an unknown key `an`"),
        (
            {"invalid": [{"name": "a", "files": {}, "findings": [{"at": "x", "related": [{"to": 1}]}]}]},
            "a related place of case `a` has an unknown key `to`",
        ),
    ],
)
def test_a_documentation_file_is_read_strictly(write_rule, data: dict[str, Any], message: str) -> None:
    root = write_rule("XYZ001", "zeros", CHECK)
    (info,) = folder_rules(root)
    info.yaml_path.write_text(info.yaml_path.read_text(encoding="utf-8") + yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(RuleFileError) as error:
        load_doc(info)
    assert message in str(error.value)


def test_a_documentation_file_is_read_in_full(write_rule) -> None:
    root = write_rule("XYZ001", "zeros", CHECK)
    (info,) = folder_rules(root)
    text = (
        "what: |\n  Two\n  lines.\nleaves_alone: [a, b]\nvalid: [{name: v, files: {a.py: ''}}]\ninvalid: [{name: i, files: {}}]\n"
    )
    info.yaml_path.write_text(info.yaml_path.read_text(encoding="utf-8") + text, encoding="utf-8")
    doc = load_doc(info)
    assert (doc.what, doc.leaves_alone, doc.cost) == ("Two\nlines.", ("a", "b"), "")
    assert [case.id for case in load_cases(doc)] == ["XYZ001-valid-v", "XYZ001-invalid-i"]
