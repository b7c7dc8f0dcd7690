"""CTL515: a crate of cutile or CUDA whose version is not fixed."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.dependencies import unpinned


def check(unit: KernelUnit) -> Iterator[Finding]:
    manifest = unit.manifest
    if manifest is None:
        return
    for dependency, what in unpinned(manifest):
        yield Finding(
            dependency.place,
            f"`{dependency.name}` {what}",
            help='pin it, `"=0.2.0"`: no lock file is kept, and kernels are tuned for one version',
        )
