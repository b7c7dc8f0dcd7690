"""CTL204: a setter of ``CompileOptions`` is called with a caller's value that may be the sentinel."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.options.arguments import unguarded_setters


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in unguarded_setters(unit):
        from cutile_lint.unit.options.rust_option_fixes import guard_setter

        yield Finding(
            found.event.place,
            f"the setter `{found.event.name}` is called for any value of `{found.slot.name}`, {found.sentinel} among them",
            help="0 and -1 leave the choice to the compiler: call the setter only for values above 0",
            related=(Related(found.slot.place, f"`{found.slot.name}` is the caller's"),),
            fix=guard_setter(found.event, unit.program),
            statement=found.event.statement,
            symbol=found.symbol,
        )
