"""The flow map of a unit, from its boundary map, the ways of its compile options and the findings about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.flow.marks import marks_of
from cutile_lint.flow.model import MARKS, ExportMap, Given, Hop, OpMap, OptionWay, SlotRow, Target, Variant
from cutile_lint.flow.told import condition, one_line, told, value_is_listed
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.slots import Boundary, Slot, Use
from cutile_lint.unit.flows.configs import Config, configs_of
from cutile_lint.unit.launches import KernelLaunch, Launch
from cutile_lint.unit.machine.values import Known, alternatives
from cutile_lint.unit.options.arguments import OptionArgument, flow
from cutile_lint.unit.options.setters import applied_options, inputs_in

_AXES = "xyz"
_ORDER = ("descriptor", "argument", "generic", "grid", "option", "device", "stream", "condition")


def op_map(unit: KernelUnit, findings: Iterable[Finding]) -> OpMap:
    """The map of one op; ``findings``: those about the unit (rules of :data:`cutile_lint.flow.marks.KINDS` are drawn)."""
    found = list(findings)
    gaps = [reason for run in unit.runs for reason, _ in run.trace.gaps]
    if not unit.runs:
        gaps.append("no wrapper launches it")
    missing = sorted({launch.symbol for launch in unit.launches} - set(unit.exports))
    gaps += [f"no export of `{symbol}` was found" for symbol in missing]
    reference = unit.reference
    exports = [_export(unit, boundary, found) for boundary in unit.boundary]
    return OpMap(unit.name, unit.layout.wrapper, reference.source if reference is not None else "", exports, gaps)


def _export(unit: KernelUnit, boundary: Boundary, findings: list[Finding]) -> ExportMap:
    launches = boundary.kernel_launches
    paths = [{literal.key() for literal in one.path} for one in launches]
    common = set.intersection(*paths) if len(paths) > 1 else {literal.key() for one in launches for literal in one.path}
    variants = [Variant(one.entry_name, condition(one.path, common), one.place) for one in launches]
    rows = [_row(unit, boundary, slot, launches, common, findings) for slot in boundary.slots]
    gaps = [reason for reason, _ in boundary.run.trace.gaps]
    gaps += [
        f"the call in line {one.place.start[0]} does not fit the slots"
        for one in boundary.launches
        if not boundary.is_aligned(one)
    ]
    if not launches:
        gaps.append("no kernel launch was found in the export")
    options = [_way(unit, argument, rows[argument.slot.index]) for argument in _arguments(unit, boundary)]
    return ExportMap(boundary.symbol, boundary.export.place, variants, rows, options, gaps)


def _row(
    unit: KernelUnit, boundary: Boundary, slot: Slot, launches: list[KernelLaunch], common: set[object], findings: list[Finding]
) -> SlotRow:
    declared = (slot.declared.name, str(slot.declared.type).replace(" *", "*")) if slot.declared is not None else None
    return SlotRow(
        slot.index,
        slot.name,
        slot.type,
        slot.place,
        declared,
        slot.declared_place,
        list(_given(unit, boundary, slot)),
        [list(_targets(slot, one, common)) for one in launches],
        slot.option,
        marks_of(slot, boundary, findings),
    )


# ── what Python gives ──────────────────────────────────────────────────────


def _given(unit: KernelUnit, boundary: Boundary, slot: Slot) -> Iterator[Given]:
    seen: set[object] = set()
    told_at: set[object] = set()
    # what the tuner times comes first
    for launch in sorted(boundary.launches, key=lambda one: not one.timed):
        if not boundary.is_aligned(launch):
            continue
        value, place = launch.arguments.positional[slot.index], launch.argument_place(slot.index)
        text, source, kind = told(value, unit.program, _configs(unit, launch))
        key = (place, text)
        vague = kind == "computed" or not value_is_listed(text, kind)
        if key not in seen and not (vague and place in told_at):
            seen.add(key)
            told_at.add(place)
            source = one_line(place.text) if kind == "constant" else source
            yield Given(one_line(place.text), place, text, source, kind, bool(launch.timed))


def _configs(unit: KernelUnit, launch: Launch) -> list[Config]:
    run = next((run for run in unit.runs if launch in run.launches), None)
    tuning = next((one for one in run.tunings if one.number == launch.timed), None) if run is not None else None
    return (configs_of(tuning) or []) if tuning is not None else []


# ── what becomes of a slot ─────────────────────────────────────────────────


def _targets(slot: Slot, launch: KernelLaunch, common: set[object]) -> Iterator[Target]:
    deciding = {
        name for literal in launch.path if literal.key() not in common for name in inputs_in(literal.test)
    }  # tests that every variant passes decide nothing
    seen: set[tuple[str, str]] = set()
    uses = [use for use in slot.uses if use.launch is launch or use.launch is None]
    for use in sorted(uses, key=lambda use: (_ORDER.index(use.role), use.index)):
        if use.role == "condition" and slot.name not in deciding:
            continue
        text = _becomes(use, launch)
        if (use.role, text) not in seen:
            seen.add((use.role, text))
            yield Target(use.role, text, _ORDER.index(use.role) * 100 + max(use.index, 0), use.place)
    if not seen and slot.option is None and any(use.role == "condition" for use in uses):
        yield Target("condition", "checked", _ORDER.index("condition") * 100 + 1)


def _becomes(use: Use, launch: KernelLaunch) -> str:
    params = launch.entry.function.params if launch.entry is not None else []
    if use.role in ("descriptor", "argument"):
        return params[use.index].name if use.index < len(params) else f"argument {use.index + 1}"
    if use.role == "generic":
        return use.name or f"generic {use.index + 1}"
    if use.role == "grid":
        return f"grid.{_AXES[use.index]}" if use.index < 3 else "grid"
    if use.role == "option":
        return f".{use.name}"
    return {"condition": "chooses kernel"}.get(use.role, use.role)


# ── the options ────────────────────────────────────────────────────────────


def _arguments(unit: KernelUnit, boundary: Boundary) -> list[OptionArgument]:
    """One for each slot and place in a call: the timed one where there are several."""
    found: dict[object, OptionArgument] = {}
    for argument in sorted(unit.option_arguments, key=lambda one: (one.slot.index, not one.launch.timed)):
        if argument.boundary is boundary:
            found.setdefault((argument.slot.index, argument.place), argument)
    return list(found.values())


def _way(unit: KernelUnit, argument: OptionArgument, row: SlotRow) -> OptionWay:
    configs = (configs_of(argument.tuning) or []) if argument.tuning is not None else []
    values = list(dict.fromkeys(one.explicit(argument.option) for one in configs if one.field_of(argument.option)))
    hops = _hops(argument, row)
    reaches, misses = _reached(argument)
    status, note = _status(argument, row, reaches, misses)
    return OptionWay(
        argument.option, argument.slot.name, values, hops, status, note, bool(argument.launch.timed), reaches, misses
    )


def _hops(argument: OptionArgument, row: SlotRow) -> list[Hop]:
    """The way's stations, places of one kind once, those where it breaks among them."""
    marks = {mark.place: mark for mark in row.marks}
    grouped: dict[str, list[Related]] = {}
    for item in flow(argument):
        grouped.setdefault(item.message, []).append(item)
    hops = []
    for text, items in grouped.items():
        spot = next((item.place for item in items if item.place in marks), items[0].place)
        told = f"{text} ({len(items)} places)" if len(items) > 1 else text
        hops.append(Hop(told, spot, marks[spot].kind if spot in marks else ""))
    shown = {hop.place for hop in hops}
    call = next((at for at, hop in enumerate(hops) if hop.place == argument.place), len(hops))
    for place, mark in marks.items():
        if place not in shown:
            hop = Hop(f"{mark.code}: {mark.message}", place, mark.kind)
            beside = [at for at, other in enumerate(hops) if _row_of(other.place) == _row_of(place)]
            at = beside[-1] + 1 if beside else call if place.source.is_python else len(hops)
            hops.insert(at, hop)
    return hops


