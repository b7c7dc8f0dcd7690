"""CTL503: a launch's return code is dropped."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.return_codes import add_check, condition_text, unchecked_codes
from cutile_lint.unit.linking.where import function_of


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in unchecked_codes(unit):
        launch = found.launch
        only = f" unless `{condition_text(found.only_if)}`" if found.only_if is not None else ""
        only = f"{only}, as the error of its check is swallowed" if found.swallowed is not None else only
        yield Finding(
            launch.place,
            f"the return code of `{launch.symbol}` is dropped{only}",
            help="give it to `check_rc`: a failed launch leaves the output as it was allocated, and says so only by this code",
            related=tuple(
                Related(place, told)
                for place, told in ((found.only_if, "only then it is checked"), (found.swallowed, "its check"))
                if place is not None
            ),
            fix=add_check(found, unit.program),
            statement=launch.event.statement,
            symbol=function_of(launch.event, launch.place),
        )
