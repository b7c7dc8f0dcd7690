"""CTL401: two layers exchange the same axes of one tensor."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.where import statement_of
from cutile_lint.unit.transposes.owners import Owner

_WHERE = {"wrapper": "in the wrapper", "export": "in the export", "kernel": "in the kernel"}


def check(unit: KernelUnit) -> Iterator[Finding]:
    seen: set[Place] = set()
    for twice in unit.transposed_twice:
        first, *others = twice.owners
        if first.place in seen:
            continue
        from cutile_lint.unit.transposes.fixes import drop_an_owner

        seen.add(first.place)
        axes = " and ".join(str(axis) for axis in sorted(twice.axes))
        again = " and ".join(dict.fromkeys(f"`{_short(owner.place)}` {_WHERE[owner.layer]}" for owner in others))
        yield Finding(
            first.place,
            f"axes {axes} of `{twice.slot.name}` are exchanged here and again by {again}",
            help="let one layer own the transpose: pass the tensor as it lies in memory, or drop the permutation in the kernel",
            related=_related(first, others),
            fix=drop_an_owner(unit, twice),
            statement=statement_of(first.event, first.place) if first.event is not None else None,
        )


def _related(first: Owner, others: list[Owner]) -> tuple[Related, ...]:
    places = [(first.inner, "the exchange itself")] if first.inner is not None else []
    places += [(owner.place, f"exchanged again {_WHERE[owner.layer]}") for owner in others]
    return tuple(Related(place, message) for place, message in dict(places).items())


def _short(place: Place) -> str:
    text = " ".join(place.text.split())
    return text if len(text) <= 60 else text[:57] + "..."
