"""CTL302: a tensor input reaches a launch with its autograd history."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.sources import Place, Span
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.autograd.inputs import carries_no_grad, parameter, undetached


def check(unit: KernelUnit) -> Iterator[Finding]:
    for run in unit.runs:
        for found in undetached(run):
            param = parameter(run, found.input)
            if param is None or carries_no_grad(unit, found, param):
                continue
            from cutile_lint.unit.autograd.detach_fixes import insert_detach

            launch = found.launch
            yield Finding(
                Place(run.source, Span(param.span.start, param.span.start + len(param.name.encode()))),
                f"input `{param.name}` reaches the launch of `{launch.symbol}` without being detached",
                help=f"detach it before the launch: `if {param.name}.requires_grad: {param.name} = {param.name}.detach()`",
                related=(Related(launch.argument_place(found.slot), f"its descriptor is passed to `{launch.symbol}` here"),),
                fix=insert_detach(run, param, unit.program) if found.whole and found.is_launched_by(run.function) else None,
                symbol=run.function.name,
            )
