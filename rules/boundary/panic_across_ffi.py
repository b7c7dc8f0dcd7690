"""CTL509: a panic may leave an export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.panics import panics


def check(unit: KernelUnit, options: Mapping[str, Any]) -> Iterator[Finding]:
    found_here = [found for found in panics(unit) if found.kind not in options["allow"]]
    if found_here and unit.manifest is not None and unit.manifest.panics_abort():
        return
    for found in found_here:
        yield Finding(
            found.place,
            found.message,
            help='return an error code instead: a panic that leaves `extern "C"` ends the Python process',
            statement=found.statement,
            symbol=found.symbol,
        )
