"""What each compile option slot gets for each config of a tuned launch, and at which hop a config's value is lost, swapped or replaced."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeGuard

from cutile_lint.findings import Related
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slots import Boundary, Slot, distinct
from cutile_lint.unit.flows.configs import configs_of
from cutile_lint.unit.flows.fold import Folder
from cutile_lint.unit.flows.origins import Origin, origins
from cutile_lint.unit.launches import KernelLaunch, Launch
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.trace import Event, Tuning
from cutile_lint.unit.machine.values import Choice, Items, Known, Term, Value, alternatives
from cutile_lint.unit.options.option_names import CLUSTER, OCCUPANCY, option_named
from cutile_lint.unit.options.setters import (
    SENTINELS,
    applied_options,
    inputs_in,
    is_options,
    sentinel_reaches,
    setter_events,
    setter_value,
    with_input,
    with_inputs,
)

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

_GRID_NAME = regex(r"_*(GRID|NUM_PROGRAMS|NUM_SMS?|MAX_PROGRAMS|PERSISTENT_PROGRAMS)(_|$)")


@dataclass(slots=True, eq=False)
class OptionArgument:
    """One compile option slot in one launch."""

    unit: KernelUnit
    boundary: Boundary
    slot: Slot
    option: str
    launch: Launch
    value: Value
    place: Place
    tuning: Tuning | None

    @property
    def program(self) -> Program:
        return self.unit.program

    def origins(self) -> list[Origin]:
        return origins(self.launch.event, self.place, self.program)


def option_arguments(unit: KernelUnit) -> Iterator[OptionArgument]:
    """Each compile option slot of each launch whose arguments fit the export's slots."""
    tunings = {id(run.trace): run.tunings for run in unit.runs}
    by_launch = {id(launch): run for run in unit.runs for launch in run.launches}
    for boundary in unit.boundary:
        slots = [slot for slot in boundary.slots if slot.option is not None]
        for launch in boundary.launches:
            if not slots or not boundary.is_aligned(launch):
                continue
            run = by_launch[id(launch)]
            tuning = next((one for one in tunings[id(run.trace)] if one.number == launch.timed), None)
            for slot in slots:
                value = launch.arguments.positional[slot.index]
                yield OptionArgument(
                    unit, boundary, slot, slot.option or "", launch, value, launch.argument_place(slot.index), tuning
                )


# ── swapped (CTL209) ───────────────────────────────────────────────────────


def carried_option(value: Value) -> str | None:
    """The compile option whose value this is: a config field or parameter as it is, perhaps converted or with a default."""
    found = {option_named(part.name) for _, leaf in alternatives(value) for part in plain_sources(leaf)} - {None}
    return found.pop() if len(found) == 1 else None


def plain_sources(leaf: Value) -> list[Term]:
    """The config field or parameter that a value is, through conversions, clamps and defaults; nothing for a computed one."""
    if isinstance(leaf, Term):
        if leaf.op in ("field", "input"):
            return [leaf]
        if leaf.op == "or" or (leaf.op == "call" and leaf.name in ("int", "max", "min")):
            parts = [part for part in leaf.args if not isinstance(part, Known)]
            if len(parts) == 1:
                return [source for _, inner in alternatives(parts[0]) for source in plain_sources(inner)]
    return []


def is_swapped(argument: OptionArgument) -> bool:
    """The slot gets the value of the other option."""
    carried = carried_option(argument.value)
    return carried in (CLUSTER, OCCUPANCY) and argument.option in (CLUSTER, OCCUPANCY) and carried != argument.option


# ── a grid's size as an option (CTL206) ────────────────────────────────────


def turning_point(argument: OptionArgument, sources: list[Value]) -> tuple[Place, str]:
    """Where a value gets the option's name: the first parameter named for it on the way, else the slot; and what that is called."""
    for source in sources:
        for hop in source.hops():
            if hop.kind == "passed" and option_named(hop.name) == argument.option and hop.place.source.is_python:
                return hop.place, hop.name
    return argument.place, argument.slot.name


@dataclass(frozen=True, slots=True)
class GridSource:
    """Why a value is a grid's: ``name`` says what it is, ``place`` where that was seen; ``passed`` is where it is taken for an option."""

    name: str
    place: Place | None
    passed: Place


def grid_source(argument: OptionArgument) -> GridSource | None:
    """The grid-sizing value that an option slot gets; None for other values, and for a config field that feeds both."""
    for _, leaf in alternatives(argument.value):
        if any(source.op == "field" for source in plain_sources(leaf)):
            continue
        for part in _own_parts(leaf):
            for hop in part.hops():
                if hop.kind == "bound" and _GRID_NAME.match(hop.name):
                    return GridSource(hop.name, hop.place, turning_point(argument, [leaf, part])[0])
            if _is_num_sm(part, argument.program):
                return GridSource(part.name.rsplit(".", 1)[-1], part.place, turning_point(argument, [leaf, part])[0])
        if (found := _same_as_grid(argument, leaf)) is not None:
            return found
    return None


