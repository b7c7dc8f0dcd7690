"""The tables at the end of `.ci/run`, from the reports of the tests that ran: nothing is run for them."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

#: property of a test -> what it counted, as JSON
MUTANTS, FUZZ = "mutants", "fuzz"


def tables(reports: list[pytest.TestReport]) -> dict[str, str]:
    """Each table under its title; those of which no test ran are left out."""
    made = {
        "fixes": _fixes(reports),
        "rewrites and faults": _mutation(list(_told(reports, MUTANTS))),
        "fuzz run": _fuzz(list(_told(reports, FUZZ))),
        "faults survived": _faults(reports),
    }
    return {title: text for title, text in made.items() if text}


def _told(reports: Iterable[pytest.TestReport], key: str) -> Iterable[dict]:
    return (json.loads(str(value)) for report in reports for name, value in report.user_properties if name == key)


def _fixes(reports: list[pytest.TestReport]) -> str:
    from tests.harness.table import Results, table_of

    results = Results()
    for report in reports:
        if report.nodeid.startswith("tests/harness/"):
            results.pytest_runtest_logreport(report)
    return table_of(results) if results.ran else ""


def _mutation(told: list[dict]) -> str:
    from tests.mutation.table import Row, by_rule

    rows: dict[str, Row] = {}
    for one in told:
        rows.setdefault(one.pop("rule"), Row()).add(Row(**one))
    return by_rule(rows) if rows else ""


def _fuzz(told: list[dict]) -> str:
    from tests.robustness.page import fuzz_table

    return "\n".join(fuzz_table(one["tried"], one["checked"]) for one in told)


def _faults(reports: list[pytest.TestReport]) -> str:
    from tests.robustness.page import GROUPS, faults_table

    found = [(report.nodeid, report.passed) for report in reports if report.nodeid.partition("::")[0] in GROUPS]
    return faults_table(found) if found else ""
