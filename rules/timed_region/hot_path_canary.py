"""CTL105: a launch on every call, ahead of the tuner, whose result nobody reads."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint._rules.timed_region._launches import finding

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.timed.repeats import canaries


def check(unit: KernelUnit) -> Iterator[Finding]:
    for wasted in canaries(unit):
        from cutile_lint.unit.timed.launch_fixes import delete_launch

        tuning = next(tuning for tuning in wasted.run.tunings if tuning.number == wasted.other.timed)
        yield finding(
            wasted,
            f"`{wasted.launch.symbol}` is launched on every call before `autotune_launch`, and nothing reads what it writes",
            "delete the launch, or run it once at import or behind a once-only guard",
            [
                Related(tuning.event.place, "`autotune_launch` runs in the same call"),
                Related(wasted.other.place, f"the tuner launches `{wasted.other.symbol}` here"),
            ],
            delete_launch(unit, wasted),
        )
