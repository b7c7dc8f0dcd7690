"""CTL514: an op that the library, the package or the dispatcher does not know."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.registration import not_registered


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in not_registered(unit):
        yield Finding(
            found.place,
            found.message,
            help="an op needs its `mod` in the crate root, its import in the package and `register_impl` on its function",
            related=tuple(Related(place, text) for place, text in found.related),
            fix=found.fix,
        )
