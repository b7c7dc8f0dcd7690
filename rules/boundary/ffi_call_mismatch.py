"""CTL502: the Python call does not fit the declaration: arity, descriptors and scalars, values of other slots."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.call_mismatches import call_mismatches


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in call_mismatches(unit):
        yield Finding(
            found.place,
            found.message,
            help=found.help,
            related=found.related,
            fix=found.fix,
            statement=found.statement,
            symbol=found.symbol,
        )
