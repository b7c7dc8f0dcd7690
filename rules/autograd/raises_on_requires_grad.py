"""CTL301: an input that requires grad is refused instead of detached."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.autograd.inputs import refusals


def check(unit: KernelUnit) -> Iterator[Finding]:
    for run in unit.runs:
        for refusal in refusals(run):
            from cutile_lint.unit.autograd.detach_fixes import input_names, replace_refusal

            names = input_names(refusal.tensors)
            shown = " or ".join(f"`{name}`" for name in names)
            how = (
                "fails an assertion" if refusal.kind == "assert" else "returns an error" if refusal.kind == "return" else "raises"
            )
            yield Finding(
                refusal.place,
                f"`{run.function.name}` {how} because {shown} requires grad",
                help="the backend is forward-only: detach inputs that require grad (`if x.requires_grad: x = x.detach()`)",
                related=tuple(Related(place, "called here") for place in refusal.calls)
                + ((Related(refusal.tested, "`requires_grad` is tested here"),) if refusal.tested is not None else ()),
                fix=replace_refusal(run, refusal, unit.program),
                statement=refusal.place,
                symbol=run.function.name,
            )
