"""CTL900: a file that does not parse."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for place, message in unit.health.errors:
        yield Finding(place, message, help="correct the file; what could be read of the op is still checked")
