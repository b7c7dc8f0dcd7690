"""CTL616: a conversion of ``scalar_to_tile(…)`` or a chain on ``pointer_to_tile(…)`` that has no name."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.unbound import unbound_conversions


def check(unit: KernelUnit) -> Iterator[Finding]:
    for device in unit.device_functions:
        for found in unbound_conversions(device):
            yield Finding(
                found.inner,
                f"`{found.outer}` is called on `{found.inner.text}`, whose type cannot be inferred there",
                help="bind it to a name with its type first",
                fix=found.fix,
                statement=found.statement,
                symbol=device.name,
            )
