"""CTL207: the configs' occupancy does not arrive in its slot."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint._rules.compile_options._lost import check_option

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.options.option_names import OCCUPANCY


def check(unit: KernelUnit) -> Iterator[Finding]:
    yield from check_option(unit, OCCUPANCY, "occupancy")
