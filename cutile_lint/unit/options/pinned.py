"""Compile options that are pinned although the reference leaves them to the compiler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass, replace
from cutile_lint.sources import Place
from cutile_lint.unit.flows.configs import Config, configs_of, fields_read
from cutile_lint.unit.flows.fold import UNKNOWN, Folder
from cutile_lint.unit.flows.origins import node_at
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.values import Condition, Known, Value, alternatives, subterms
from cutile_lint.unit.options.arguments import OptionArgument, grid_source, is_swapped
from cutile_lint.unit.options.option_names import option_named
from cutile_lint.unit.options.setters import SENTINELS, AppliedOption, applied_options, inputs_in, with_input
from cutile_lint.unit.reference.run import function_around
from cutile_lint.unit.reference.variants import ReferenceValue

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(slots=True, eq=False)
class Pinned:
    """A number that pins an option: in a config (``config``, ``field``), on the way of an ``argument``, or in the export's own code."""

    option: str
    number: int
    place: Place
    reference: ReferenceValue
    argument: OptionArgument | None = None
    config: Config | None = None
    field: str = ""


def pinned_options(unit: KernelUnit) -> Iterator[Pinned]:
    """All pinned options whose reference is auto, one for each place."""
    if unit.reference is None:
        return
    seen: set[tuple[Place, str]] = set()
    for pinned in (*_in_wrapper(unit), *_in_export(unit)):
        if (pinned.place, pinned.option) not in seen:
            seen.add((pinned.place, pinned.option))
            yield pinned


def _auto(unit: KernelUnit, option: str, path: Condition, name: str) -> ReferenceValue | None:
    """What says that the reference leaves the option open on a wrapper's path; None when it does not, or that is not known."""
    assert unit.reference is not None
    names = (name,) if name else ()
    if unit.reference.is_auto(option, path, names) is not True:
        return None
    return unit.reference.options(option, path, names)[0]


# ── the wrapper ────────────────────────────────────────────────────────────


def _in_wrapper(unit: KernelUnit) -> Iterator[Pinned]:
    for argument in unit.option_arguments:
        if is_swapped(argument) or grid_source(argument) is not None:
            continue
        configs = configs_of(argument.tuning) if argument.tuning is not None else None
        if configs:
            for config in configs:
                yield from _by_config(unit, argument, config)
        else:
            yield from _by_value(unit, argument)


def _by_config(unit: KernelUnit, argument: OptionArgument, config: Config) -> Iterator[Pinned]:
    assert argument.tuning is not None
    path = argument.launch.path + config.path
    if contradictory(path):
        return
    function = function_around(unit.program, config.place)
    reference = _auto(unit, argument.option, path, function.name if function is not None else "")
    if reference is None:
        return
    folder = config.folder(argument.tuning)
    for condition, leaf in alternatives(argument.value):
        if folder.holds(condition) is False or contradictory(path, condition):
            continue
        read = [name for name in fields_read(leaf) if name in config.fields]
        for _, number in folder.outcomes(leaf, path + condition):
            if number is UNKNOWN or type(number) is not int or number <= 0:
                continue
            if len(read) == 1 and isinstance(value := config.fields[read[0]], Known) and value.value == number:
                place = config.place_of(read[0]) or argument.place
                yield Pinned(argument.option, number, place, reference, argument, config, read[0])
            elif all(_leaves_open(config, name, argument.option) for name in read):  # ``cfg.OCCUPANCY or 1``
                yield Pinned(argument.option, number, _literal(argument, number), reference, argument)


def _leaves_open(config: Config, name: str, option: str) -> bool:
    """The field is the option's, and has no number for it."""
    value = config.fields[name]
    number = value.value if isinstance(value, Known) else 1
    return option_named(name) == option and (number is None or (type(number) is int and number <= 0))


def _by_value(unit: KernelUnit, argument: OptionArgument) -> Iterator[Pinned]:
    folder = Folder(lambda term: None)
    for condition, leaf in alternatives(argument.value):
        path = argument.launch.path + condition
        outcomes = [] if contradictory(path) else folder.outcomes(leaf, path)
        for _, number in outcomes:
            if type(number) is int and number > 0:
                reference = _auto(unit, argument.option, path, "")
                if reference is not None:
                    yield Pinned(argument.option, number, _literal(argument, number), reference, argument)


