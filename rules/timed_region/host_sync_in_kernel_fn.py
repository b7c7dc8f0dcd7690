"""CTL107: the host waits for the device in every trial."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in unit.timed_work:
        if found.kind != "sync":
            continue
        yield Finding(
            found.place,
            f"{found.told} waits for the device inside {found.where}",
            help="the tuner times with events of its own: launch without waiting, and read results after `autotune_launch`",
            related=found.related(unit),
            statement=found.statement,
            symbol=found.symbol,
        )
