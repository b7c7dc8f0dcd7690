"""CTL402: the wrapper transposes an input and copies it into a new layout before the launch."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for copy in unit.transposed_copies:
        related = [Related(copy.view, "transposed here")] if copy.view is not None and copy.view != copy.place else []
        related.append(Related(copy.launch.argument_place(copy.slot), f"the copy goes to `{copy.launch.symbol}` here"))
        yield Finding(
            copy.place,
            f"a transposed view is copied into a new layout on its way to `{copy.launch.symbol}`",
            help="pass the tensor as it lies in memory, and let the kernel load it in the other order",
            related=tuple(related),
            statement=copy.event.statement if copy.event is not None else None,
            symbol=copy.run.function.name,
        )
