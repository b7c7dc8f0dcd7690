"""CTL304: a test that runs backward with cutile-rs selected."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.suite.backward import backward_runs, skip_fix


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in backward_runs(unit):
        yield Finding(
            found.place,
            f"{found.what} with cutile-rs selected in `{found.test.name}`",
            help='the backend is forward-only: skip the test for it (`if backend == "cutile-rs": pytest.skip(…)`)',
            related=(Related(found.inside, "backward runs here"),) if found.inside is not None else (),
            fix=skip_fix(unit, found),
            statement=found.statement,
            symbol=found.test.name,
        )
