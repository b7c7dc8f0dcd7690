"""CTL613: ``partition_full_mut`` without ``PartitionMut`` in scope."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.imports import missing_partition_imports


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in missing_partition_imports(unit):
        yield Finding(
            found.place,
            "`partition_full_mut` is called without `PartitionMut` in scope",
            help="import `PartitionMut` in the device module",
            fix=found.fix,
        )
