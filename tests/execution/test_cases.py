"""Every case of the rules that execution can judge: the verdict is what is counted, before and after the fixes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cutile_lint.engine.cases import Case
from tests.execution.agreement import Linter, Verdict, examine
from tests.execution.cases import BY_DESIGN, all_cases, setting, verdict_on

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_verdict_is_what_is_counted(case: Case, told: Callable[[Verdict], None]) -> None:
    verdict = verdict_on(case)
    told(verdict)
    assert verdict.group in ("agree", "by design"), "\n".join([verdict.reason, *verdict.disagree])


FIRST = {case.rule.code: case for case in reversed(CASES) if not case.valid}


@pytest.mark.parametrize("code", FIRST)
def test_a_missing_and_a_wrong_finding_are_noticed(code: str) -> None:
    case = FIRST[code]
    found = Linter().sites(case.tree, [case.rule], case)
    silent, _ = examine(case.tree, [], [code], setting(case))
    assert any("counted, not said" in text for text in silent[code])
    loud, _ = examine(case.clean, found, [code], setting(case))
    assert any("said, not counted" in text for text in loud[code])


def test_what_is_by_design_exists() -> None:
    assert set(BY_DESIGN) <= {case.id for case in CASES}
