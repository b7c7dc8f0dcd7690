"""Flags ``zeros``; the fix writes ``empty``, in the partner too when the line says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cutile_lint.findings import Edit, Finding, Fix, Related
from cutile_lint.sources import Place, Span


def check(unit: Any) -> Iterator[Finding]:
    source, partner = unit.files[0], unit.files[-1]
    for match in re.finditer(rb"zeros", source.data):
        place = Place(source, Span(*match.span()))
        edits = (Edit(source, *match.span(), "empty"),)
        row = source.line(place.start[0])
        related: tuple[Related, ...] = ()
        if "# both" in row and partner is not source:
            start = partner.data.index(b"old")
            edits += (Edit(partner, start, start + 3, "new"),)
            related = (Related(Place(partner, Span(start, start + 3)), "its partner"),)
        if "# broken" in row:
            edits = (Edit(source, *match.span(), "("),)
        yield Finding(place, "`zeros` is here", "write `empty`", related, Fix("use `empty`", edits))
