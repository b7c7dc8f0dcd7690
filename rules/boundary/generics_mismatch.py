"""CTL511: the generics of a launch differ from the entry's in number or order."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.entry_calls import generics_mismatches


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in generics_mismatches(unit):
        yield Finding(
            found.place,
            found.message,
            help="give each generic of the entry its value, in the order of its declaration",
            related=tuple(Related(place, text) for place, text in found.related),
            fix=found.fix,
            statement=found.statement,
            symbol=found.symbol,
        )
