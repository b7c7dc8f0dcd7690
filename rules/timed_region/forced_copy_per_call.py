"""CTL111: a copy on every call, whatever the tensor's layout."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.where import function_of, statement_of
from cutile_lint.unit.timed.copies import forced_copies, gated, is_round_trip


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in forced_copies(unit):
        event = found.event
        what = "converts a tensor to another type and back" if is_round_trip(found) else "copies a tensor"
        yield Finding(
            event.place,
            f"`{found.work.name.strip('`')}` {what} on every call of the op",
            help="pass the tensor itself; where the kernel needs contiguous memory use `.contiguous()`, which copies only if it must",
            fix=gated(unit, found),
            statement=statement_of(event, event.place) or event.statement,
            symbol=function_of(event, event.place),
        )
