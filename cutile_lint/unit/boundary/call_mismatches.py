"""FFI calls that do not fit what they call: number of arguments, their kind, and values that belong into other slots."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix, Related
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.signatures import kind_of
from cutile_lint.unit.boundary.slot_names import Crossed, crossings, standing_in
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.linking.where import function_of, statement_of

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(frozen=True, slots=True)
class CallMismatch:
    place: Place
    message: str
    help: str
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    statement: Place | None = None
    symbol: str = ""


def call_mismatches(unit: KernelUnit) -> Iterator[CallMismatch]:
    """Each place once, launch by launch."""
    seen: set[Place] = set()
    for boundary in unit.boundary:
        for launch in boundary.launches:
            for found in _in_launch(unit, boundary, launch):
                if found.place not in seen:
                    seen.add(found.place)
                    yield found


def _in_launch(unit: KernelUnit, boundary: Boundary, launch: Launch) -> Iterator[CallMismatch]:
    declared = boundary.cdef.params if boundary.cdef is not None else None
    names = [param.name for param in declared] if declared is not None else [slot.name for slot in boundary.slots]
    told = "the cdef" if declared is not None else "the export"
    where = boundary.cdef_place if boundary.cdef_place is not None else boundary.export.place
    if boundary.cdef_fault is not None or not launch.arguments.exact:
        return
    given = launch.arguments.positional
    statement, symbol = launch.event.statement, function_of(launch.event, launch.place)
    if len(given) != len(names):
        yield CallMismatch(
            launch.place,
            f"`{launch.symbol}` is called with {_count(len(given))}, {told} declares {len(names)}",
            "pass one value for each declared parameter, in that order",
            (Related(where, f"declared with {len(names)} parameters here"),),
            None,
            statement,
            symbol,
        )
        return
    for index, value in enumerate(given):
        takes = declared[index].is_pointer if declared is not None else boundary.slots[index].type.strip().startswith("*")
        kind = kind_of(value, unit.program)
        if kind is not None and (kind == "descriptor") != takes:
            yield CallMismatch(
                launch.argument_place(index),
                f"{'a tensor descriptor' if kind == 'descriptor' else 'a number'} is passed where `{names[index]}` is declared as "
                f"`{declared[index].type if declared is not None else boundary.slots[index].type}`",
                "compare the arguments with the declaration, place by place",
                (Related(boundary.declared_places[index] or where, f"`{names[index]}` is declared here"),)
                if declared is not None
                else (Related(boundary.slots[index].place, f"`{names[index]}` is declared here"),),
                None,
                statement,
                symbol,
            )
            return
    if len(names) != len(boundary.slots):
        return
    for group in crossings(boundary, launch, names, unit.program):
        yield _crossed(unit, boundary, launch, names, group)
    for found in standing_in(boundary, launch, names, unit.program):
        yield CallMismatch(
            found.place,
            f"`{names[found.named]}` is passed where `{names[found.slot]}` is declared, and `{names[found.slot]}` is passed nowhere",
            f"pass `{names[found.slot]}`",
            _declared(boundary, found.slot, names),
            None,
            statement_of(launch.event, found.place) or statement,
            symbol,
        )


def _count(number: int) -> str:
    return f"{number} argument" + ("" if number == 1 else "s")


def _declared(boundary: Boundary, index: int, names: list[str]) -> tuple[Related, ...]:
    place = boundary.declared_places[index] if boundary.cdef is not None else boundary.slots[index].place
    return (Related(place, f"`{names[index]}` is declared here"),) if place is not None else ()


def _crossed(unit: KernelUnit, boundary: Boundary, launch: Launch, names: list[str], group: list[Crossed]) -> CallMismatch:
    first = min(group, key=lambda item: item.slot)
    others = [item for item in group if item is not first]
    return CallMismatch(
        first.place,
        f"`{names[first.named]}` is passed where `{names[first.slot]}` is declared",
        "pass each value to the slot that bears its name",
        (
            *(
                Related(item.place, f"`{names[item.named]}` is passed for `{names[item.slot]}`")
                for item in others
                if item.place != first.place
            ),
            *_declared(boundary, first.slot, names),
        ),
        _reorder(group),
        statement_of(launch.event, first.place) or launch.event.statement,
        function_of(launch.event, first.place),
    )


def _reorder(group: list[Crossed]) -> Fix | None:
    """Each argument's text at the place of the slot whose name it bears; None when they stand in different calls."""
    places = {item.slot: item.place for item in group}
    if len({place.source.path for place in places.values()}) != 1 or len(set(places.values())) != len(group):
        return None
    if any(place.source.is_rust or "\n" in place.text for place in places.values()):
        return None
    lines = [place.start[0] for place in places.values()]
    if max(lines) - min(lines) > 40:
        return None
    edits = [
        Edit(item.place.source, places[item.named].span.start, places[item.named].span.end, item.place.text) for item in group
    ]
    edits.sort(key=lambda edit: edit.start)
    if any(first.end > second.start for first, second in pairwise(edits)):
        return None
    return Fix("put the values into the slots that bear their names", tuple(edits), Applicability.UNSAFE)
