"""CTL112: one fixed config where the reference tunes."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.where import function_of, statement_of
from cutile_lint.unit.timed.untuned import fixed_configs


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in fixed_configs(unit):
        kernel = f"`{found.variant.kernel or found.variant.name}` in {found.variant.source}"
        what = "the tuner gets a single config" if found.tuned else f"`{found.symbol}` is launched with one fixed config"
        yield Finding(
            found.place,
            f"{what}, the reference tunes {kernel} over {found.count}",
            help="give the tuner the reference's configs for the target (`autotune_launch`)",
            related=(Related(found.variant.place, "the reference tunes here"),),
            statement=statement_of(found.event, found.place) or found.event.statement,
            symbol=function_of(found.event, found.place),
        )
