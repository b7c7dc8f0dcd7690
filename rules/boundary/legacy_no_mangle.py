"""CTL505: `#[no_mangle]` without `unsafe(…)` in a crate of edition 2024."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.host_setup import legacy_attributes


def check(unit: KernelUnit) -> Iterator[Finding]:
    found = list(legacy_attributes(unit))
    manifest = unit.manifest if found else None
    if manifest is None or manifest.edition is None or str(manifest.edition.value) < "2024":
        return
    for one in found:
        yield Finding(
            one.place,
            one.message,
            help="write `#[unsafe(no_mangle)]`: edition 2024 refuses the old form",
            fix=one.fix,
            symbol=one.symbol,
        )
