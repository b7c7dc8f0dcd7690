"""What belongs together across the languages: calls, declarations, exports, slots, config fields and entries, place by place.

Made once per analysis; requests only look places up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.server.calls import Written, word, written
from cutile_lint.sources import Place, Span
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.slots import Boundary, Slot
from cutile_lint.unit.flows.configs import configs_of
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.machine.trace import Tuning
from cutile_lint.unit.machine.values import alternatives
from cutile_lint.unit.options.arguments import plain_sources, unapplied_options, unattached_launches

#: role of a place -> roles of the places that are its definition, the first that there are
DEFINED_BY: dict[str, tuple[str, ...]] = {
    "call": ("export", "declaration"),
    "declaration": ("export",),
    "export": ("export",),
    "argument": ("parameter", "declared"),
    "declared": ("parameter",),
    "parameter": ("config", "argument"),
    "read": ("config", "parameter"),
    "config": ("config",),
    "field": ("config",),
    "use": ("parameter",),
    "launch": ("entry",),
    "entry": ("entry",),
}

#: bytes before a value among which its name is looked for, and what stands between the two
_NEAR = 120
_BETWEEN = regex(rb"""(["'])\s*:\s*|\s*(?::[^=,(\n]*)?=\s*""")


@dataclass(frozen=True, slots=True)
class Spot:
    """A place with what it is of its thing: a key of :data:`DEFINED_BY`."""

    place: Place
    role: str


@dataclass(slots=True)
class Thing:
    """An export, a slot or an entry, with all places that mean it."""

    kind: str
    name: str
    place: Place
    spots: dict[tuple[Place, str], Spot] = field(default_factory=dict)

    def add(self, place: Place | None, role: str) -> None:
        if place is not None:
            self.spots.setdefault((place, role), Spot(place, role))

    def places(self, *roles: str) -> list[Place]:
        """Places in one of the roles (none given: in any), each once."""
        return list(dict.fromkeys(spot.place for spot in self.spots.values() if not roles or spot.role in roles))


@dataclass(frozen=True, slots=True)
class Hint:
    """A slot's name for the argument at a place."""

    place: Place
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Lens:
    """What is said above an export: its callers, and facts about it."""

    place: Place
    callers: tuple[Place, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Links:
    """Everything of one op file."""

    things: tuple[Thing, ...] = ()
    hints: tuple[Hint, ...] = ()
    lenses: tuple[Lens, ...] = ()


NO_LINKS = Links()


def links_of(units: Iterable[KernelUnit]) -> Links:
    """The links of the ops of one file; what several ops share is there once."""
    return merged(links_of_op(unit) for unit in units)


def links_of_op(unit: KernelUnit) -> Links:
    """The links of one op, to be merged."""
    things: dict[tuple[str, Place], Thing] = {}
    hints: dict[tuple[Place, str], Hint] = {}
    lenses: list[Lens] = []
    tunings = {id(launch): _tuning(run.tunings, launch) for run in unit.runs for launch in run.launches}
    for boundary in unit.boundary:
        names = [slot.name for slot in boundary.slots]
        calls = [written(launch, names) for launch in boundary.launches]
        _export(boundary, calls, things)
        for slot in boundary.slots:
            _slot(boundary, slot, calls, tunings, things)
        for call in calls:
            for index in call.plain:
                slot, place = boundary.slots[index], call.arguments[index]
                hints.setdefault((place, slot.name), Hint(place, slot.name, slot.type))
        lenses.append(_lens(unit, boundary, calls))
    called = {boundary.symbol for boundary in unit.boundary}
    for export in unit.exports.values():
        if export.symbol not in called:  # by this op
            _thing(things, "export", export.symbol, export.place).add(export.place, "export")
            lenses.append(Lens(export.place, (), ()))
    return Links(tuple(things.values()), tuple(hints.values()), tuple(lenses))


def merged(links: Iterable[Links]) -> Links:
    """The links of several ops of a file as one."""
    things: dict[tuple[str, Place], Thing] = {}
    hints: dict[tuple[Place, str], Hint] = {}
    lenses: dict[Place, Lens] = {}
    for one in links:
        for thing in one.things:
            spots = _thing(things, thing.kind, thing.name, thing.place).spots
            for key, spot in thing.spots.items():
                spots.setdefault(key, spot)
        for hint in one.hints:
            hints.setdefault((hint.place, hint.name), hint)
        for lens in one.lenses:
            before = lenses.get(lens.place)
            callers = tuple(dict.fromkeys((*(before.callers if before else ()), *lens.callers)))
            lenses[lens.place] = Lens(lens.place, callers, (before.facts if before else ()) or lens.facts)
    count = Counter(place for place, _ in hints)
    kept = tuple(hint for hint in hints.values() if count[hint.place] == 1)  # several: a spread argument
    return Links(tuple(things.values()), kept, tuple(lenses.values()))


def _tuning(tunings: list[Tuning], launch: Launch) -> Tuning | None:
    return next((one for one in tunings if one.number == launch.timed), None)


def _thing(things: dict[tuple[str, Place], Thing], kind: str, name: str, place: Place) -> Thing:
    return things.setdefault((kind, place), Thing(kind, name, place))


def _export(boundary: Boundary, calls: list[Written], things: dict[tuple[str, Place], Thing]) -> None:
    thing = _thing(things, "export", boundary.symbol, boundary.export.place)
    thing.add(boundary.export.place, "export")
    if boundary.cdef is not None:
        thing.add(boundary.in_text(boundary.cdef.name_span), "declaration")
    for call in calls:
        for name in call.names:
            thing.add(name, "call")
    for launch in boundary.kernel_launches:
        if launch.entry is not None:
            entry = _thing(things, "entry", launch.entry_name, launch.entry.place)
            entry.add(launch.entry.place, "entry")
            entry.add(word(launch.place, launch.entry_name), "launch")


def _slot(
    boundary: Boundary,
    slot: Slot,
    calls: list[Written],
    tunings: dict[int, Tuning | None],
    things: dict[tuple[str, Place], Thing],
) -> None:
    thing = _thing(things, "slot", slot.name, slot.place)
    thing.add(word(slot.place, slot.name), "parameter")
    if slot.declared is not None:
        thing.add(boundary.in_text(slot.declared.name_span), "declared")
    for use in slot.uses:
        if use.place != slot.place:  # a value that is used as it came has no other place
            thing.add(use.place, "use")
    for launch, call in zip(boundary.launches, calls, strict=True):
        if slot.index not in call.arguments:
            continue
        thing.add(call.arguments[slot.index], "argument")
        for place, role in _fields(launch, slot, tunings.get(id(launch))):
            thing.add(place, role)


def _fields(launch: Launch, slot: Slot, tuning: Tuning | None) -> Iterator[tuple[Place | None, str]]:
    """Where the config field that a slot gets is read, where the configs give it a value, and where their class declares it."""
    value = launch.arguments.get(slot.index, slot.name)
    for _, leaf in alternatives(value) if value is not None else ():
        for source in plain_sources(leaf):
            if source.op != "field":
                continue
            yield source.place, "read"
            classes = set()
            for config in (configs_of(tuning) if tuning is not None else None) or ():
                place = config.place_of(source.name)
                yield _named(place, source.name) if place is not None else None, "config"
                if config.cls not in classes:
                    classes.add(config.cls)
                    yield config.declared_at(source.name), "field"


def _named(place: Place, name: str) -> Place:
    """A field's value together with its name where that stands before it: ``BM=64``, ``"BM": 64``, ``BM: int = 64``."""
    start = place.span.start
    before, word = place.source.raw[max(0, start - _NEAR) : start], name.encode()
    at = before.rfind(word)
    if at < 0:
        return place
    first = start - len(before) + at
    place.source.part(first, start)  # a comment may come in between, or go
    between = _BETWEEN.fullmatch(before, at + len(word))
    if between is None or before[at - 1 : at].replace(b"_", b"x").isalnum():
        return place
    return Place(place.source, Span(first - (between[1] is not None), place.span.end))


def _lens(unit: KernelUnit, boundary: Boundary, calls: list[Written]) -> Lens:
    count = len(boundary.kernel_launches)
    facts = [f"{count} variant{'s' if count != 1 else ''}"] if count else []
    options = dict.fromkeys(slot.option for slot in boundary.slots if slot.option is not None)
    if options:
        missing = dict.fromkeys(one.option for one in unapplied_options(unit) if one.boundary is boundary)
        bare = any(one is boundary for one, _ in unattached_launches(unit))
        if missing:
            facts.append(f"{', '.join(missing)} not applied")
        elif bare:
            facts.append("options not attached")
        elif not boundary.run.trace.gaps:
            facts.append("options forwarded")
    return Lens(boundary.export.place, tuple(dict.fromkeys(call.call for call in calls)), tuple(facts))


def spots_at(links: Iterable[Links], path: Path) -> Iterator[tuple[Thing, Spot]]:
    """All spots in a file."""
    for one in links:
        for thing in one.things:
            for spot in thing.spots.values():
                if spot.place.path == path:
                    yield thing, spot
