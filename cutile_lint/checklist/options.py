"""Compile options: what reaches the setters, against the reference; and the search space."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.checklist.context import Context
from cutile_lint.checklist.verdict import Absent, Evidence, Open, Shown
from cutile_lint.unit.flows.configs import configs_of
from cutile_lint.unit.flows.fold import UNKNOWN, Folder
from cutile_lint.unit.machine.values import Known, alternatives
from cutile_lint.unit.options.arguments import OptionArgument, grid_source, plain_sources
from cutile_lint.unit.options.drift import drifts, wrapper_configs
from cutile_lint.unit.options.lost import hinted
from cutile_lint.unit.options.option_names import CLUSTER
from cutile_lint.unit.options.setters import applied_options, inputs_in, sentinel_reaches, setter_events, setter_value


def _told(values: list[int | None]) -> str:
    return ", ".join("auto" if value is None else str(value) for value in values)


# ── parity ─────────────────────────────────────────────────────────────────


def option_parity(context: Context) -> Iterator[Evidence]:
    yield from context.wrapper_gaps
    yield from context.export_gaps
    unit = context.unit
    for boundary in unit.boundary:
        slots = [slot for slot in boundary.slots if slot.option is not None]
        if not slots and boundary.kernel_launches:
            yield Absent(f"`{boundary.symbol}` takes no compile option")
    done: set[object] = set()
    for argument in sorted(unit.option_arguments, key=lambda one: not one.launch.timed):
        key = (argument.place, argument.option)
        if key not in done:
            done.add(key)
            yield from _parity(context, argument)


def _parity(context: Context, argument: OptionArgument) -> Iterator[Evidence]:
    option = argument.option
    sent = _sent(argument)
    if sent is None:
        yield Open(f"what `{option}` gets could not be followed", argument.place)
        return
    setters = {one.place: launch for launch in argument.boundary.kernel_launches for one in _applied(argument, launch.options)}
    where = next((place for place in setters if place is not None), None)
    missing = [one.entry_name for one in argument.boundary.kernel_launches if not list(_applied(argument, one.options))]
    for name in missing:
        yield Open(f"the setter of `{option}` is not seen on the way to `{name}`", argument.slot.place)
    reference = context.unit.reference
    path = argument.launch.path
    given = reference.options(option, path) if reference is not None else []
    if argument.tuning is None and any(run.tunings for run in context.unit.runs if argument.launch in run.launches):
        yield Shown(f"`{option}` beside the search: {_told(sent) or 'the caller decides'}", argument.place)
        return
    if reference is None:
        yield Open(f"`{option}`: {_told(sent)}; there is no reference to compare it with", argument.place)
        return
    if not given:
        yield Open(f"`{option}`: {_told(sent)}; what the reference gives is not known", argument.place)
        return
    wanted = list(dict.fromkeys(value.value for value in given))
    told = f"`{option}`: {_told(sent)}; the reference: {_told(wanted)}"
    same = set(wanted) <= set(sent) and (None in wanted or None not in sent)
    alike = option == CLUSTER and set(wanted) | set(sent) <= {None, 1} and not hinted(argument.boundary, option)
    if same or alike:  # a cluster of one is what the compiler takes by itself
        yield Shown(told, argument.place)
        yield Shown(f"the reference's `{option}`", given[0].place)
        if where is not None:
            yield Shown(
                f"`{option}` is applied in {', '.join(f'`{launch.entry_name}`' for launch in _distinct(argument))}", where
            )
    else:
        yield Open(told, argument.place)


def _distinct(argument: OptionArgument):
    return [one for one in argument.boundary.kernel_launches if list(_applied(argument, one.options))]


def _applied(argument: OptionArgument, options):
    return [one for one in applied_options(options) if one.name == argument.option and argument.slot.name in inputs_in(one.value)]


def _sent(argument: OptionArgument) -> list[int | None] | None:
    """The values that the slot gets over all configs, the sentinel as None; None when one is not known. Empty: the caller's own."""
    configs = configs_of(argument.tuning) if argument.tuning is not None else []
    if configs is None:
        return None
    found: dict[int | None, None] = {}
    if argument.tuning is None:
        folder = Folder(lambda term: None)
        for _, leaf in alternatives(argument.value):
            for _, value in folder.outcomes(leaf, argument.launch.path):
                if value is UNKNOWN:
                    return [] if plain_sources(leaf) else None
                if isinstance(value, int):
                    found.setdefault(value if value > 0 else None)
        return list(found)
    for config in configs:
        folder = config.folder(argument.tuning)
        if folder.holds(argument.launch.path) is False:
            continue
        for condition, leaf in alternatives(argument.value):
            if folder.holds(condition) is False:
                continue
            for _, value in folder.outcomes(leaf, argument.launch.path + config.path + condition):
                if value is UNKNOWN or not isinstance(value, int):
                    return None
                found.setdefault(value if value > 0 else None)
    return list(found)


