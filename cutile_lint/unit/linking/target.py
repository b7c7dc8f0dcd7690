"""The architecture that an op's port is written for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.sources import Source, Span
from cutile_lint.unit.flows.configs import configs_of
from cutile_lint.unit.linking.architecture import Arch, commented_arch, parse_arch
from cutile_lint.unit.reference.run import function_around

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


def target_arch(unit: KernelUnit) -> Arch | None:
    """``target-arch``, else the one architecture that comments of the wrapper's config functions name."""
    if unit.settings.target_arch:
        return parse_arch(unit.settings.target_arch)
    found: set[Arch] = set()
    for run in unit.runs:
        for tuning in run.tunings:
            for config in configs_of(tuning) or []:
                function = function_around(unit.program, config.place)
                if config.place is not None and function is not None:
                    arch = commented_arch(config.place, _with_comments_above(config.place.source, function.span))
                    if arch is not None:
                        found.add(arch)
    return found.pop() if len(found) == 1 else None


def _with_comments_above(source: Source, span: Span) -> Span:
    """A function's span, and the comment rows right above it."""
    start = source.raw.rfind(b"\n", 0, span.start) + 1
    while start:
        row = source.raw.rfind(b"\n", 0, start - 1) + 1
        if not source.part(row, start).lstrip().startswith((b"#", b"@")):
            break
        start = row
    return Span(start, span.end)
