"""CTL705: compile hints of the generated IR that differ from the reference IR's."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for one in unit.generated.entries:
        from cutile_lint.unit.generated.hints import hint_mismatches

        for found in hint_mismatches(one):
            here = f"`{found.name}` = {found.generated}" if found.generated is not None else f"no `{found.name}`"
            there = f"{found.reference}" if found.reference is not None else "none"
            arch = f" for {found.arch}" if found.arch != "default" else ""
            yield Finding(
                Place(one.source, found.span),
                f"`{one.ir.name}` has {here}{arch}, the reference {there}",
                help=(
                    "pass the reference's value as compile option"
                    if found.reference is not None
                    else "leave the option to the compiler, as the reference does"
                ),
                related=(Related(Place(found.source, found.reference_span), "the reference's hints"),),
                symbol=one.symbol,
            )
