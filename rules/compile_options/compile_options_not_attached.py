"""CTL203: an op is launched without the compile options that its export takes or builds."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.options.arguments import rust_way, unattached_launches


def check(unit: KernelUnit) -> Iterator[Finding]:
    for boundary, launch in unattached_launches(unit):
        from cutile_lint.unit.options.rust_option_fixes import attach_options

        slots = [slot for slot in boundary.slots if slot.option is not None]
        yield Finding(
            launch.place,
            f"`{launch.entry_name}` is launched without `.compile_options(…)`",
            help="append `.compile_options(opts)` to the chain, so that the options of the call apply to this launch",
            related=tuple(rust_way(boundary, slots[0])[:2]) if slots else (),
            fix=attach_options(boundary, launch, unit.program),
            statement=launch.event.statement,
            symbol=boundary.export.function.name,
        )
