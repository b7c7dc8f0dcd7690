"""CTL608: an entry, or one of its data tensors, of a fixed float type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.entry_types import concrete_data


def check(unit: KernelUnit, options: Mapping[str, Any]) -> Iterator[Finding]:
    for kernel in unit.kernels:
        for found in concrete_data(unit, kernel, options["fixed-parameters"]):
            subject = f"`{found.param.name}` of `{kernel.entry.name}`" if found.param is not None else f"`{kernel.entry.name}`"
            what = f"is a tensor of `{found.type}`" if found.param is not None else f"works on `{found.type}` data only"
            yield Finding(
                found.place,
                f"{subject} {what}: other dtypes cannot be dispatched to it",
                help="make the data's type a generic: `<E: ElementType, …>`",
                symbol=kernel.entry.name,
            )
