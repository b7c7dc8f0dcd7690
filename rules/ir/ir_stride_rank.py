"""CTL701: strides of a view that do not fit its rank, or that leave the innermost dimension open."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for one in unit.generated.entries:
        from cutile_lint.unit.generated.strides import stride_faults

        for fault in stride_faults(unit, one):
            yield Finding(
                Place(one.source, fault.view.span),
                f"the view of {fault.shown} {fault.what}",
                help=fault.help,
                related=tuple(Related(place, text) for place, text in fault.related),
                symbol=one.symbol,
            )
