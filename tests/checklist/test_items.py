"""Each item of the table: an example that passes, and for each of its rules one that fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from cutile_lint.checklist import ITEMS, SECTIONS, Item, Status, judge
from cutile_lint.config import Configurations
from cutile_lint.engine.cases import Case, load_cases
from cutile_lint.engine.registry import RuleInfo, builtin_rules
from cutile_lint.engine.rule_docs import load_doc
from cutile_lint.engine.run import run
from cutile_lint.findings import Level
from cutile_lint.fixes.case_runner import MemoryRunner
from cutile_lint.sources import Workspace
from cutile_lint.unit import load

RULES = {info.code: info for info in builtin_rules()}
PAIRS = [
    (item, RULES[code])
    for item in ITEMS
    for code in item.rules
    # a finding that is only worth knowing fails no item
    if code in RULES and RULES[code].level is not Level.INFO
]


@cache
def cases_of(code: str) -> tuple[Case, ...]:
    return tuple(load_cases(load_doc(RULES[code])))


def verdicts(case: Case) -> list[dict[str, Status]]:
    runner = MemoryRunner()
    workspace = Workspace(runner._overlays(case.tree, case.options))
    settings = Configurations(workspace).for_folder(runner.root)
    found = []
    for unit in load(workspace, runner._files(case.tree, case.paths), settings):
        report = run([unit], [case.rule])
        assert not report.errors
        checklist = judge(unit, report.findings, report.suppressed)
        found.append({verdict.item.key: verdict.status for verdict in checklist.verdicts})
    return found


@pytest.mark.parametrize(("item", "info"), PAIRS, ids=lambda value: value.key if isinstance(value, Item) else value.code)
def test_a_failing_example(item: Item, info: RuleInfo) -> None:
    case = next(case for case in cases_of(info.code) if not case.valid)
    assert Status.FAIL in [found[item.key] for found in verdicts(case)]


@pytest.mark.parametrize(
    "info", sorted({info.code: info for _, info in PAIRS}.values(), key=lambda info: info.code), ids=lambda info: info.code
)
def test_a_valid_example_does_not_fail(info: RuleInfo) -> None:
    case = next(case for case in cases_of(info.code) if case.valid)
    for found in verdicts(case):
        assert not [item.key for item in ITEMS if info.code in item.rules and found[item.key] is Status.FAIL]


@pytest.mark.parametrize("item", [item for item in ITEMS if item.key != "investigation"], ids=lambda item: item.key)
def test_a_passing_example(item: Item, whole: Path, passed: dict[str, dict]) -> None:
    found = passed[item.key]
    assert found["status"] == "pass", found["evidence"]
    assert found["evidence"], "a pass is shown"


@pytest.fixture(scope="module")
def passed(whole: Path, command: Callable) -> dict[str, dict]:
    done = command("batched_product", str(whole), "--output-format", "json")
    assert (done.status, done.err) == (0, "")
    return done.items()


def test_every_section_has_items() -> None:
    assert list(dict.fromkeys(item.section for item in ITEMS)) == list(SECTIONS)
    assert len({item.key for item in ITEMS}) == len(ITEMS)
    assert sum(item.section == SECTIONS[0] for item in ITEMS) == 11