def _row_of(place: Place) -> tuple[object, int]:
    return place.source.path, place.start[0]


def _reached(argument: OptionArgument) -> tuple[list[str], list[str]]:
    reaches, misses = [], []
    for launch in argument.boundary.kernel_launches:
        names = {one.name for one in applied_options(launch.options) if argument.slot.name in inputs_in(one.value)}
        (reaches if argument.option in names else misses).append(launch.entry_name)
    return reaches, misses


def _status(argument: OptionArgument, row: SlotRow, reaches: list[str], misses: list[str]) -> tuple[str, str]:
    if row.mark in MARKS:
        worst = next(mark for mark in row.marks if mark.kind == row.mark)
        return row.mark, f"{worst.code}: {worst.message}"
    if argument.boundary.run.trace.gaps:
        return "unknown", f"the export could not be followed: {argument.boundary.run.trace.gaps[0][0]}"
    if misses:
        return "lost", f"the setter is not reached for {', '.join(f'`{name}`' for name in misses)}"
    leaves = [leaf for _, leaf in alternatives(argument.value)]
    if all(isinstance(leaf, Known) and isinstance(leaf.value, int) and leaf.value <= 0 for leaf in leaves):
        return "auto", "every call sends the sentinel: the compiler chooses"
    return "arrives", ""
