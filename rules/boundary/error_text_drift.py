"""CTL520: errors are told apart by a text that is no longer raised."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.error_texts import stale_texts


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in stale_texts(unit):
        text = found.text.replace("`", "'").replace("\n", " ")
        yield Finding(
            found.place,
            f"`{text}` is looked for in messages, and nothing in this package raises one with it",
            help="tell errors apart by their type or a code, not by their text; else look for what is raised",
            related=(Related(found.raised, "such an error is raised here, in other words"),),
            statement=found.statement,
        )
