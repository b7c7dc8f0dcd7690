"""CTL103: PyTorch computes in every trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.names import fits


def check(unit: KernelUnit, options: Mapping[str, Any]) -> Iterator[Finding]:
    for found in unit.timed_work:
        if found.kind != "compute" or fits(found.work.name.removesuffix("()"), options["allow-calls"]):
            continue
        fallback = ", as a fallback" if found.in_handler else ""
        yield Finding(
            found.place,
            f"{found.told} runs PyTorch kernels inside {found.where}{fallback}",
            help="compute it in the kernel, or outside of the search; a fallback belongs before `autotune_launch`",
            related=found.related(unit),
            statement=found.statement,
            symbol=found.symbol,
        )
