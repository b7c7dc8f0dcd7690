"""The names a value bears on its way into a slot, and slots whose values change places with those of others."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.launches import Launch, described_tensor
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.values import Choice, Known, Term, Value, alternatives

_CONVERSIONS = frozenset(["int", "float", "bool", "c_int", "c_int32", "c_int64", "c_float", "c_uint64", "ctypes.c_int32"])
_SUFFIX = regex(r"(_(desc|descriptor|ptr|tensor|d|t|i32))+$")


def normal(name: str) -> str:
    """A name without case, leading underscores and the endings that say what holds the value (``x_desc`` → ``x``)."""
    return _SUFFIX.sub("", name.lower().strip("_$")) or name.lower()


@dataclass(frozen=True, slots=True)
class Station:
    """A name that a value had. ``kind``: "field" (of a config), "input" (of the op), "bound", "passed"."""

    name: str
    kind: str
    place: Place | None


def stations(value: Value, program: Program) -> list[Station]:
    """The names of a value from its origin to where it is used; conversions and constants of a choice are looked through.

    What the alternatives of a choice were called before they came together does not count where it differs.
    """
    if isinstance(value, Choice):
        chains = [stations(one, program) for _, one in alternatives(value) if not isinstance(one, Known)]
        return _common_end(chains) if chains else []
    found: list[Station] = []
    if isinstance(value, Term):
        inner = _inside(value, program)
        if inner is not None:
            found += stations(inner, program)
        elif value.op in ("field", "input"):
            found.append(Station(normal(value.name), value.op, value.place))
    found += [Station(normal(hop.name), hop.kind, hop.place) for hop in value.hops() if hop.kind in ("bound", "passed")]
    return found


def _common_end(chains: list[list[Station]]) -> list[Station]:
    same = 0
    for stations_there in zip(*(reversed(chain) for chain in chains), strict=False):
        if len({(one.name, one.kind) for one in stations_there}) > 1:
            break
        same += 1
    return chains[0][len(chains[0]) - same :]


def _inside(value: Term, program: Program) -> Value | None:
    """The value that a conversion or a descriptor is made from."""
    if value.op == "call" and value.name in _CONVERSIONS and len(value.args) == 1:
        return value.args[0]
    return described_tensor(value, program) if value.op == "call" else None


@dataclass(frozen=True, slots=True)
class Crossed:
    """The value named like slot ``named`` stands in slot ``slot`` since ``place``."""

    slot: int
    named: int
    place: Place


def _source(boundary: Boundary, launch: Launch, index: int, by_name: dict[str, int], program: Program) -> Crossed | None:
    """The slot whose name the value of a slot bore first; a local that takes a value over under a new name is meant so."""
    now: int | None = None
    since = launch.argument_place(index)
    field, last = False, index
    for station in stations(launch.arguments.positional[index], program):
        at = by_name.get(station.name)
        if at is None:
            continue
        if now is None or (station.kind == "bound" and not field and at != last):
            now, since, field = at, launch.argument_place(index), station.kind == "field"
        elif at != now and station.place is not None and since == launch.argument_place(index):
            since = station.place
        last = at
    if now is None:
        return None
    return Crossed(index, now, launch.argument_place(index) if last != index else since)


def crossings(boundary: Boundary, launch: Launch, names: list[str], program: Program) -> Iterator[list[Crossed]]:
    """Groups of slots whose values changed places among themselves; ``names`` are the slots' names.

    A deliberate exchange of two operands, made for all of an operand's slots, is none.
    """
    by_name = {normal(name): index for index, name in enumerate(names)}
    if len(by_name) < len(names):
        return
    found = {
        index: source
        for index in range(min(len(names), len(launch.arguments.positional)))
        if (source := _source(boundary, launch, index, by_name, program)) is not None
    }
    groups = list(_cycles(found))
    if _is_operand_swap(boundary, groups, names):
        return
    for group in groups:
        slots = [boundary.slots[item.slot] for item in group if item.slot < len(boundary.slots)]
        if all(slot.option is not None for slot in slots) or all(slot.roles() & {"device", "stream"} for slot in slots):
            continue
        if len({slot.is_descriptor for slot in slots}) == 1:
            yield group


def _cycles(found: dict[int, Crossed]) -> Iterator[list[Crossed]]:
    seen: set[int] = set()
    for start in found:
        group, at = [], start
        while at in found and found[at].named != at and at not in seen:
            seen.add(at)
            group.append(found[at])
            at = found[at].named
        if len(group) > 1 and at == start:
            yield group


def _is_operand_swap(boundary: Boundary, groups: list[list[Crossed]], names: list[str]) -> bool:
    """Two descriptors change places, and so does every pair of scalar slots that is named after them (or, without any, another pair)."""
    pairs = [(item.slot, item.named) for group in groups if len(group) == 2 for item in group[:1]]
    operands = [pair for pair in pairs if all(at < len(boundary.slots) and boundary.slots[at].is_descriptor for at in pair)]
    scalars = [set(pair) for pair in pairs if pair not in operands]
    if len(operands) != 1:
        return False
    first, second = (normal(names[at]) for at in operands[0])
    named = list(_pairs_named_after(names, first, second, set(operands[0])))
    return all(pair in scalars for pair in named) if named else bool(scalars)


def _pairs_named_after(names: list[str], first: str, second: str, operands: set[int]) -> Iterator[set[int]]:
    words = [normal(name).split("_") for name in names]
    for index, one in enumerate(words):
        if index in operands or first not in one:
            continue
        other = [second if word == first else word for word in one]
        if other in words:
            yield {index, words.index(other)}


def standing_in(boundary: Boundary, launch: Launch, names: list[str], program: Program) -> Iterator[Crossed]:
    """Slots that get the value named like another slot, which gets it too, while the value of the slot's own name goes nowhere."""
    by_name = {normal(name): index for index, name in enumerate(names)}
    if len(by_name) < len(names) or len(launch.arguments.positional) != len(names):
        return
    own = [[one.name for one in stations(value, program)] for value in launch.arguments.positional]
    # the function that launches and those that it is called from; the op's own parameters only where it launches itself
    frames = [stop.frame.function for stop in launch.event.stack[1:] or launch.event.stack]
    visible = {normal(param.name) for function in frames if function is not None for param in function.params}
    given = {name for chain in own for name in chain[-1:]}
    for index, chain in enumerate(own):
        last = next((name for name in reversed(chain) if name in by_name), None)
        if last is None or by_name[last] == index or chain[-1] != last or last not in own[by_name[last]][-1:]:
            continue
        mine = normal(names[index])
        if mine in visible and mine not in given and boundary.slots[index].option is None:
            yield Crossed(index, by_name[last], launch.argument_place(index))
