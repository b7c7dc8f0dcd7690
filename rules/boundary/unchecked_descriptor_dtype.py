"""CTL517: a descriptor is borrowed as a type that nothing ties its dtype to."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.dtypes import compare_in_export, untied_descriptors


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in untied_descriptors(unit):
        leader = found.leader
        told = f"the dtype of `{leader.name}`" if leader is not None else f"`{found.element}`"
        yield Finding(
            found.place,
            f"`{found.slot.name}` is read as {told}, but nothing checks that it has it",
            help="compare the dtypes in the wrapper or in the export: elements of another size are read past the tensor's end",
            related=(
                Related(found.launch.argument_place(found.slot.index), f"what the wrapper passes for `{found.slot.name}`"),
                *((Related(leader.place, "the type is dispatched on this one"),) if leader is not None else ()),
            ),
            fix=compare_in_export(found, unit.crate),
            symbol=found.boundary.symbol,
        )
