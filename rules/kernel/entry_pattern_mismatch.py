"""CTL615: an entry goes through pointers where the reference goes through views, or the reverse."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit

_WORDS = {"view": "tensor views (TMA)", "pointer": "raw pointers"}


def check(unit: KernelUnit) -> Iterator[Finding]:
    for kernel in unit.kernels:
        own = {access.op.through for access in kernel.accesses}
        evidence = unit.entry_reference(kernel.entry)
        if len(own) != 1 or evidence is None or kernel.run.trace.gaps:
            continue
        patterns, known = evidence.patterns()
        if len(patterns) != 1 or patterns == own:
            continue
        wanted, found = next(iter(patterns)), next(iter(own))
        yield Finding(
            kernel.entry.place,
            f"`{kernel.entry.name}` goes through {_WORDS[found]}, its reference `{known[0].variant.kernel or known[0].variant.name}` "
            f"through {_WORDS[wanted]}",
            help=f"write the entry with {_WORDS[wanted]} as the reference does",
            related=tuple(Related(one.place, f"the reference: `{one.variant.name}`") for one in known[:3]),
            symbol=kernel.entry.name,
        )
