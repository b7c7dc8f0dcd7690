"""CTL704: a view over swapped strides that permutes its dimensions as well."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for one in unit.generated.entries:
        from cutile_lint.unit.generated.strides import transposed_again

        if any(transposed_again(view) for ir, _ in one.references for view in ir.partition_views):
            continue  # the reference means it so
        for view in one.ir.partition_views:
            if not transposed_again(view) or view.tensor is None:
                continue
            order = ", ".join("?" if at is None else str(at) for at in view.dim_map or ())
            name = view.op.results[0] if view.op.results else one.ir.name
            yield Finding(
                Place(one.source, view.span),
                f"`{name}` permutes the dimensions (dim_map [{order}]) of a tensor whose strides are swapped already",
                help="transpose once: pass the original shape and strides and let the view permute, or drop the permutation",
                related=(Related(Place(one.source, view.tensor.span), "the strides are swapped here"),),
                symbol=one.symbol,
            )
