"""CTL513: the tensor descriptor differs between the runtime and `ffi_util.rs`."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.typedef import drifts


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in drifts(unit):
        yield Finding(
            found.place,
            found.message,
            help="both sides have to say the same: nothing checks the layout of what crosses",
            related=(Related(found.other, "the other side"),),
        )
