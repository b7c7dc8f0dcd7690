"""CTL102: a tensor is copied in every trial."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in unit.timed_work:
        if found.kind != "copy":
            continue
        from cutile_lint.unit.timed.hoist import hoist
        from cutile_lint.unit.timed.needless import needless
        from cutile_lint.unit.timed.timed_copies import drop_call, protects

        if protects(unit, found):
            continue
        already = needless(found)
        what = f"is called on {already}" if already else "copies a tensor"
        yield Finding(
            found.place,
            f"{found.told} {what} inside {found.where}",
            help="prepare the tensor once, before `autotune_launch`, or let the kernel read it as it is",
            related=found.related(unit),
            fix=drop_call(unit, found) or hoist(unit, found),
            statement=found.statement,
            symbol=found.symbol,
        )
