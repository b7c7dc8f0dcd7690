"""CTL516: stream, device id or SM count of the current device, for tensors that may be on another."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Level
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.devices import wrong_devices
from cutile_lint.unit.linking.where import function_of, statement_of


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in wrong_devices(unit):
        yield Finding(
            found.place,
            found.message,
            help="take it from the tensor's device, or run inside `with torch.cuda.device(x.device)`",
            fix=found.fix,
            statement=statement_of(found.event, found.place) or found.event.statement,
            symbol=function_of(found.event, found.place),
            level_override=Level.INFO if found.minor else None,
        )
