"""The flow map for a terminal: a table of slots and the way of each compile option, at most ``view.width`` wide."""

from __future__ import annotations

from collections.abc import Iterable

from cutile_lint.flow import ExportMap, Mark, OpMap, OptionWay, SlotRow
from cutile_lint.reports.tables import fit, fit_path, row
from cutile_lint.reports.text import clean, wrap
from cutile_lint.reports.view import View
from cutile_lint.sources import Place

_STYLES = {"crossed": "error", "lost": "error", "wrong": "warning", "unknown": "dim", "auto": "info", "arrives": "help", "": ""}


def render(maps: Iterable[OpMap], view: View) -> str:
    return "\n".join("".join(f"{line.rstrip()}\n" for line in _op(one, view)) for one in maps)


def _op(found: OpMap, view: View) -> list[str]:
    name = clean(found.op)
    where = fit_path(view.path(found.wrapper), view.width - len(name) - 2) if found.wrapper is not None else "no wrapper"
    lines = [f"{view.style('bold', name)}  {where}"]
    if found.reference:
        lines.append(f"reference: {fit_path(found.reference, view.width - 11)}")
    for gap in found.gaps:
        lines += wrap(f"not followed: {gap}", view.width, "", "  ")
    for export in found.exports:
        lines += ["", *_export(export, view)]
    return lines


def _export(export: ExportMap, view: View) -> list[str]:
    lines = [f"{view.style('bold', clean(export.symbol))}  {_spot(export.place)}"]
    for number, variant in enumerate(export.variants, 1):
        label = f"  {number}  " if len(export.variants) > 1 else "  "
        told = f"{label}{variant.entry}  {_spot(variant.place)}" + (f"  if {variant.condition}" if variant.condition else "")
        lines.append(fit(told, view.width))
    for gap in export.gaps:
        lines += wrap(f"  not followed: {gap}", view.width, "", "    ")
    widths = _widths(view.width)
    lines += ["", *row([["#"], ["Python"], ["cdef"], ["Rust"], ["becomes"]], widths), "─" * view.width]
    for slot in export.rows:
        lines += _slot(slot, len(export.variants), widths, view)
    if export.options:
        lines.append("")
    for way in export.options:
        lines += _way(way, view)
    return lines


def _widths(columns: int) -> list[int]:
    """Number, Python, cdef, Rust, what it becomes: in the proportions that names have."""
    rest = columns - 2 - 4 * 2
    declared = min(rest * 21 // 100, 24)
    rust = min(rest * 22 // 100, 24)
    becomes = min(rest * 27 // 100, 36)
    return [2, rest - declared - rust - becomes, declared, rust, becomes]


def _slot(slot: SlotRow, variants: int, widths: list[int], view: View) -> list[str]:
    python: list[str] = []
    for given in slot.given[:2]:
        python.append(f"{given.text} {_row(given.place)}")
        if given.value and given.value != given.text:
            python.append(f"  {given.value}")
    if len(slot.given) > 2:
        python.append(f"  and {len(slot.given) - 2} more calls")
    becomes = []
    for number, targets in enumerate(slot.becomes, 1):
        told = ", ".join(target.text for target in targets) or "–"
        becomes.append(f"{number} {told}" if variants > 1 else told)
    cells = [
        [str(slot.index)],
        python or ["–"],
        list(slot.declared) if slot.declared is not None else ["–"],
        [slot.name, slot.type],
        becomes or ["–"],
    ]
    lines = row(cells, widths)
    for mark in slot.marks:
        lines += _mark(mark, view)
    return lines


def _mark(mark: Mark, view: View) -> list[str]:
    text = f"{mark.kind}: {mark.code} {_spot(mark.place)}: {mark.message}"
    return [view.style(_STYLES[mark.kind], line) for line in wrap(clean(text), view.width, "  ✗ ", "    ")]


def _way(way: OptionWay, view: View) -> list[str]:
    status = view.style(_STYLES[way.status], way.status)
    configs = ", ".join("auto" if value is None else str(value) for value in way.configs)
    told = f"{way.option}: {status}" + (f"; configs: {configs}" if configs else "") + ("" if way.timed else "; not tuned")
    lines = [told]
    if way.note:
        lines += wrap(clean(way.note), view.width, "  ", "  ")
    size = min(max((len(_spot(hop.place)) for hop in way.hops), default=0), 26)
    for at, hop in enumerate(way.hops):
        arrow = "✗" if hop.mark in ("lost", "crossed") else "!" if hop.mark else "→" if at else " "
        text = fit(hop.text, view.width - size - 6)
        line = f"  {arrow} {fit(_spot(hop.place), size):<{size}}  {text}"
        lines.append(view.style(_STYLES[hop.mark], line))
    return lines


def _spot(place: Place) -> str:
    return f"{clean(place.path.name)}{_row(place)}"


def _row(place: Place) -> str:
    return f":{place.start[0]}"
