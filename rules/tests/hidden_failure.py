"""CTL802: tests that hide that cutile-rs fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.suite.hidden import hidden_failures


def check(unit: KernelUnit, options: Mapping[str, Any]) -> Iterator[Finding]:
    for found in hidden_failures(unit, options["tolerance-factor"]):
        yield Finding(found.place, found.message, help=found.help, statement=found.statement, symbol=found.test.name)