def _own_parts(value: Value) -> Iterator[Value]:
    """The :func:`subterms`, without the list of configs behind a config."""
    pending = [value]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, Term) and part.op != "config":
            pending += reversed((*part.args, *part.keywords.values()))
        elif isinstance(part, Choice):
            pending += [inner for _, inner in reversed(part.alternatives)]
        elif isinstance(part, Items):
            pending += reversed(part.items)


def _is_num_sm(part: Value, program: Program) -> TypeGuard[Term]:
    """The number of the device's multiprocessors, from the runtime or from torch."""
    if not isinstance(part, Term):
        return False
    return (part.op == "call" and program.role(part.name) == "get-num-sm") or (
        part.op == "attr" and part.name == "multi_processor_count"
    )


def _same_as_grid(argument: OptionArgument, leaf: Value) -> GridSource | None:
    core = _core(leaf)
    if isinstance(core, Term) and core.op not in ("unknown", "field", "config"):
        keys = {core.key()}
    elif isinstance(core, Known) and isinstance(core.value, int) and core.value > 0:
        keys = None
    else:
        return None
    if isinstance(core, Term) and core.op == "input" and option_named(core.name) is not None:
        return None
    bound = {(hop.place, hop.name) for hop in leaf.hops() if hop.kind == "bound" and hop.name}
    for slot in argument.boundary.slots:
        if slot.option is not None or "grid" not in slot.roles() or "generic" in slot.roles():
            continue
        given = argument.launch.arguments.positional[slot.index]
        for part in (_core(given), *(_core(one) for _, one in alternatives(given))):
            if keys is not None:
                if part.key() in keys:
                    return GridSource(
                        slot.name, argument.launch.argument_place(slot.index), turning_point(argument, [leaf, core])[0]
                    )
            elif bound and any((hop.place, hop.name) in bound for inner in _own_parts(part) for hop in inner.hops()):
                return GridSource(slot.name, argument.launch.argument_place(slot.index), turning_point(argument, [leaf, core])[0])
    return None


def _core(value: Value) -> Value:
    while isinstance(value, Term) and value.op == "call" and value.name in ("int", "builtins.int") and len(value.args) == 1:
        value = value.args[0]
    return value


# ── the Rust side (CTL202, CTL203, CTL209) ─────────────────────────────────


@dataclass(slots=True, eq=False)
class UnappliedOption:
    """An option that the export takes and that does not reach the options of these launches."""

    boundary: Boundary
    slot: Slot
    option: str
    launches: list[KernelLaunch]
    #: all launches of the export are without it
    everywhere: bool
    #: the option that drops it where that one is given (``when_given``), or is not; None: it never reaches them
    beside: Slot | None = None
    when_given: bool = True


def unapplied_options(unit: KernelUnit) -> Iterator[UnappliedOption]:
    for boundary in unit.boundary:
        if boundary.run.trace.gaps:
            continue
        with_options = [launch for launch in boundary.kernel_launches if launch.options is not None]
        for slot in boundary.slots:
            if slot.option is None or slot.is_descriptor:
                continue
            missing = [launch for launch in with_options if _reaches(launch, slot) is False]
            beside, given = None, True
            if not missing:
                beside, given, missing = _dropped_by(boundary, slot, with_options)
            if (
                missing
                and not crossed_setter(boundary, slot)
                and not any(
                    crossed_setter(boundary, other) for other in boundary.slots if slot.option in {use.name for use in other.uses}
                )
            ):
                everywhere = len(missing) == len(boundary.kernel_launches)
                yield UnappliedOption(boundary, slot, slot.option, missing, everywhere, beside, given)


def _reaches(launch: KernelLaunch, slot: Slot) -> bool | None:
    """Whether a positive value of the slot reaches its setter in the launch; None when the options are not understood."""
    if _is_applied(launch, slot, with_input(slot.name, 2)):
        return True
    return False if is_options(launch.options) else None


def _is_applied(launch: KernelLaunch, slot: Slot, folder: Folder) -> bool:
    """The slot's value may reach its setter in the launch, for what the folder knows."""
    return any(
        applied.name == slot.option and slot.name in inputs_in(applied.value) and folder.holds(applied.path) is not False
        for applied in applied_options(launch.options)
    )


def _dropped_by(boundary: Boundary, slot: Slot, launches: list[KernelLaunch]) -> tuple[Slot | None, bool, list[KernelLaunch]]:
    """Another option, whether it is given, and the launches whose options then are without this one."""
    for number in (2, *SENTINELS):
        for other in boundary.slots:
            if other.option is not None and other.option != slot.option and not other.is_descriptor:
                question = (_without, slot.name, slot.option, other.name, number)
                ask = partial(_without, slot, {slot.name: 2, other.name: number}, launches)
                if without := boundary.run.answers.once(question, ask):
                    return other, number > 0, without
    return None, True, []


