"""CTL515: a crate of cutile or CUDA whose version is not fixed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.dependencies import unpinned


def check(unit: KernelUnit, options: Mapping[str, Any]) -> Iterator[Finding]:
    manifest = unit.manifest
    if manifest is None:
        return
    crates = [name.replace("_", "-") for name in options["crates"]]
    for dependency, what in unpinned(manifest, crates, options["allow-path"]):
        yield Finding(
            dependency.place,
            f"`{dependency.name}` {what}",
            help='pin it, `"=0.2.0"`: no lock file is kept, and kernels are tuned for one version',
        )
