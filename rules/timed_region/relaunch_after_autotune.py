"""CTL110: the tuned kernel is launched once more for what the tuner has returned."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint._rules.timed_region._launches import finding

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.timed.repeats import relaunches


def check(unit: KernelUnit) -> Iterator[Finding]:
    for wasted, tuning in relaunches(unit):
        from cutile_lint.unit.timed.launch_fixes import use_output

        yield finding(
            wasted,
            f"`{wasted.launch.symbol}` is launched again after `autotune_launch`, which has run the best config already",
            "use the tuner's `.output`: it is what the best config gave",
            [
                Related(tuning.event.place, "`autotune_launch` runs `kernel_fn` with the best config last"),
                Related(wasted.other.place, f"the tuner launches `{wasted.other.symbol}` here"),
            ],
            use_output(unit, wasted, tuning),
        )