# ── guards, grids ──────────────────────────────────────────────────────────


def option_guards(context: Context) -> Iterator[Evidence]:
    yield from context.export_gaps
    seen: set[object] = set()
    taken = False
    for boundary in context.unit.boundary:
        for event in setter_events(boundary.run.trace):
            taken = True
            value = setter_value(event)
            if event.place in seen:
                continue
            seen.add(event.place)
            for name in sorted(inputs_in(value)):
                if boundary.slot_named(name) is None:
                    continue
                if sentinel_reaches(event, name, boundary.run) is None:
                    yield Shown(f"`{event.name.rsplit('::', 1)[-1]}` is not reached by the sentinel of `{name}`", event.place)
                else:
                    yield Open(f"whether the sentinel of `{name}` reaches the setter is not known", event.place)
            if isinstance(value, Known):
                yield Shown(f"`{event.name.rsplit('::', 1)[-1]}({value.value})`: a constant", event.place)
    if not taken and context.unit.boundary:
        yield Absent("the export calls no setter")


def grid_apart(context: Context) -> Iterator[Evidence]:
    yield from context.wrapper_gaps
    yield from context.export_gaps
    if context.unit.boundary and not context.unit.option_arguments:
        yield Absent("no compile option is passed")
    seen: set[object] = set()
    for argument in context.unit.option_arguments:
        if argument.place in seen:
            continue
        seen.add(argument.place)
        text = " ".join(argument.place.text.split())
        if grid_source(argument) is None:
            yield Shown(f"`{argument.option}` gets `{text}`, not a grid's size", argument.place)
        else:
            yield Open(f"`{argument.option}` gets `{text}`, a size of the grid", argument.place)


# ── the search space ───────────────────────────────────────────────────────


def search_space(context: Context) -> Iterator[Evidence]:
    yield from context.wrapper_gaps
    unit, reference = context.unit, context.unit.reference
    tunings = [tuning for run in unit.runs for tuning in run.tunings]
    if not tunings and unit.runs:
        told = "nothing is tuned"
        if reference is None:
            yield Open(
                f"{told}, and there is no reference that says whether it should be",
                unit.runs[0].trace.events[0].place if unit.runs[0].trace.events else None,
            )
        elif any(variant.tuned and len(variant.configs or []) > 1 for variant in reference.variants):
            yield Open(f"{told}, and the reference tunes", reference.variants[0].place)
        else:
            yield Shown(f"{told}, nor in the reference", reference.variants[0].place)
        return
    known = [(tuning, configs_of(tuning)) for tuning in tunings]
    for tuning, configs in known:
        if configs is None:
            yield Open("the configs are not static", tuning.event.place)
        elif reference is None:
            yield Open(f"{len(configs)} configs; there is no reference to compare them with", tuning.event.place)
    if reference is None or any(configs is None for _, configs in known):
        return
    differing = [drift.group.tuning for drift in drifts(unit, context.options("CTL208")["ignore-fields"])]
    for group in wrapper_configs(unit, reference):
        names = ", ".join(f"`{one.name or one.kernel}`" for one in group.variants)
        total = sum(len(one.configs or []) for one in group.variants)
        if any(one.configs is None for one in group.variants) or not group.variants:
            yield Open(f"the reference's configs of {names or 'the variant'} are not known", group.place)
        elif group.tuning in differing:
            yield Open(f"the configs differ from the reference's of {names}", group.place)
        else:
            yield Shown(f"{len(group.configs)} configs cover the reference's {total} of {names}", group.place)
