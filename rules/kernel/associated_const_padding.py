"""CTL610: an associated constant as the padding of a device call."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.jit_constants import associated_paddings


def check(unit: KernelUnit) -> Iterator[Finding]:
    for kernel in unit.kernels:
        for found in associated_paddings(unit, kernel):
            yield Finding(
                found.place,
                f"`{found.place.text}` passes an associated constant to `{found.event.name.rsplit('::', 1)[-1]}`, "
                "which the compiler does not evaluate there",
                help="pass `None` and replace the masked lanes with `select`",
                statement=found.event.statement,
                symbol=kernel.entry.name,
            )
