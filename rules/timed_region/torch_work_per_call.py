"""CTL114: PyTorch computes on every call what the kernel is there for, or work that the reference's wrapper does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.names import fits
from cutile_lint.unit.linking.where import function_of, statement_of
from cutile_lint.unit.timed.extra_work import extra_work, other_backends


def check(unit: KernelUnit, options: Mapping[str, Any]) -> Iterator[Finding]:
    seen = set()
    for found in extra_work(unit):
        event = found.item.event
        name = found.item.work.name.strip("`")
        if event.place in seen or fits(name.removesuffix("()"), options["allow-calls"]):
            continue
        seen.add(event.place)
        if found.fallback:
            message = f"`{name}` computes the result with PyTorch on a path that never launches the kernel"
            help_text = "launch the kernel, or refuse the call (`NotImplementedError`) so that another backend is chosen"
        else:
            message = f"`{name}` runs on every call, the reference's wrapper does no such work"
            help_text = "leave it to the kernel, or do it once"
        yield Finding(
            event.place,
            message,
            help=help_text,
            statement=statement_of(event, event.place) or event.statement,
            symbol=function_of(event, event.place),
        )
    for handed in other_backends(unit):
        if handed.place not in seen:
            seen.add(handed.place)
            yield Finding(
                handed.place,
                f"the op of `{handed.backend}` computes the result on a path that never launches the kernel",
                help="launch the kernel, or refuse the call (`NotImplementedError`) so that another backend is chosen",
                statement=statement_of(handed.event, handed.place),
                symbol=function_of(handed.event, handed.place),
            )
