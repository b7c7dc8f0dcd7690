"""CTL202: the export takes a compile option and does not apply it to a launch."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.options.arguments import unapplied_options


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in unapplied_options(unit):
        from cutile_lint.unit.options.rust_option_fixes import apply_option

        names = ", ".join(f"`{launch.entry_name}`" for launch in found.launches)
        where = "any launch" if found.everywhere and len(found.launches) > 1 else f"the launch of {names}"
        declared = found.slot.declared_place
        lost = (
            f"is dropped from the `CompileOptions` of {where} when `{found.beside.name}` is {'' if found.when_given else 'not '}given"
            if found.beside is not None
            else ""
        )
        yield Finding(
            found.slot.place,
            f"`{found.slot.name}` {lost or f'never reaches the `CompileOptions` of {where}'}",
            help=f"apply it: `if {found.slot.name} > 0 {{ opts = opts.{found.option}({found.slot.name}); }}`",
            related=(
                *((Related(declared, "what the wrapper passes here is dropped"),) if declared is not None else ()),
                *(
                    Related(place, "launched with these options")
                    for launch in found.launches
                    if (place := launch.options_place) is not None
                ),
            ),
            fix=apply_option(found, unit.program) if not lost else None,
            statement=found.slot.place,
            symbol=found.boundary.export.function.name,
        )
