"""CTL512: an entry is launched with other arguments than it declares, or is not there at all."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.entry_calls import argument_mismatches


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in argument_mismatches(unit):
        yield Finding(
            found.place,
            found.message,
            help="pass what the entry declares, in that order",
            related=tuple(Related(place, text) for place, text in found.related),
            fix=found.fix,
            statement=found.statement,
            symbol=found.symbol,
        )
