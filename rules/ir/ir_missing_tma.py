"""CTL703: the reference moves its tiles through views, the generated IR only through pointers."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for one in unit.generated.entries:
        if not one.ir.uses_pointers or one.ir.uses_views:
            continue
        views = [
            next(access for access in ir.accesses if access.through == "view").op.name_span
            for ir, _ in one.references
            if ir.uses_views
        ]
        if len(views) != len(one.references) or not views:
            continue
        first = next(access for access in one.ir.accesses if access.through == "pointer")
        yield Finding(
            Place(one.source, one.ir.name_span),
            f"`{one.ir.name}` moves all tiles through pointers, the reference through views",
            help="load and store with `load_view_tko` and `store_view_tko_mut` on partitions, as the reference does, so that TMA can be used",
            related=(
                Related(Place(one.source, first.op.name_span), "the first pointer access"),
                Related(Place(one.references[0][1], views[0]), "the reference uses a view here"),
            ),
            symbol=one.symbol,
        )
