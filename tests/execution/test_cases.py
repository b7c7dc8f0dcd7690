"""Every case of the rules that execution can judge: the verdict is what is counted, before and after the fixes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cutile_lint.engine.cases import Case
from tests.execution.agreement import Verdict
from tests.execution.cases import BY_DESIGN, all_cases, verdict_on

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_verdict_is_what_is_counted(case: Case, told: Callable[[Verdict], None]) -> None:
    verdict = verdict_on(case)
    told(verdict)
    assert verdict.group in ("agree", "by design"), "\n".join([verdict.reason, *verdict.disagree])


def test_what_is_by_design_exists() -> None:
    assert set(BY_DESIGN) <= {case.id for case in CASES}
