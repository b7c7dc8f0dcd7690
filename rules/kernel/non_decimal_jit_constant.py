"""CTL606: a constant in a device call that is not written as a plain decimal."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Edit, Finding, Fix
from cutile_lint.frontends.versions import accepts_scientific_literals
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.jit_constants import odd_constants


def check(unit: KernelUnit) -> Iterator[Finding]:
    if accepts_scientific_literals(unit.target_version):
        return
    for kernel in unit.kernels:
        for found in odd_constants(unit, kernel):
            place, decimal = found.place, found.decimal
            edit = Edit(place.source, place.span.start, place.span.end, decimal)
            yield Finding(
                place,
                f"`{place.text}` in `{found.call}` is not a plain decimal, which the compiler of {unit.target_version} may refuse",
                help=f"write `{decimal}`" if decimal else "build the value from decimals, or mask with `select`",
                fix=Fix("write the decimal", (edit,)) if decimal else None,
                statement=found.statement,
                symbol=kernel.entry.name,
            )
