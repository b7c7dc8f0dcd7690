"""CTL403: a transpose flag that is taken and does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.transposes.flags import IgnoredFlag

_HELP = "forward it to the kernel, or refuse it with `NotImplementedError`"


def check(unit: KernelUnit) -> Iterator[Finding]:
    for flag in unit.ignored_transposes:
        message, related = _told(flag)
        yield Finding(flag.place, message, help=_HELP, related=related, statement=_statement(flag), symbol=flag.symbol)


def _told(flag: IgnoredFlag) -> tuple[str, tuple[Related, ...]]:
    if flag.kind == "variant" and flag.kernel is not None and flag.slot is not None:
        return (
            f"`{flag.name}` is not used by the variant `{flag.kernel.entry_name}`, which can be launched with it",
            (
                Related(flag.kernel.place, f"`{flag.kernel.entry_name}` is launched without it"),
                Related(flag.launch.argument_place(flag.slot.index), "the wrapper passes it here"),
            ),
        )
    if flag.kind == "slot" and flag.slot is not None:
        return (
            f"`{flag.name}` never reaches the slot `{flag.slot.name}` of `{flag.launch.symbol}`",
            (Related(flag.slot.place, "the slot in the export"),),
        )
    return (
        f"`{flag.name}` is accepted, and neither refused nor passed on to the launch",
        (Related(flag.launch.place, f"`{flag.launch.symbol}` is launched as without it"),),
    )


def _statement(flag: IgnoredFlag):
    return flag.launch.event.statement if flag.kind == "slot" else None
