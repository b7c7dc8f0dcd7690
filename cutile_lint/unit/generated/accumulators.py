"""Matrix products and sums in IR, and the type that they accumulate in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cutile_lint.frontends.ir import IrEntry, IrOp


def low_accumulators(ir: IrEntry) -> Iterator[tuple[IrOp, str]]:
    """Operations that accumulate in f16 or bf16, in text order, with that type."""
    from cutile_lint.frontends.ir import LOW_PRECISION

    found = [
        (product.op, product.accumulator.element)
        for product in ir.mmas
        if product.op.name != "mmai" and product.accumulator is not None and product.accumulator.element in LOW_PRECISION
    ]
    for reduction in ir.reductions:
        elements = [kind.element for kind in reduction.result or reduction.source if kind.element in LOW_PRECISION]
        if reduction.is_sum and elements:
            found.append((reduction.op, elements[0]))
    yield from sorted(found, key=lambda one: one[0].span.start)
