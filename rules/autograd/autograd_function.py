"""CTL303: ``torch.autograd.Function`` in a forward-only wrapper."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.autograd.inputs import autograd_functions


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in autograd_functions(unit):
        yield Finding(
            Place(found.source, found.span),
            f"`{found.name}` wraps the launch in `torch.autograd.Function`",
            help="the backend is forward-only: detach the inputs, launch, and return the plain result",
            symbol=found.name,
        )
