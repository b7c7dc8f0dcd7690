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
from cutile_lint.unit.options.setters import applied_options, inputs_in, inputs_tested, setter_events

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


@dataclass(slots=True)
class _Crossed:
    """A parameter of the export at the setter of the other option, or where a macro or helper takes it for that one.

    ``asked``: the options' parameters that the tests around the setter speak of.
    """

    place: Place
    receiver: str
    slot: Slot
    asked: set[str]


def _in_export(boundary: Boundary) -> Iterator[Swap]:
    """Parameters named for one option that reach the setter of the other."""
    points = _crossed(boundary)
    first = next(iter(sorted(points.values(), key=lambda point: point.place.span.start)), None)
    if first is None:
        return
    slot, other = first.slot, next((point for point in points.values() if point is not first), None)
    related = [(other.place, f"`{other.slot.name}` is passed here")] if other is not None else []
    known = {first.place, *(place for place, _ in related)}
    related += [(one.place, one.message) for one in rust_way(boundary, slot) if one.place not in known]
    wanted = other.slot.name if other is not None else first.receiver
    fix = _exchanged(first, other) if other is not None else _corrected(boundary, first)
    option = _other(option_named(slot.name))
    name = boundary.export.function.name
    yield Swap(first.place, slot.name, wanted, first.receiver, option, related, fix, None, name)


def _crossed(boundary: Boundary) -> dict[str, _Crossed]:
    """The first crossed place for each option that is crossed."""
    points: dict[str, _Crossed] = {}
    for launch in boundary.kernel_launches:
        for applied in applied_options(launch.options):
            names = inputs_in(applied.value)
            if applied.name not in _PAIR or applied.place is None or len(names) != 1:
                continue
            name = next(iter(names))
            slot, named = boundary.slot_named(name), option_named(name)
            if slot is None or named not in _PAIR or named == applied.name:
                continue
            place, receiver = _handed_over(applied.value, applied.name) or (_argument(applied.place, name), applied.name)
            points.setdefault(named, _Crossed(place, receiver, slot, _asked(boundary, applied.place)))
    return points


def _asked(boundary: Boundary, setter: Place) -> set[str]:
    """The options' parameters that decide whether the setter is called; it runs once for each value of the options before it."""
    events = [event for event in setter_events(boundary.run.trace) if event.place == setter]
    literals = {literal.key(): literal for event in events for literal in event.path}
    always = set(literals).intersection(*({literal.key() for literal in event.path} for event in events))
    names = {name for key in always for name in inputs_tested(literals[key].test)}
    return {name for name in names if option_named(name) in _PAIR}


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


def _renamed(point: _Crossed) -> Edit | None:
    """The setter of the parameter's own option instead of the one that is called with it; None where no setter is called with it."""
    place, named = point.place, option_named(point.slot.name) or ""
    wrong = _other(named)
    start = place.span.start - len(f"{wrong}(")
    if place.text != point.slot.name or place.source.part(max(start, 0), place.span.start) != f"{wrong}(".encode():
        return None
    return Edit(place.source, start, start + len(wrong), named)


def _passed(point: _Crossed, name: str) -> Edit | None:
    """Another parameter in the place of this one."""
    place = point.place
    return Edit(place.source, place.span.start, place.span.end, name) if place.text == point.slot.name else None


def _corrected(boundary: Boundary, point: _Crossed) -> Fix | None:
    """One parameter at the other option's setter: call its own setter there, or pass the right parameter; as the test around it says."""
    own, named = point.slot.name, option_named(point.slot.name)
    right = next((other.name for other in boundary.slots if option_named(other.name) == _other(named)), None)
    renamed = _renamed(point)
    if renamed is not None and not point.asked - {own} and not _is_applied(boundary, own, named):
        return Fix(f"call the setter `{named}`", (renamed,), Applicability.SAFE)
    passed = _passed(point, right) if right is not None and point.place.source is boundary.export.source else None
    if passed is not None and (renamed is None or not point.asked - {right}):
        return Fix(f"pass `{right}` there", (passed,), Applicability.SAFE)
    return None


def _is_applied(boundary: Boundary, name: str, option: str | None) -> bool:
    """The parameter reaches its own option's setter too."""
    launches = boundary.kernel_launches
    return any(
        applied.name == option and name in inputs_in(applied.value)
        for launch in launches for applied in applied_options(launch.options)
    )  # fmt: skip


def _exchanged(first: _Crossed, second: _Crossed) -> Fix | None:
    """Exchange the names of the setters where the tests around them are of the values passed, else what is passed."""
    if first.place.source.path != second.place.source.path:
        return None
    one, other = first.slot.name, second.slot.name
    renamed, passed = (_renamed(first), _renamed(second)), (_passed(first, other), _passed(second, one))
    if (renamed[0] is None) != (renamed[1] is None):
        return None
    if renamed[0] is None or (not first.asked - {other} and not second.asked - {one}):
        edits, message = passed, f"exchange `{one}` and `{other}`"
    elif not first.asked - {one} and not second.asked - {other}:
        edits, message = renamed, f"exchange the setters of `{one}` and `{other}`"
    else:
        return None
    found = [edit for edit in edits if edit is not None]
    return Fix(message, tuple(sorted(found, key=lambda edit: edit.start)), Applicability.SAFE) if len(found) == 2 else None
