"""CTL506: an export binds a device of its own choice."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.host_setup import fixed_devices


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in fixed_devices(unit):
        yield Finding(
            found.place,
            found.message,
            help="bind the device whose id the wrapper passes: the stream and the pointers belong to it",
            fix=found.fix,
            statement=found.statement,
            symbol=found.symbol,
        )
