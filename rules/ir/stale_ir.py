"""CTL706: generated IR that lacks a kernel, or in which a kernel has other parameters."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.sources import Place, Span
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    generated = unit.generated
    if not generated.entries and not generated.files:
        return
    from cutile_lint.unit.generated.stale import changed_signatures, missing_entries

    missing = missing_entries(unit)
    if missing:
        names = " and ".join(f"`{entry.name}`" for entry in missing)
        source = generated.files[0]
        first = next((one for one in generated.entries if one.entry is None), None)
        first = first or next((one for one in generated.entries if one.source is source), None)
        yield Finding(
            first.place if first is not None else Place(source, _first_row(source.data)),
            f"the generated IR has no entry for {names}",
            help="compile the kernels again and regenerate the IR",
            related=tuple(Related(entry.place, f"`{entry.name}` is declared here") for entry in missing),
            symbol=first.symbol if first is not None else "",
        )
    for one, said, declared in changed_signatures(unit):
        assert one.entry is not None
        yield Finding(
            one.place,
            f"`{one.ir.name}` has {said}, but the kernel declares {declared}",
            help="compile the kernel again and regenerate the IR",
            related=(Related(one.entry.place, f"`{one.entry.name}` is declared here"),),
            symbol=one.symbol,
        )


def _first_row(data: bytes) -> Span:
    end = data.find(b"\n")
    return Span(0, end if end > 0 else len(data))
