"""CTL619: a tile that only one branch of an ``if`` assigns."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.frontends.versions import supports
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.one_sided import one_sided


def check(unit: KernelUnit) -> Iterator[Finding]:
    if supports("one-sided-if", unit.target_version):
        return
    for device in unit.device_functions:
        for found in one_sided(device):
            yield Finding(
                found.place,
                f"the tile `{found.name}` is assigned in one branch only and read after the `if`",
                help=f"assign it in the other branch too: `else {{ {found.name} = {found.name}; }}`",
                related=(Related(found.test, "the `if` that it crosses"),),
                fix=found.fix,
                statement=found.statement,
                symbol=device.name,
            )
