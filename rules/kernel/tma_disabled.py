"""CTL602: a view is accessed without TMA although the reference uses it."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Applicability, Edit, Finding, Fix, Level, Related
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.kernel import disabled_tma, enabled_tma


def check(unit: KernelUnit) -> Iterator[Finding]:
    for kernel in unit.kernels:
        for access in kernel.accesses:
            place = disabled_tma(access)
            if access.op.through != "view" or place is None:
                continue
            evidence = unit.entry_reference(kernel.entry)
            patterns, known = evidence.patterns() if evidence is not None else (frozenset(), [])
            if evidence is not None and (evidence.refuses_tma(access.op.kind) or (patterns and "view" not in patterns)):
                continue
            yield Finding(
                place,
                f"`{access.op.name}` of `{kernel.entry.name}` does without TMA"
                + (f", which the reference `{known[0].variant.source}` uses" if known else ""),
                help="pass `tma::Enabled`; partitions pad what lies outside",
                related=(Related(known[0].place, "the reference's kernel"),) if known else (),
                fix=_enabled(unit, place),
                statement=access.event.statement,
                symbol=kernel.entry.name,
                level_override=None if known else Level.WARNING,
            )


def _enabled(unit: KernelUnit, place: Place) -> Fix | None:
    text = enabled_tma(place, unit.crate)
    return (
        Fix("enable TMA", (Edit(place.source, place.span.start, place.span.end, text),), Applicability.UNSAFE) if text else None
    )