def _without(slot: Slot, numbers: dict[str, int], launches: list[KernelLaunch]) -> list[KernelLaunch]:
    """The launches whose options are without the slot's for these numbers."""
    folder = with_inputs(numbers)
    return [
        launch
        for launch in launches
        if is_options(launch.options) and folder.holds(launch.path) is not False and not _is_applied(launch, slot, folder)
    ]


def crossed_setter(boundary: Boundary, slot: Slot) -> bool:
    """The slot reaches the setter of another option than its declared name means."""
    named = option_named(slot.name)
    return named is not None and any(use.role == "option" and use.name != named for use in slot.uses)


def has_options(boundary: Boundary) -> bool:
    """The export takes or builds compile options."""
    taken = any(option_named(slot.name) is not None or slot.option is not None for slot in boundary.slots)
    built = any(
        event.kind == "call" and (event.name.startswith("CompileOptions") or "::CompileOptions::" in event.name)
        for event in boundary.run.trace.events
    )
    return taken or built


def unattached_launches(unit: KernelUnit) -> Iterator[tuple[Boundary, KernelLaunch]]:
    """Launches without ``.compile_options(…)`` in exports that take or build options."""
    for boundary in unit.boundary:
        if not boundary.run.trace.gaps and has_options(boundary):
            without = [launch for launch in boundary.run.launches if "compile_options" not in launch.chain]
            left_out = distinct(launch for launch in without if not _leaves_nothing_out(boundary, launch))
            yield from ((boundary, launch) for launch in left_out)


def _leaves_nothing_out(boundary: Boundary, launch: KernelLaunch) -> bool:
    """Only callers that give no option get there, and the export has none of its own: default options change nothing."""
    slots = [slot for slot in boundary.slots if slot.option is not None and not slot.is_descriptor]
    path = launch.path + launch.condition
    if not slots or any(with_input(slot.name, 2).holds(path) is not False for slot in slots):
        return False
    return all(inputs_in(applied.value) for other in boundary.run.launches for applied in applied_options(other.options))


@dataclass(slots=True, eq=False)
class UnguardedSetter:
    """A setter that a value ``<= 0`` of the slot reaches."""

    event: Event
    slot: Slot
    sentinel: int
    symbol: str


def unguarded_setters(unit: KernelUnit) -> Iterator[UnguardedSetter]:
    """Setters called with a caller's value on a way without a test that it is positive; each place once."""
    seen: set[Place] = set()
    for boundary in unit.boundary:
        for event in setter_events(boundary.run.trace):
            if event.place in seen:
                continue
            for name in sorted(inputs_in(setter_value(event))):
                slot, sentinel = boundary.slot_named(name), sentinel_reaches(event, name, boundary.run)
                if slot is not None and sentinel is not None:
                    seen.add(event.place)
                    yield UnguardedSetter(event, slot, sentinel, event.stop.frame.name)
                    break


# ── showing a flow ─────────────────────────────────────────────────────────


def flow(argument: OptionArgument) -> list[Related]:
    """The whole way of an option's value, hop by hop: configs, reads, bindings, calls, declaration, parameter, macro arguments, setter."""
    configs = (configs_of(argument.tuning) or []) if argument.tuning is not None else []
    hops: dict[Place, str] = {}
    for config in configs:
        name = config.field_of(argument.option)
        if name is not None and (place := config.place_of(name)) is not None:
            hops.setdefault(place, f"`{name}` of a config")
    for _, leaf in alternatives(argument.value):
        for source in (*plain_sources(leaf), leaf):
            for hop in source.hops():
                verb = {"made": "read", "bound": "bound to", "passed": "passed as", "default": "left to the default of"}.get(
                    hop.kind, hop.kind
                )
                hops.setdefault(hop.place, f"{verb} `{hop.name}`" if hop.name else "written here")
    found = [Related(place, text) for place, text in hops.items() if place != argument.place]
    return found + way(argument)


def way(argument: OptionArgument) -> list[Related]:
    """The way from the FFI call to the setter: argument, declaration, parameter, macro or helper arguments, setter."""
    slot = argument.slot
    found = [Related(argument.place, f"the call passes it as argument {slot.index + 1} of `{argument.boundary.symbol}`")]
    return found + rust_way(argument.boundary, slot)


def rust_way(boundary: Boundary, slot: Slot, *, parameter: bool = True) -> list[Related]:
    found = []
    if slot.declared is not None and slot.declared_place is not None:
        found.append(Related(slot.declared_place, f"declared to cffi as `{slot.declared.name}`"))
    if parameter:
        found.append(Related(slot.place, f"parameter `{slot.name}` of the export"))
    setters = {}
    for launch in boundary.kernel_launches:
        for applied in applied_options(launch.options):
            if slot.name in inputs_in(applied.value) and applied.place is not None:
                for hop in applied.value.hops():
                    if hop.kind == "passed" and hop.name and hop.place != slot.place:
                        setters.setdefault(hop.place, f"handed on as `{hop.name.lstrip('$')}`")
                setters.setdefault(applied.place, f"applied by the setter `{applied.name}`")
    return found + [Related(place, text) for place, text in setters.items()]
