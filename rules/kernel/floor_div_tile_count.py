"""CTL607: a loop over the tiles of a dimension that leaves the last, partial one out."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.floor_counts import floor_counts
from cutile_lint.unit.device.kernel import loop_head


def check(unit: KernelUnit) -> Iterator[Finding]:
    for kernel in unit.kernels:
        for found in floor_counts(unit, kernel):
            head = loop_head(found.access.event.place.source, found.loop)
            yield Finding(
                found.place,
                f"`{found.place.text}` rounds down: the loop over the tiles leaves out the rest of `{found.size}`",
                help=f"round up and mask the last tile: `({found.size} + {found.tile} - 1) / {found.tile}`",
                related=(Related(head, "the loop over the tiles"),),
                fix=found.fix,
                symbol=kernel.entry.name,
            )
