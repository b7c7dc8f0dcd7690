"""CTL508: a descriptor pointer is followed without a check for null."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.null_checks import insert_check, unchecked_pointers


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in unchecked_pointers(unit.boundary):
        names = ", ".join(f"`{slot.name}`" for slot in found.slots)
        yield Finding(
            found.place,
            f"{names} {'is' if len(found.slots) == 1 else 'are'} followed without a check for null",
            help="return the null code first, for every descriptor",
            related=tuple(Related(slot.place, f"`{slot.name}` is the caller's") for slot in found.slots),
            fix=insert_check(found, unit.crate),
            symbol=found.boundary.symbol,
        )
