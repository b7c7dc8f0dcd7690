"""CTL206: a value that sizes the grid is passed as a compile option."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.where import function_of, statement_of
from cutile_lint.unit.options.arguments import grid_source, way


def check(unit: KernelUnit) -> Iterator[Finding]:
    seen = set()
    for argument in unit.option_arguments:
        source = grid_source(argument)
        if source is None or source.passed in seen:
            continue
        from cutile_lint.unit.options.option_fixes import leave_or_forward

        seen.add(source.passed)
        origin = (Related(source.place, f"`{source.name}` sizes the grid"),) if source.place not in (None, source.passed) else ()
        yield Finding(
            source.passed,
            f"`{source.name}` sizes the grid and is passed as the compile option `{argument.option}`",
            help="pass the config's own value for the option, or the sentinel -1 to leave it to the compiler",
            related=(*origin, *way(argument)[1:]),  # type: ignore[arg-type]
            fix=leave_or_forward(argument, source.passed),
            statement=statement_of(argument.launch.event, source.passed),
            symbol=function_of(argument.launch.event, source.passed),
        )
