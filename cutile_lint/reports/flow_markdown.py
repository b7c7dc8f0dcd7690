"""The flow map as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable

from cutile_lint.flow import ExportMap, OpMap, OptionWay, SlotRow
from cutile_lint.reports.text import clean
from cutile_lint.reports.view import View
from cutile_lint.sources import Place


def render(maps: Iterable[OpMap], view: View) -> str:
    return "\n".join("\n".join(_op(one, view)) + "\n" for one in maps)


def code(text: str) -> str:
    """A code span that holds any text, also in a table's cell."""
    text = clean(" ".join(text.split())).replace("|", "\\|")
    if not text:
        return ""
    fence = "`" * (max((len(run) for run in _runs(text)), default=0) + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def _runs(text: str) -> list[str]:
    return [run for run in "".join(char if char == "`" else " " for char in text).split() if run]


def prose(text: str) -> str:
    """Text with code spans, kept to one cell and free of markup of its own."""
    out = []
    for at, part in enumerate(text.split("`")):
        if at % 2:
            out.append(code(part))
        else:
            for char in "\\*_[]<>#|":
                part = part.replace(char, f"\\{char}" if char != "<" else "&lt;")
            out.append(clean(" ".join(part.split("\n"))))
    return "".join(out)


def spot(place: Place, view: View) -> str:
    return code(f"{view.relative(place.path)}:{place.start[0]}")


def _op(found: OpMap, view: View) -> list[str]:
    lines = [f"## {prose(found.op)}", ""]
    if found.wrapper is not None:
        lines.append(
            f"wrapper {code(view.relative(found.wrapper))}" + (f", reference {code(found.reference)}" if found.reference else "")
        )
    for gap in found.gaps:
        lines.append(f"- not followed: {prose(gap)}")
    for export in found.exports:
        lines += ["", *_export(export, view)]
    return lines


def _export(export: ExportMap, view: View) -> list[str]:
    lines = [f"### {code(export.symbol)}", "", f"export at {spot(export.place, view)}", ""]
    for number, variant in enumerate(export.variants, 1):
        when = f", if {code(variant.condition)}" if variant.condition else ""
        lines.append(f"{number}. {code(variant.entry)} at {spot(variant.place, view)}{when}")
    for gap in export.gaps:
        lines.append(f"- not followed: {prose(gap)}")
    head = [
        "#",
        "Python",
        "cdef",
        "Rust",
        *([f"becomes in {one}" for one in range(1, len(export.variants) + 1)] or ["becomes"]),
        "",
    ]
    lines += ["", _cells(head), _cells(["---"] * len(head))]
    lines += [_cells(_slot(slot, view, max(len(export.variants), 1))) for slot in export.rows]
    for way in export.options:
        lines += ["", *_way(way, view)]
    return lines


def _cells(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _slot(slot: SlotRow, view: View, variants: int) -> list[str]:
    python = "<br>".join(
        f"{code(given.text)} {spot(given.place, view)}"
        + (f" = {code(given.value)}" if given.value and given.value != given.text else "")
        for given in slot.given
    )
    declared = code(f"{slot.declared[1]} {slot.declared[0]}") if slot.declared is not None else "–"
    becomes = [", ".join(code(target.text) for target in targets) or "–" for targets in slot.becomes] or ["–"] * variants
    marks = "<br>".join(f"**{mark.kind}** {mark.code}: {prose(mark.message)}" for mark in slot.marks)
    return [str(slot.index), python or "–", declared, code(f"{slot.name}: {slot.type}"), *becomes, marks]


def _way(way: OptionWay, view: View) -> list[str]:
    configs = ", ".join("auto" if value is None else str(value) for value in way.configs)
    lines = [f"#### {code(way.option)}: {way.status}" + (f" (configs: {configs})" if configs else ""), ""]
    if way.note:
        lines += [prose(way.note), ""]
    for at, hop in enumerate(way.hops, 1):
        mark = f"**{hop.mark}** " if hop.mark else ""
        lines.append(f"{at}. {mark}{prose(hop.text)} {spot(hop.place, view)}")
    return lines
