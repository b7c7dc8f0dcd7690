"""CTL622: a float operation in another mode, or in another precision, than in the reference IR."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.math_modes import other_modes


def check(unit: KernelUnit) -> Iterator[Finding]:
    for kernel in unit.kernels:
        for found in other_modes(unit, kernel):
            name = found.event.name.rsplit("::", 1)[-1]
            yield Finding(
                found.place,
                f"`{name}` {found.what}, the reference {found.wanted}",
                help="use the named operation with the reference's modes; compute in `f32` and convert the result",
                related=(Related(found.reference, "the reference's operation"),),
                statement=found.event.statement,
                symbol=kernel.entry.name,
            )
