"""CTL501: the cdef and the export differ in arity, order, names or types."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.signatures import mismatches, rewrite_cdef


def check(unit: KernelUnit) -> Iterator[Finding]:
    for boundary in unit.boundary:
        if boundary.cdef_fault is not None and boundary.text is not None and boundary.text.place is not None:
            place = boundary.in_text(boundary.cdef_fault.span)
            if place is None or place.span.start >= place.span.end:
                place = boundary.text.place
            yield Finding(
                place,
                f"cffi cannot read the declaration of `{boundary.symbol}`: {boundary.cdef_fault.message.replace('`', '')}",
                help="declare the export's signature in C",
                related=(Related(boundary.export.place, "the export"),),
            )
            continue
        found = list(mismatches(boundary))
        if not found:
            continue
        first = found[0]
        slot = boundary.slots[first.index] if first.index >= 0 else None
        yield Finding(
            first.place,
            first.message + (f" ({len(found)} such differences)" if len(found) > 1 else ""),
            help="declare the parameters in the export's order, with its names and types: C passes them by place and checks nothing",
            related=(
                Related(slot.place if slot is not None else boundary.export.place, "the export takes this"),
                *(Related(item.place, "differs too") for item in found[1:4]),
            ),
            fix=rewrite_cdef(boundary, unit.program),
        )
