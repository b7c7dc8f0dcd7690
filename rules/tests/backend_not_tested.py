"""CTL801: an op registered for cutile-rs whose tests never select that backend."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    run = next((run for run in unit.runs if run.registered is not None), None)
    if run is None or run.registered is None:
        return
    found = unit.suite.untested()
    if found is None:
        return
    function = run.registered.closure.function
    if found.place is not None:
        message = f"the tests of `{unit.name}` never select cutile-rs"
        related: tuple[Related, ...] = (Related(found.place, "the first of its tests"),)
    else:
        message, related = f"no test calls `{unit.name}`, though it is registered for cutile-rs", ()
    yield Finding(
        Place(run.registered.closure.scope.source, function.name_span or function.span),
        message,
        help='add "cutile-rs" to the backends of its tests, if `is_backend_available("cutile-rs")`',
        related=related,
        symbol=function.name,
    )
