"""CTL604: ``#[cutile::entry]`` without parentheses, which old versions take for a plain function."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Edit, Finding, Fix
from cutile_lint.frontends.versions import accepts_bare_entry
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    for entry in unit.entries:
        attribute = entry.attribute
        if not attribute.bare or accepts_bare_entry(unit.target_version):
            continue
        place = Place(entry.source, attribute.span)
        yield Finding(
            place,
            f"`{place.text}` makes `{entry.name}` a plain function in cutile {unit.target_version}",
            help="write `#[cutile::entry()]`",
            fix=_with_parentheses(place),
            symbol=entry.name,
        )


def _with_parentheses(place: Place) -> Fix | None:
    at = place.source.part(*place.span).rfind(b"entry")
    if at == -1:
        return None
    end = place.span.start + at + len("entry")
    return Fix("add the parentheses", (Edit(place.source, end, end, "()"),))
