"""CTL106: an output is allocated ahead of the tuner and again in each trial."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.timed.allocations import dead_allocations, delete_allocation


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in dead_allocations(unit):
        name = found.work.name
        yield Finding(
            found.place,
            f"`{name}` allocates a buffer on every call that reaches no launch and no result: each trial allocates its own",
            help="delete the allocation: the tuner's `.output` is the result",
            related=(
                Related(found.again.event.place, "the buffer that the launch gets is allocated here"),
                Related(found.tuning.event.place, "`autotune_launch` runs in the same call"),
            ),
            fix=delete_allocation(unit, found),
            statement=found.work.event.statement,
            symbol=found.work.event.stop.frame.name,
        )
