"""CTL617: ``/`` on f32 tiles in a sigmoid, where ``true_div`` is the rule."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.sigmoids import sigmoid_divisions


def check(unit: KernelUnit) -> Iterator[Finding]:
    for kernel in unit.kernels:
        for found in sigmoid_divisions(kernel):
            yield Finding(
                found.place,
                "`/` in a sigmoid is the slow exact division",
                help="use `true_div`, which is the reference's approximate division",
                fix=found.fix,
                statement=found.event.statement,
                symbol=kernel.entry.name,
            )
