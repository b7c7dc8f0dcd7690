"""CTL101: a fill kernel runs in every trial."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in unit.timed_work:
        if found.kind != "fill":
            continue
        from cutile_lint.unit.timed.hoist import hoist
        from cutile_lint.unit.timed.uninitialised import fill_is_needed, leave_uninitialised

        if fill_is_needed(unit, found):
            continue
        yield Finding(
            found.place,
            f"{found.told} runs a fill kernel inside {found.where}",
            help="allocate with `torch.empty` where the kernel stores the whole buffer; fill what it only reads once, before `autotune_launch`",
            related=found.related(unit),
            fix=leave_uninitialised(unit, found) or hoist(unit, found),
            statement=found.statement,
            symbol=found.symbol,
        )
