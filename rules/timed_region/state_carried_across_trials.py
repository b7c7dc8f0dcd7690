"""CTL113: a buffer from outside the timed region into which every trial accumulates."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.where import function_of, statement_of
from cutile_lint.unit.timed.carried import carried_buffers


def check(unit: KernelUnit) -> Iterator[Finding]:
    seen = set()
    for found in carried_buffers(unit):
        argument = found.launch.argument_place(found.slot)
        place = found.made or argument
        if place in seen:
            continue
        seen.add(place)
        name = f"the input `{found.root.name}`" if found.root.op == "input" else "this buffer"
        where = [*found.use.atomics, *found.use.stores][:1]
        event = found.launch.event
        yield Finding(
            place,
            f"{name} is made outside of `kernel_fn` and `{found.launch.symbol}` accumulates into it: each trial starts from the last result",
            help="make the buffer in `kernel_fn` (`torch.zeros` is right there), or reset it in the kernel",
            related=(
                *((Related(argument, f"passed to `{found.launch.symbol}` in every trial"),) if argument != place else ()),
                *(Related(at, "the kernel accumulates here") for at in where),
            ),
            statement=statement_of(event, place),
            symbol=function_of(event, place) or found.run.function.name,
        )
