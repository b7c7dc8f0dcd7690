"""CTL305: the memory of an input is detached without a copy, and the kernel writes it."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Applicability, Edit, Finding, Fix, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.autograd.writes import detached_writes


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in detached_writes(unit):
        written = (Related(found.store, "the kernel writes it here"),) if found.store is not None else ()
        edit = Edit(found.detach.source, found.detach.span.end, found.detach.span.end, ".clone()")
        yield Finding(
            found.detach,
            f"`{found.launch.symbol}` writes the memory of input `{found.input.name}`, which is detached but not copied",
            help="copy what the kernel is to change: `detach().clone()`",
            related=(Related(found.launch.argument_place(found.slot), "its descriptor is passed here"), *written),
            fix=Fix("copy the detached tensor", (edit,), Applicability.UNSAFE),
            symbol=found.run.function.name,
        )
