"""Compile options that are lost on the Python side: a config, or the reference, has an explicit value and the slot gets another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Related
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.flows.configs import Config, configs_of, fields_read
from cutile_lint.unit.flows.fold import UNKNOWN, Folder
from cutile_lint.unit.flows.origins import Origin, node_at
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.linking.where import level_of, stop_of
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.values import Condition, Value, alternatives
from cutile_lint.unit.options.arguments import OptionArgument, grid_source, is_swapped
from cutile_lint.unit.options.option_names import option_named
from cutile_lint.unit.options.other_devices import is_for_other_devices

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(slots=True, eq=False)
class LostValue:
    """An explicit value that does not arrive: ``place`` says ``expected``, the slot gets ``got`` by ``leaf``.

    ``name`` is the config's field; "" when the reference says it.
    """

    name: str
    expected: int
    got: int
    leaf: Value
    place: Place | None


@dataclass(slots=True, eq=False)
class LostOption:
    """An option whose explicit value is lost on the way to its slot."""

    argument: OptionArgument
    values: list[LostValue]
    #: where the value that arrives instead was made
    origin: Origin | None
    configs: list[Config] = field(default_factory=list)

    @property
    def place(self) -> Place:
        return self.origin.place if self.origin is not None else self.argument.place

    @property
    def from_reference(self) -> bool:
        return not self.values[0].name

    @property
    def nullable(self) -> bool:
        """A config leaves the option open."""
        return any(config.explicit(self.argument.option) is None for config in self.configs)

    @property
    def sources(self) -> list[Related]:
        """Where explicit values are written, the largest first; two are enough."""
        seen: dict[Place, Related] = {}
        for value in sorted(self.values, key=lambda value: -value.expected):
            if value.place is not None and value.place not in seen:
                who = f"a config sets `{value.name}`" if value.name else f"the reference sets `{self.argument.option}`"
                seen[value.place] = Related(value.place, f"{who} to {value.expected}")
        return list(seen.values())[:2]


def lost_options(unit: KernelUnit, option: str) -> Iterator[LostOption]:
    """Options of which configs (else the reference) carry explicit values that the slot does not get, for any launch and config."""
    for argument in unit.option_arguments:
        if argument.option != option or _has_swap(unit, argument) or grid_source(argument) is not None:
            continue
        leaves = alternatives(argument.value)
        configs = configs_of(argument.tuning) if argument.tuning is not None else []
        if configs is None:
            continue
        values = list(_lost_by_configs(argument, configs, leaves))
        if not values:
            others = [(path, leaf) for path, leaf in leaves if not _carries(leaf, option)]
            values = list(_lost_to_reference(unit, argument, configs, others))
        yield from _by_origin(argument, values, configs)


def _has_swap(unit: KernelUnit, argument: OptionArgument) -> bool:
    """The launch's options change places: one fault, told by CTL209."""
    return any(other.launch is argument.launch and is_swapped(other) for other in unit.option_arguments)


def _carries(leaf: Value, option: str) -> bool:
    """The value is made of the option's own config field."""
    return any(option_named(name) == option for name in fields_read(leaf))


def _lost_by_configs(
    argument: OptionArgument, configs: list[Config], leaves: list[tuple[Condition, Value]]
) -> Iterator[LostValue]:
    launch, tuning, found = argument.launch.path, argument.tuning, []
    assert tuning is not None or not configs
    read = fields_read(argument.value, conditions=True)
    for config in configs:
        expected, name = config.explicit(argument.option), config.field_of(argument.option)
        if expected is None or name is None or tuning is None:
            continue
        if config.folder(tuning).holds(launch) is False:
            continue
        # what is done after an exception counts where a field is read that the config lacks: else nothing is known to be raised
        folder = config.undisturbed_folder(tuning) if read <= config.fields.keys() else config.folder(tuning)
        for leaf, condition, got in _arriving(folder, launch + config.path, leaves):
            if got != expected and is_for_other_devices(argument.unit, argument.option, launch + config.path, condition):
                continue
            found.append(LostValue(name, expected, got, leaf, config.place_of(name)))
    clamped = {leaf.key() for _, leaf in leaves if _carries(leaf, argument.option) and not _collapses(leaf, found)}
    found = [value for value in found if value.got != value.expected and value.leaf.key() not in clamped]
    # explicit values that are all 1, left to the compiler, whose entries hint nothing else: the same launch
    same = all(value.expected == 1 for value in found) and not hinted(argument.boundary, argument.option)
    yield from (value for value in found if not (same and value.got <= 0))


def _arriving(folder: Folder, base: Condition, leaves: list[tuple[Condition, Value]]) -> Iterator[tuple[Value, Condition, int]]:
    """The numbers that the slot gets for a config on a path, each with the value that gives it and when."""
    for condition, leaf in leaves:
        if folder.holds(condition) is False or contradictory(base, condition):
            continue
        for more, got in folder.outcomes(leaf, base + condition):
            if got is not UNKNOWN and isinstance(got, int):
                yield leaf, condition + more, int(got)


