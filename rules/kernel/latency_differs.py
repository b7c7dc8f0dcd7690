"""CTL620: a load or store has another latency than in the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.given_latencies import given_latencies
from cutile_lint.unit.device.kernel import Access, Kernel
from cutile_lint.unit.reference.kernels import ReferenceKernel


def check(unit: KernelUnit, options: Mapping[str, Any]) -> Iterator[Finding]:
    for kernel in unit.kernels:
        evidence = unit.entry_reference(kernel.entry)
        if evidence is None:
            continue
        for access in kernel.accesses:
            wanted, known = evidence.latencies(access.op.kind)
            if not known or (wanted == {None} and _says_nothing(kernel, access, known)):
                continue
            for number, place in given_latencies(unit, kernel, access):
                if not any(one is not None and abs(number - one) <= options["tolerance"] for one in wanted):
                    text = " or ".join(str(one) for one in sorted(wanted, key=str) if one is not None) or "the compiler's choice"
                    yield Finding(
                        place,
                        f"`{access.op.name}` has latency {number}, the reference has {text}",
                        help="take over the reference's latency, or pass `None`",
                        related=(Related(known[0].place, f"the reference: `{known[0].variant.name}`"),),
                        statement=access.event.statement,
                        symbol=kernel.entry.name,
                    )
                    break


def _says_nothing(kernel: Kernel, access: Access, known: list[ReferenceKernel]) -> bool:
    """The reference has no latency: in a persistent loop that is CTL601's, and source code leaves it to its own compiler."""
    return kernel.persistent_loop(access.event) is not None or any(one.ir is None for one in known)
