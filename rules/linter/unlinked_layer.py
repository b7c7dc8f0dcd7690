"""CTL902: a symbol that is called and not exported, or exported and not called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cutile_lint.findings import Finding, Related
from cutile_lint.sources import Place, Span
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.linkage import calls_without_export, exports_without_caller
from cutile_lint.unit.linking.names import fits


def check(unit: KernelUnit, options: Mapping[str, Any]) -> Iterator[Finding]:
    library = unit.program.workspace.source(unit.layout.library) if unit.layout.library is not None else None
    related = (Related(Place(library, Span(0, 0)), "the crate that was looked through"),) if library is not None else ()
    for launch, place in calls_without_export(unit):
        if fits(launch.symbol, options["ignore-symbols"]):
            continue
        yield Finding(
            place,
            f"`{launch.symbol}` is called, and no export of the crate has that name",
            help="export it from the op's `ffi.rs` and include that file in `lib.rs`, or correct the name",
            related=related,
            statement=launch.event.statement,
        )
    for export in exports_without_caller(unit):
        if fits(export.symbol, options["ignore-symbols"]):
            continue
        yield Finding(
            export.place,
            f"`{export.symbol}` is exported, and no wrapper calls it",
            help="call it from the op's wrapper, or remove the export",
            related=related,
            symbol=export.function.name,
        )
