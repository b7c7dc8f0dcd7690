"""Occupancy and cluster size that change places: in a Python call, in the declarations, or in the export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slots import Boundary, Slot
from cutile_lint.unit.flows.configs import fields_read
from cutile_lint.unit.linking.where import function_of, statement_of
from cutile_lint.unit.machine.values import Known, Term, alternatives, subterms
from cutile_lint.unit.options.arguments import (
    OptionArgument,
    carried_option,
    is_swapped,
    plain_sources,
    rust_way,
    turning_point,
    way,
)
from cutile_lint.unit.options.option_names import CLUSTER, OCCUPANCY, option_named
from cutile_lint.unit.options.setters import applied_options, inputs_in

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

_PAIR = (CLUSTER, OCCUPANCY)


@dataclass(slots=True)
class Swap:
    """``carried`` stands where ``wanted`` belongs; ``receiver`` is what takes it and becomes ``option``."""

    place: Place
    carried: str
    wanted: str
    receiver: str
    option: str
    related: list[tuple[Place, str]] = field(default_factory=list)
    fix: Fix | None = None
    statement: Place | None = None
    symbol: str = ""


def swaps(unit: KernelUnit) -> Iterator[Swap]:
    """Each exchange once: those in exports first, then those of the Python calls that no export explains."""
    crossed = set()
    for boundary in unit.boundary:
        for swap in _in_export(boundary):
            crossed.add(id(boundary))
            yield swap
    seen: set[Place] = set()
    for argument in unit.option_arguments:
        if id(argument.boundary) in crossed or not is_swapped(argument):
            continue
        partner = _partner(unit, argument)
        if partner is not None and partner.slot.index < argument.slot.index:
            continue
        swap = _in_call(unit, argument, partner)
        if swap.place not in seen:
            seen.add(swap.place)
            yield swap


# ── in Python ──────────────────────────────────────────────────────────────


def _partner(unit: KernelUnit, argument: OptionArgument) -> OptionArgument | None:
    """The other exchanged slot of the same launch."""
    return next(
        (
            other
            for other in unit.option_arguments
            if other.launch is argument.launch and other.slot is not argument.slot and is_swapped(other)
        ),
        None,
    )


def _in_call(unit: KernelUnit, argument: OptionArgument, partner: OptionArgument | None) -> Swap:
    from cutile_lint.unit.options.option_fixes import exchange

    carried = _shown(argument)
    place, receiver = _turning_point(argument)
    related = [(one.place, one.message) for one in way(argument) if one.place != place]
    if partner is not None:
        other, _ = _turning_point(partner)
        related.insert(0, (other, f"`{_shown(partner)}` is passed here"))
        fix = exchange(argument.program, place, other, f"exchange `{carried}` and `{_shown(partner)}`")
    else:
        fix = _one_sided(unit, argument)
    event = argument.launch.event
    wanted = _shown(partner) if partner is not None else argument.option
    statement = statement_of(event, place)
    return Swap(place, carried, wanted, receiver, argument.option, related, fix, statement, function_of(event, place))


def _one_sided(unit: KernelUnit, argument: OptionArgument) -> Fix | None:
    """One option in the other's slot: exchange it with the constant that its own slot gets, else pass the slot's own field."""
    from cutile_lint.unit.options.option_fixes import exchange, forward_instead

    carried = carried_option(argument.value)
    for other in unit.option_arguments:
        if other.launch is argument.launch and other.option == carried and carried_option(other.value) is None:
            if any(isinstance(leaf, Known) for _, leaf in alternatives(other.value)):
                first, _ = _turning_point(argument)
                second, _ = turning_point(other, [leaf for _, leaf in alternatives(other.value)])
                same = (first == argument.place) == (second == other.place)
                places = (first, second) if same else (argument.place, other.place)
                return exchange(
                    argument.program, *places, f"exchange the values of `{argument.slot.name}` and `{other.slot.name}`"
                )
    return forward_instead(argument, carried) if carried is not None else None


def _shown(argument: OptionArgument) -> str:
    """The name of the config field or parameter that the argument brings."""
    carried = carried_option(argument.value)
    for name in fields_read(argument.value):
        if option_named(name) == carried:
            return name
    for part in subterms(argument.value):
        if isinstance(part, Term) and part.op == "input" and option_named(part.name) == carried:
            return part.name
    return carried or argument.option


def _turning_point(argument: OptionArgument) -> tuple[Place, str]:
    """Where the value gets the other option's name."""
    return turning_point(
        argument, [source for _, leaf in alternatives(argument.value) for source in (leaf, *plain_sources(leaf))]
    )


