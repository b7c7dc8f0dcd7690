"""Collects the verdicts of all tests, whichever process they ran in, and prints the agreement table."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import pytest

from tests.execution.agreement import Verdict
from tests.execution.table import as_text

_KEY = "verdict"


@pytest.fixture
def told(record_property: Callable[[str, object], None]) -> Callable[[Verdict], None]:
    """Puts a verdict into the table."""
    return lambda verdict: record_property(_KEY, json.dumps(dataclasses.asdict(verdict)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    verdicts = [Verdict(**json.loads(value)) for report in reports for key, value in report.user_properties if key == _KEY]
    if verdicts:
        terminalreporter.section("verdicts against execution")
        terminalreporter.write_line(as_text(verdicts))
