"""CTL605: a matrix product or a sum accumulates in half precision."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.accumulators import half_accumulators


def check(unit: KernelUnit) -> Iterator[Finding]:
    for kernel in unit.kernels:
        for found in half_accumulators(unit, kernel):
            yield Finding(
                found.place,
                f"`{found.operation}` accumulates in `{found.type}`{found.why}",
                help="accumulate in a `Tile<f32, …>` and convert the result with `convert_tile`",
                statement=found.event.statement,
                symbol=kernel.entry.name,
            )
