"""Notes ``TODO`` and fails on ``BOOM``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cutile_lint.findings import Applicability, Edit, Finding, Fix
from cutile_lint.sources import Place, Span


def check(unit: Any) -> Iterator[Finding]:
    source = unit.files[0]
    start = source.data.find(b"TODO")
    if start >= 0:
        fix = Fix("drop it", (Edit(source, start, start + 4, "DONE"),), Applicability.UNSAFE)
        yield Finding(Place(source, Span(start, start + 4)), "`TODO` is left", fix=fix)
    if b"BOOM" in source.data:
        raise RuntimeError("went off")