def _literal(argument: OptionArgument, number: int) -> Place:
    """Where the number is written: on the way of the argument, as a module's constant, or as a default."""
    for origin in argument.origins():
        if _is_number(origin.node, number):
            return origin.place
        module = argument.program.module(origin.place.source.path)
        for node in module.walk() if module is not None and origin.kind in ("name", "default") else ():
            value = None
            if isinstance(node, syntax.Param) and node.name == origin.name:
                value = node.default
            elif isinstance(node, syntax.Assign) and any(
                isinstance(one, syntax.Name) and one.id == origin.name for one in node.targets
            ):
                value = node.value
            if value is not None and _is_number(value, number):
                return Place(origin.place.source, value.span)
    return next((one.place for one in _written(argument.value, number) if one.place is not None), argument.place)


def _written(value: Value, number: int) -> list[Known]:
    """Where a value is made of the number."""
    return [part for part in subterms(value) if isinstance(part, Known) and type(part.value) is int and part.value == number]


def _is_number(node: syntax.Node | None, number: int) -> bool:
    return isinstance(node, syntax.Const) and type(node.value) is int and node.value == number


# ── the export ─────────────────────────────────────────────────────────────


def _in_export(unit: KernelUnit) -> Iterator[Pinned]:
    """``opts.occupancy(2)`` with a number of the export's own, ``opts.occupancy(occupancy.max(1))`` too."""
    for boundary in unit.boundary:
        for launch in boundary.kernel_launches:
            for applied in applied_options(launch.options):
                number = _own_number(applied)
                if number is not None and number.place is not None:
                    reference = _auto(unit, applied.name, (), launch.entry_name)
                    if reference is not None:
                        yield Pinned(applied.name, number.value, number.place, reference)  # type: ignore[arg-type]


def _own_number(applied: AppliedOption) -> Known | None:
    """The positive number that the export itself gives to an option: always, or when the caller leaves the option open."""
    names = inputs_in(applied.value)
    if len(names) > 1:
        return None
    given = [with_input(name, sentinel) for name in names for sentinel in SENTINELS] or [Folder(lambda term: None)]
    numbers: set[object] = set()
    for folder in given:
        asked = tuple([literal for literal in applied.path if not names.isdisjoint(inputs_in(literal.test))])
        numbers |= {number for _, number in folder.outcomes(applied.value)} if folder.holds(asked) is True else {UNKNOWN}
    number = numbers.pop() if len(numbers) == 1 else UNKNOWN
    if type(number) is not int or number <= 0:
        return None
    return next(iter(_written(applied.value, number)), None)


# ── the fix ────────────────────────────────────────────────────────────────


def leave_open(pinned: Pinned, unit: KernelUnit) -> Fix | None:
    """``None`` (or the sentinel) for the number: unsafe, the value may have been measured. None where that would not reach the slot as auto."""
    from cutile_lint.frontends.python import rewrite

    argument = pinned.argument
    module = unit.program.module(pinned.place.source.path) if pinned.place.source.is_python else None
    node = node_at(unit.program, pinned.place)
    if argument is None or module is None or not isinstance(node, syntax.Const) or node.value != pinned.number:
        return None
    text = "-1" if pinned.config is None else _open_text(pinned, pinned.config, argument)
    if text is None:
        return None
    change = rewrite.replace_expression(module, node, text)
    return Fix(f"leave `{pinned.option}` to the compiler", change.edits, Applicability.UNSAFE)


def _open_text(pinned: Pinned, config: Config, argument: OptionArgument) -> str | None:
    """What the config's field must hold so that the slot gets a value ``<= 0``, and no other slot needs a number of it."""
    assert argument.tuning is not None
    others = [value for at, value in enumerate(argument.launch.arguments.positional) if at != argument.slot.index]
    if any(pinned.field in fields_read(value) for value in others):
        return None
    for text, value in (("None", None), ("-1", -1)):
        changed = replace(config, fields={**config.fields, pinned.field: Known(value)})
        results = [
            result for _, result in changed.folder(argument.tuning).outcomes(argument.value, argument.launch.path + config.path)
        ]
        if results and all(type(result) is int and result <= 0 for result in results):
            return text
    return None
