"""CTL702: a matrix product or a sum of the generated IR that accumulates in half precision."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for one in unit.generated.entries:
        from cutile_lint.unit.generated.accumulators import low_accumulators

        for op, element in low_accumulators(one.ir):
            kept = (Related(one.entry.place, f"`{one.entry.name}` was compiled to this IR"),) if one.entry is not None else ()
            yield Finding(
                Place(one.source, op.span),
                f"`{op.name}` accumulates in {element}",
                help="accumulate in f32 and convert the result at the end",
                related=kept,
                symbol=one.symbol,
            )
