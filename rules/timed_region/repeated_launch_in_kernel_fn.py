"""CTL104: one trial launches the same kernel more than once for one result."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint._rules.timed_region._launches import finding

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.timed.repeats import Wasted, parting, repeated_in_trial

_SAYS = {
    "overwritten": "`{}` is launched again in the trial before anything reads what this launch writes",
    "unused": "nothing reads what this launch of `{}` writes, and the trial launches it once more",
    "repeated": "a loop in the trial repeats the launch of `{}` with the same arguments",
}


def check(unit: KernelUnit) -> Iterator[Finding]:
    for wasted in repeated_in_trial(unit):
        from cutile_lint.unit.timed.launch_fixes import delete_launch

        yield finding(
            wasted,
            _SAYS[wasted.why].format(wasted.launch.symbol),
            "launch once per trial: `autotune_launch` measures everything that `kernel_fn` launches",
            _related(wasted),
            delete_launch(unit, wasted),
        )


def _related(wasted: Wasted) -> list[Related]:
    tuning = next(tuning for tuning in wasted.run.tunings if tuning.number == wasted.launch.timed)
    found = [Related(tuning.event.place, "`autotune_launch` times each trial from here")]
    if wasted.why != "repeated":
        _, place = parting(wasted.other, wasted.launch.event.stack)
        found.insert(0, Related(place, f"`{wasted.other.symbol}` is launched here too"))
    return found
