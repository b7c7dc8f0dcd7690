"""CTL518: a tensor without elements reaches the launch."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.empty_launches import empty_launches, refuse_empty
from cutile_lint.unit.linking.where import function_of


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in empty_launches(unit):
        launch = found.launch
        yield Finding(
            launch.place,
            f'an empty tensor reaches the launch of `{launch.symbol}` with a grid of 0, which means "infer"',
            help="return early for tensors without elements",
            related=(Related(found.axis, "this axis of the grid becomes 0"),) if found.axis is not None else (),
            fix=refuse_empty(found, unit),
            statement=launch.event.statement,
            symbol=function_of(launch.event, launch.place),
        )
