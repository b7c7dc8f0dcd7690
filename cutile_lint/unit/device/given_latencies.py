"""The latency of a load or store as a number, also when it is a const generic that the launches fill in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.device.kernel import Access, Kernel, explicit_latency
from cutile_lint.unit.machine.values import Known, Term, Value, alternatives
from cutile_lint.unit.transposes.owners import symbols_of

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

_TYPE = regex(r"\w\s*::\s*<\s*\{?\s*(\w+)\s*\}?\s*>")


def given_latencies(unit: KernelUnit, kernel: Kernel, access: Access) -> Iterator[tuple[int, Place]]:
    """The numbers that the access gets, with the place of the argument; none for one left to the compiler."""
    place = access.latency_place or access.event.place
    if access.op.latency_form == "option":
        yield from ((number, place) for number in _numbers(unit, kernel, explicit_latency(access.latency)))
        return
    text = ""
    if access.op.latency_form == "type" and access.latency_place is not None:
        found = _TYPE.search(access.latency_place.text)
        text = found.group(1) if found is not None else ""
    elif access.op.latency_form == "generic" and isinstance(access.event.node, syntax.Call) and access.event.node.generics:
        text = access.event.node.generics[0].strip("{} ")
    value = Known(int(text)) if text.isdigit() else Term("generic", text) if text else None
    yield from ((number, place) for number in _numbers(unit, kernel, value) if number > 0)


def _numbers(unit: KernelUnit, kernel: Kernel, value: Value | None) -> Iterator[int]:
    if isinstance(value, Known) and type(value.value) is int:
        yield value.value
    if not isinstance(value, Term) or value.op != "generic":
        return
    for boundary in unit.boundary:
        for launched in boundary.kernel_launches:
            for launch in (boundary.launches or [None]) if launched.entry is kernel.entry else ():  # type: ignore[list-item]
                given = symbols_of(boundary, launch, launched).get(value.key())
                for _, one in alternatives(given) if given is not None else ():
                    number = one.value if isinstance(one, Known) else None
                    if isinstance(number, str) and number.isdigit():
                        number = int(number)
                    if type(number) is int:
                        yield number