def _collapses(leaf: Value, values: list[LostValue]) -> bool:
    """What is made of the field no longer says it: the sentinel for an explicit value, or one number whatever the config says."""
    key = leaf.key()
    pairs = {(value.expected, value.got) for value in values if value.leaf.key() == key}
    gots, expected = {got for _, got in pairs}, {expected for expected, _ in pairs}
    return any(got <= 0 for got in gots) or (len(gots) == 1 and len(expected) > 1)


def hinted(boundary: Boundary, option: str) -> bool:
    """An entry of the export has an optimization hint other than 1 for the option."""
    for launch in boundary.kernel_launches:
        hints = launch.entry.attribute.settings.get("optimization_hints") if launch.entry is not None else None
        if any(number not in (None, 1) for number in _hints(hints, option)):
            return True
    return False


def _hints(value: object, option: str) -> Iterator[object]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == option:
                yield inner
            else:
                yield from _hints(inner, option)


# ── the reference ──────────────────────────────────────────────────────────


def _lost_to_reference(
    unit: KernelUnit, argument: OptionArgument, configs: list[Config], leaves: list[tuple[Condition, Value]]
) -> Iterator[LostValue]:
    """Launches whose configs say nothing (or that are not tuned), where the reference is explicit in every config of the variant."""
    run = next(run for run in unit.runs if argument.launch in run.launches)
    if argument.tuning is None and run.tunings:  # a launch beside the tuned one
        return
    for config in configs or [None]:
        if config is not None and config.explicit(argument.option) is not None:
            continue
        base = argument.launch.path + (config.path if config is not None else ())
        folder = (
            config.folder(argument.tuning) if config is not None and argument.tuning is not None else Folder(lambda term: None)
        )
        for condition, leaf in leaves:
            if folder.holds(condition) is False or contradictory(base, condition):
                continue
            for more, got in folder.outcomes(leaf, base + condition):
                if got is UNKNOWN or not isinstance(got, int):
                    continue
                if not is_for_other_devices(unit, argument.option, base, condition + more):
                    yield from _missed(unit, argument, int(got), leaf, base + condition + more)


def _missed(unit: KernelUnit, argument: OptionArgument, got: int, leaf: Value, path: Condition) -> Iterator[LostValue]:
    reference = unit.reference
    values = reference.options(argument.option, path) if reference is not None else []
    explicit = [value for value in values if value.value is not None]
    if not explicit or len(explicit) < len(values) or any(value.value == got for value in explicit):
        return
    if got <= 0 and all(value.value == 1 for value in explicit) and not hinted(argument.boundary, argument.option):
        return
    for value in explicit:
        assert value.value is not None
        yield LostValue("", value.value, got, leaf, value.place)


# ── the place ──────────────────────────────────────────────────────────────


def _by_origin(argument: OptionArgument, values: list[LostValue], configs: list[Config]) -> Iterator[LostOption]:
    """One loss for each expression that gives another value."""
    groups: dict[object, list[LostValue]] = {}
    for value in values:
        groups.setdefault((value.leaf.place or value.leaf.key(), value.got), []).append(value)
    taken: set[Place] = set()
    for group in groups.values():
        origin = _made_instead(argument, group[0], configs, taken)
        if origin is None and taken:
            continue
        taken.add(origin.place if origin is not None else argument.place)
        yield LostOption(argument, group, origin, configs)


def _made_instead(argument: OptionArgument, lost: LostValue, configs: list[Config], taken: set[Place]) -> Origin | None:
    """The expression on the way back that gives the value which arrives instead of the explicit one."""
    names = {name for config in configs for name in config.fields if lost.name and option_named(name) == argument.option}
    found = [
        origin
        for origin in argument.origins()
        if not (origin.kind == "field" and origin.name in names) and origin.place not in taken
    ]

    def rank(origin: Origin) -> int:
        value = _constant(origin.node, lost)
        if origin.kind == "name" and _module_constant(argument.program, origin, lost.got) != lost.got:
            return 4
        if value is None and lost.got <= 0:
            return 0  # what a helper turns into the sentinel
        return 1 if value == lost.got else 2 if origin.kind in ("default", "name", "constant") else 3

    return min(found, key=rank, default=None) or _made_at(argument, lost.leaf)


def _constant(node: syntax.Expr, other: object) -> object:
    """A literal's value (a negative number is no literal of its own), else ``other``."""
    if isinstance(node, syntax.Unary) and node.op == "-" and isinstance(node.operand, syntax.Const):
        number = node.operand.value
        return -number if isinstance(number, int) else other
    return node.value if isinstance(node, syntax.Const) else other


def _module_constant(program: Program, origin: Origin, other: object) -> object:
    """The number that a module gives to a name, else ``other``."""
    module = program.module(origin.place.source.path)
    for statement in module.body if module is not None else ():
        if isinstance(statement, syntax.Assign) and statement.value is not None and statement.name == origin.name:
            return _constant(statement.value, other)
    return other


def _made_at(argument: OptionArgument, leaf: Value) -> Origin | None:
    """The place in the code on the stack where the arriving value was made."""
    event = argument.launch.event
    for place in [hop.place for hop in leaf.hops()] + [leaf.place]:
        node = node_at(argument.program, place) if place is not None and stop_of(event, place) is not None else None
        if isinstance(node, syntax.Expr) and place is not None:
            return Origin("constant", node, place, level_of(event, place))
    return None
