"""CTL205: a number pins an option that the reference leaves to the compiler."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.where import function_of, statement_of
from cutile_lint.unit.options.arguments import way
from cutile_lint.unit.options.pinned import leave_open, pinned_options


def check(unit: KernelUnit) -> Iterator[Finding]:
    for pinned in pinned_options(unit):
        event = pinned.argument.launch.event if pinned.argument is not None else None
        what = f"`{pinned.field}` of a config" if pinned.field else f"the number {pinned.number}"
        yield Finding(
            pinned.place,
            f"{what} pins `{pinned.option}` to {pinned.number}, the reference leaves it to the compiler",
            help="leave it open (`None` in the config, the sentinel -1 at the boundary): the compiler chooses better for most shapes",
            related=(
                Related(pinned.reference.place, f"the reference does not set `{pinned.option}` here"),
                *(way(pinned.argument) if pinned.argument is not None else ()),
            ),
            fix=leave_open(pinned, unit),
            statement=statement_of(event, pinned.place) if event is not None else None,
            symbol=function_of(event, pinned.place) if event is not None else "",
        )
