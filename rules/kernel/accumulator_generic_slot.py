"""CTL621: the generic for the accumulator's type gets something else than ``"f32"``."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.accumulator_slots import narrow_slots


def check(unit: KernelUnit) -> Iterator[Finding]:
    for kernel in unit.kernels:
        for found in narrow_slots(unit, kernel):
            yield Finding(
                found.place,
                f'`{kernel.entry.name}` accumulates in `{found.generic}`, which gets `{found.given}` here and not `"f32"`',
                help='pass `"f32"` for the accumulator, whatever the data\'s type is',
                related=(Related(kernel.entry.place, f"`{found.generic}` is declared here"),),
                statement=found.launch.event.statement,
                symbol=found.launch.event.stop.frame.name,
            )
