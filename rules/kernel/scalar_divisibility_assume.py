"""CTL611: a divisibility assumption on a runtime dimension or stride."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.kernel import scalar_origin


def check(unit: KernelUnit) -> Iterator[Finding]:
    for kernel in unit.kernels:
        for event in kernel.calls:
            if event.name.rsplit("::", 1)[-1] != "assume_div_by" or event.arguments is None or not event.arguments.positional:
                continue
            origin = scalar_origin(event.arguments.positional[0], kernel.entry)
            if origin in ("scalar", "dimension"):
                yield Finding(
                    event.place,
                    f"`assume_div_by` promises that a runtime {'dimension' if origin == 'dimension' else 'value'} is a multiple",
                    help="assume the alignment of pointers only; sizes and strides come from the caller",
                    statement=event.statement,
                    symbol=kernel.entry.name,
                )
