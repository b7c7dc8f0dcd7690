"""CTL618: a branch on a negated compile-time flag."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.const_branches import negated_branches


def check(unit: KernelUnit) -> Iterator[Finding]:
    for kernel in unit.kernels:
        for branch in negated_branches(unit, kernel):
            yield Finding(
                branch.place,
                f"`if {branch.place.text}` branches on a negated compile-time flag",
                help=f"test `{branch.flag}` and exchange the branches",
                fix=branch.fix,
                statement=branch.statement,
                symbol=kernel.entry.name,
            )
