"""CTL109: the autotune key changes from call to call, cannot be hashed, or never changes."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.where import function_of, statement_of
from cutile_lint.unit.timed.unstable_keys import unstable


def check(unit: KernelUnit) -> Iterator[Finding]:
    seen = set()
    for found in unstable(unit):
        if found.place in seen:
            continue
        seen.add(found.place)
        event = found.tuning.event
        yield Finding(
            found.place,
            f"{found.name} {'in the autotune key ' if found.name != '`key`' else ''}{found.reason}",
            help="key on what chooses the kernel: sizes, dtypes, flags and integers that become const generics",
            statement=statement_of(event, found.place) or event.statement,
            symbol=function_of(event, found.place),
        )
