"""CTL903: a file that was not analysed. (Files that could not be read at all are reported by the run itself.)"""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for place, reason in unit.health.refused:
        yield Finding(place, f"this file was not analysed: {reason}", help="split it, or exclude it in the configuration")
    for place in unit.health.cut:
        what = "this module" if place.span.end == 0 else f"`{place.text}`"
        yield Finding(place, f"{what} was not analysed to its end: it takes too many steps to follow", help="split it")
