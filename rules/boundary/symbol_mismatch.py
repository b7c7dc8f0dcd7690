"""CTL504: export, cdef, call and the name for messages disagree; two ops share one handle key."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.symbols import shared_keys, wrong_symbols


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in wrong_symbols(unit):
        yield Finding(
            found.place,
            found.message,
            help=f"use the exported symbol `{found.right}` in the cdef, the call and the messages",
            related=tuple(Related(place, text) for place, text in found.related),
            fix=found.fix(),
            statement=found.statement,
        )
    for shared in shared_keys(unit):
        yield Finding(
            shared.place,
            f"two libraries are bound under the key `{shared.key}`: the second gets the handle of the first, without its own symbol",
            help="bind each op under a key of its own",
            related=(Related(shared.other, "bound under the same key"),),
            statement=shared.statement,
        )
