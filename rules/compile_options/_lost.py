"""What CTL201 and CTL207 share: an option whose configured value does not arrive in its slot."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.where import function_of, statement_of
from cutile_lint.unit.options.arguments import way
from cutile_lint.unit.options.lost import LostOption, lost_options


def check_option(unit: KernelUnit, option: str, meaning: str) -> Iterator[Finding]:
    """Findings for one option; ``meaning`` is its name in words."""
    seen = set()
    for lost in lost_options(unit, option):
        if lost.place in seen:
            continue
        from cutile_lint.unit.options.option_fixes import forward_value

        seen.add(lost.place)
        slot = lost.argument.slot
        whose = f"the {meaning} of the reference" if lost.from_reference else f"`{lost.values[0].name}` of the config"
        yield Finding(
            lost.place,
            f"{whose} is lost here: the slot `{slot.name}` gets {_told(lost)}",
            help=_help(lost, meaning),
            related=(*lost.sources, *(one for one in way(lost.argument) if one.place != lost.place)),
            fix=None if lost.from_reference else forward_value(lost),
            statement=statement_of(lost.argument.launch.event, lost.place),
            symbol=function_of(lost.argument.launch.event, lost.place),
        )


def _help(lost: LostOption, meaning: str) -> str:
    if lost.from_reference:
        return f"give the configs the reference's {meaning} and pass it to the slot"
    return f"pass the config's {meaning} to the slot (`None` as -1), so that every config is compiled as it was written"


def _told(lost: LostOption) -> str:
    origin = lost.origin
    if origin is None:
        return f"`{lost.values[0].got}`"
    if origin.kind == "default":
        return f"`{lost.values[0].got}`, the default of `{origin.name}`"
    text = " ".join(origin.place.text.split())
    return f"`{text if len(text) <= 60 and '`' not in text else lost.values[0].got}`"
