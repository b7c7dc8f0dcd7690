"""CTL601: a view load or store in a persistent loop carries a latency that the reference does not have."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Applicability, Edit, Finding, Fix, Related
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.kernel import Access, explicit_latency, loop_head


def check(unit: KernelUnit) -> Iterator[Finding]:
    for kernel in unit.kernels:
        for access in kernel.accesses:
            if access.op.through != "view" or access.latency_place is None or explicit_latency(access.latency) is None:
                continue
            loop = kernel.persistent_loop(access.event)
            if loop is not None and not _in_reference(unit, access):
                yield Finding(
                    access.latency_place,
                    f"`{access.op.name}` has an explicit latency inside the persistent loop of `{kernel.entry.name}`",
                    help="pass `None`: a latency belongs here only when the reference has one for this access",
                    related=(Related(loop_head(access.event.place.source, loop), "the persistent loop"),),
                    fix=_none(access.latency_place),
                    statement=access.event.statement,
                    symbol=kernel.entry.name,
                )


def _in_reference(unit: KernelUnit, access: Access) -> bool:
    """The reference gives a latency to accesses of this kind."""
    reference = unit.reference
    return reference is not None and any(one.value is not None for one in reference.latencies(access.op.kind))


def _none(place: Place) -> Fix:
    return Fix("pass `None`", (Edit(place.source, place.span.start, place.span.end, "None"),), Applicability.UNSAFE)
