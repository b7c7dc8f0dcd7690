"""CTL519: a misspelt attribute of a ctypes function."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Applicability, Edit, Finding, Fix
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.bindings_by_hand import misspelt_attributes


def check(unit: KernelUnit) -> Iterator[Finding]:
    for module in unit.python_modules:
        for place, written, meant in misspelt_attributes(module):
            text = f'"{meant}"' if place.text != written else meant
            edit = Edit(place.source, place.span.start, place.span.end, text)
            yield Finding(
                place,
                f"`{written}` means nothing to ctypes, which ignores it: `{meant}` is meant",
                help=f"set `{meant}`; without it every argument is passed and returned as a C int",
                fix=Fix(f"rename to `{meant}`", (edit,), Applicability.SAFE),
            )
