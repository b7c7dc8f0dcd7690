"""CTL510: the tensor behind a descriptor is gone before the launch."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.lifetimes import bind_to_local, dead_tensors
from cutile_lint.unit.linking.where import function_of, statement_of


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in dead_tensors(unit):
        event = found.made if found.made is not None else found.launch.event
        text = " ".join(found.place.text.split())
        named = f"`{text}`" if len(text) <= 60 and "`" not in text else "the tensor made here"
        yield Finding(
            found.place,
            f"{named} is freed before the launch of `{found.launch.symbol}` reads its memory",
            help="keep the tensor in a name that lives until the call is over: a descriptor holds its address only",
            related=(
                *(
                    (Related(found.made.place, "its descriptor is made here"),)
                    if found.made is not None and found.made.place != found.place
                    else ()
                ),
                Related(found.launch.argument_place(found.slot), f"the descriptor goes to `{found.launch.symbol}` here"),
            ),
            fix=bind_to_local(found, unit.program),
            statement=statement_of(event, found.place) or event.statement,
            symbol=function_of(event, found.place),
        )
