"""CTL209: occupancy and cluster size change places on their way."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.options.swaps import swaps


def check(unit: KernelUnit) -> Iterator[Finding]:
    for swap in swaps(unit):
        yield Finding(
            swap.place,
            f"`{swap.carried}` is passed where `{swap.wanted}` belongs",
            help=f"`{swap.receiver}` becomes the option `{swap.option}`: exchange the two",
            related=tuple(Related(place, message) for place, message in swap.related),
            fix=swap.fix,
            statement=swap.statement,
            symbol=swap.symbol,
        )