# ── in the export ──────────────────────────────────────────────────────────


def _in_export(boundary: Boundary) -> Iterator[Swap]:
    """Parameters named for one option that reach the setter of the other."""
    points: dict[str, tuple[Place, str, Slot]] = {}
    for launch in boundary.kernel_launches:
        for applied in applied_options(launch.options):
            if applied.name not in _PAIR or applied.place is None:
                continue
            for name in inputs_in(applied.value):
                slot, named = boundary.slot_named(name), option_named(name)
                if slot is None or named not in _PAIR or named == applied.name or len(inputs_in(applied.value)) > 1:
                    continue
                place, receiver = _handed_over(applied.value, applied.name) or (_argument(applied.place, name), applied.name)
                points.setdefault(named, (place, receiver, slot))
    first = next(iter(sorted(points.values(), key=lambda point: point[0].span.start)), None)
    if first is None:
        return
    place, receiver, slot = first
    others = [point for point in points.values() if point is not first]
    related = [(other, f"`{one.name}` is passed here") for other, _, one in others]
    related += [
        (one.place, one.message)
        for one in rust_way(boundary, slot)
        if one.place not in (place, *(other for other, _, _ in others))
    ]
    wanted = others[0][2].name if others else receiver
    fix = _exchanged(place, others[0][0], slot.name, wanted) if others else _corrected(boundary, place, slot)
    yield Swap(
        place, slot.name, wanted, receiver, _other(option_named(slot.name)), related, fix, None, boundary.export.function.name
    )


def _other(option: str | None) -> str:
    return OCCUPANCY if option == CLUSTER else CLUSTER


def _handed_over(value, option: str) -> tuple[Place, str] | None:
    """The macro or helper argument at which the value gets the other option's name."""
    for part in subterms(value):
        if isinstance(part, Term) and part.op == "input":
            for hop in part.hops():
                if hop.kind == "passed" and option_named(hop.name) == option and hop.place.text != hop.name:
                    return hop.place, hop.name.lstrip("$")
    return None


def _argument(setter: Place, name: str) -> Place:
    """The setter's argument inside the call, when it is the parameter's plain name; else the call."""
    from cutile_lint.sources import Span

    data = setter.source.part(*setter.span)
    at = data.rfind(b"(" + name.encode() + b")")
    if at == -1 or not data[:at].rstrip().endswith((OCCUPANCY.encode(), CLUSTER.encode())):
        return setter
    start = setter.span.start + at + 1
    return Place(setter.source, Span(start, start + len(name.encode())))


def _corrected(boundary: Boundary, place: Place, slot: Slot) -> Fix | None:
    """One parameter at the other option's setter: call its own setter there, or hand the right parameter to the macro."""
    source, named = place.source, option_named(slot.name) or ""
    wrong = _other(named)
    call = f"{wrong}(".encode()
    if place.text == slot.name and source.part(max(place.span.start - len(call), 0), place.span.start) == call:
        start = place.span.start - len(call)
        edit = Edit(source, start, start + len(wrong), named)
        return Fix(f"call the setter `{named}`", (edit,), Applicability.SAFE)
    right = next((other for other in boundary.slots if option_named(other.name) == wrong), None)
    if right is not None and place.text == slot.name and source is boundary.export.source:
        edit = Edit(source, place.span.start, place.span.end, right.name)
        return Fix(f"pass `{right.name}` there", (edit,), Applicability.SAFE)
    return None


def _exchanged(first: Place, second: Place, one: str, other: str) -> Fix | None:
    if first.source.path != second.source.path or first.text != one or second.text != other:
        return None
    edits = [
        Edit(first.source, first.span.start, first.span.end, other),
        Edit(second.source, second.span.start, second.span.end, one),
    ]
    return Fix(f"exchange `{one}` and `{other}`", tuple(sorted(edits, key=lambda edit: edit.start)), Applicability.SAFE)
