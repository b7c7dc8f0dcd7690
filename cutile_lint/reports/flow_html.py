"""The flow map as one page that needs nothing else: no script, no network, no fonts of its own.

On a wide screen and on paper the layers stand side by side with lines between them; on a narrow one each slot is a card.
Every text of the linted code goes through :func:`escape`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from cutile_lint.flow import ExportMap, Given, Mark, OpMap, OptionWay, SlotRow, Target
from cutile_lint.reports.text import clean
from cutile_lint.reports.view import View
from cutile_lint.sources import Place

_STYLE = Path(__file__).with_name("flow.css")
_KEY = (
    ("config", "from the tuner's config"),
    ("input", "an argument of the op"),
    ("new", "made by the wrapper"),
    ("constant", "constant"),
    ("computed", "computed"),
    ("bad", "lost or crossed"),
)
#: Units of a drawing per row.
_ROW = 10

Line = tuple[int, int | None, str]


def render(maps: Iterable[OpMap], view: View) -> str:
    listed = list(maps)
    title = f"Flow of {', '.join(one.op for one in listed[:4])}{' …' if len(listed) > 4 else ''}"
    links = "".join(
        f'<a href="#op-{at}"{_class("bad") if one.is_marked else ""}>{_text(one.op)}</a>' for at, one in enumerate(listed)
    )
    body = "".join(_op(one, at, view) for at, one in enumerate(listed))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        f'<link rel="icon" href="data:,">\n<title>{_text(title)}</title>\n'
        f"<style>\n{_STYLE.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{_text(title)}</h1>\n"
        '<p class="soft">Each value from the wrapper to the kernel, as cutile-lint reads it.</p>\n'
        f"{f'<nav>{links}</nav>' if len(listed) > 1 else ''}\n{body}</main>\n</body>\n</html>\n"
    )


# ── texts ──────────────────────────────────────────────────────────────────


def _text(text: str) -> str:
    return escape(clean(text))


def _prose(text: str) -> str:
    """Text with code between backticks."""
    parts = clean(text).split("`")
    return "".join(f"<code>{escape(part)}</code>" if at % 2 else escape(part) for at, part in enumerate(parts))


def _class(*names: str) -> str:
    used = " ".join(name for name in names if name)
    return f' class="{used}"' if used else ""


def _spot(place: Place) -> str:
    return f"{clean(place.path.name)}:{place.start[0]}"


def _tag(kind: str) -> str:
    return f'<span class="tag {kind}">{kind}</span>'


# ── an op ──────────────────────────────────────────────────────────────────


def _op(found: OpMap, number: int, view: View) -> str:
    where = _text(view.relative(found.wrapper)) if found.wrapper is not None else "no wrapper"
    facts = f'<p class="soft">wrapper <code>{where}</code>'
    facts += f", reference <code>{_text(found.reference)}</code></p>" if found.reference else "</p>"
    gaps = "".join(f'<p class="soft">not followed: {_prose(gap)}</p>' for gap in found.gaps)
    exports = "".join(_export(one) for one in found.exports)
    return f'<section class="op" id="op-{number}">\n<h2>{_text(found.op)}</h2>\n{facts}{gaps}\n{exports}</section>\n'


def _export(export: ExportMap) -> str:
    variants = len(export.variants)
    parts = [
        f'<h3 class="head"><code>{_text(export.symbol)}</code> <span class="soft mono">{_text(_spot(export.place))}</span></h3>'
    ]
    parts += [f'<p class="soft">not followed: {_prose(gap)}</p>' for gap in export.gaps]
    if export.marks:
        parts.append(f'<ul class="findings">{"".join(_finding(mark) for mark in export.marks)}</ul>')
    parts.append(f'<ul class="key">{"".join(f"<li{_class(kind)}><i></i>{text}</li>" for kind, text in _KEY)}</ul>')
    for at in range(variants):
        parts.append(_variant(export, at))
    parts.append(f'<div class="cards">{"".join(_card(slot, export) for slot in export.rows)}</div>')
    if export.options:
        parts.append(
            f'<h3>Compile options, hop by hop</h3><div class="ways">{"".join(_way(way) for way in export.options)}</div>'
        )
    return "\n".join(parts) + "\n"


def _finding(mark: Mark) -> str:
    where = f'<span class="soft mono">{_text(_spot(mark.place))}</span>'
    return f"<li{_class(mark.kind)}>{_tag(mark.kind)} <b>{mark.code}</b> {_prose(mark.message)} {where}</li>"


# ── the drawing ────────────────────────────────────────────────────────────


def _variant(export: ExportMap, at: int) -> str:
    variant = export.variants[at]
    when = f" <span>if <code>{_text(variant.condition)}</code></span>" if variant.condition else ""
    head = f'<h3 class="head"><code>{_text(variant.entry)}</code>{when} <span class="soft mono">{_text(_spot(variant.place))}</span></h3>'
    sources = _sources(export.rows)
    targets = _targets(export.rows, at)
    rows, entries = export.rows, [one.entry for one in export.variants]
    marks = [slot.mark_in(variant.entry, entries) for slot in rows]
    columns = [
        ("Source", [_node(text, note, kind) for text, (note, kind) in sources.items()]),
        ("Python call", [_python(slot, mark) for slot, mark in zip(rows, marks, strict=True)]),
        ("cdef", [_declared(slot, mark) for slot, mark in zip(rows, marks, strict=True)]),
        ("Rust export", [_rust(slot, mark) for slot, mark in zip(rows, marks, strict=True)]),
        ("Kernel launch", [_node(text, role, "") for role, text in targets]),
    ]
    height = max(len(nodes) for _, nodes in columns)
    strokes = [mark or _kind(slot) for slot, mark in zip(rows, marks, strict=True)]
    straight: list[Line] = [(slot.index, slot.index, strokes[slot.index]) for slot in rows]
    order = list(sources)
    from_sources: list[Line] = [
        (order.index(given.source), slot.index, strokes[slot.index])
        for slot in rows
        for given in slot.given[:1]
        if given.source in sources
    ]
    places = {pair: row for row, pair in enumerate(targets)}
    to_kernel: list[Line] = []
    for slot in rows:
        found = slot.becomes[at]
        to_kernel += [(slot.index, places[target.role, target.text], strokes[slot.index]) for target in found]
        if not found:
            to_kernel.append((slot.index, None, "lost" if marks[slot.index] == "lost" else "computed"))
    between = [_lines(lines, height) for lines in (from_sources, straight, straight, to_kernel)]
    cells = []
    for number, (name, nodes) in enumerate(columns):
        cells.append(f'<div class="column"><div class="name">{name}</div>{"".join(nodes)}</div>')
        if number < len(between):
            cells.append(f'<div class="gap"><div class="name">&nbsp;</div>{between[number]}</div>')
    return f'<div class="drawing">{head}<div class="map" role="img" aria-label="lines from sources to the kernel">{"".join(cells)}</div></div>'


def _sources(rows: Sequence[SlotRow]) -> dict[str, tuple[str, str]]:
    """What the first call's arguments come from, in the order of their slots: text -> (note, kind); configs in their own order."""
    found: dict[str, tuple[str, str]] = {}
    configs: dict[str, tuple[str, str]] = {}
    for slot in rows:
        for given in slot.given[:1]:
            if given.source:
                note = given.value.split(": ", 1)[1] if given.kind == "config" and ": " in given.value else _note(given)
                (configs if given.kind == "config" else found)[given.source] = (note, given.kind)
    return found | dict(sorted(configs.items(), key=lambda item: _option_rank(item[0])))


def _option_rank(name: str) -> int:
    """Fields that mean compile options stand in the order of the options, so that crossed ones cross in the drawing."""
    from cutile_lint.unit.options.option_names import CLUSTER, OCCUPANCY, option_named

    option = option_named(name.removeprefix("cfg."))
    return {CLUSTER: 1, OCCUPANCY: 2}.get(option, 3) if option is not None else 0


def _note(given: Given) -> str:
    return {"input": "argument", "new": "new tensor", "constant": given.value, "config": "config"}.get(given.kind, "")


def _targets(rows: Sequence[SlotRow], at: int) -> list[tuple[str, str]]:
    """(role, text) of everything that a variant's slots become, in the launch's own order."""
    found: dict[tuple[str, str], Target] = {}
    for slot in rows:
        for target in slot.becomes[at]:
            found.setdefault((target.role, target.text), target)
    return sorted(found, key=lambda pair: found[pair].order)


def _kind(slot: SlotRow) -> str:
    return slot.given[0].kind if slot.given else ""


def _python(slot: SlotRow, mark: str) -> str:
    if not slot.given:
        return _node("–", "no call", "none")
    given = slot.given[0]
    note = f"{given.value} · {_spot(given.place)}" if given.value and given.value != given.text else _spot(given.place)
    return _node(given.text, note, given.kind, mark)


def _declared(slot: SlotRow, mark: str) -> str:
    if slot.declared is None:
        return _node("–", "not declared", "none")
    return _node(slot.declared[0], slot.declared[1], _kind(slot), mark)


def _rust(slot: SlotRow, mark: str) -> str:
    return _node(slot.name, f"{slot.type} · {_spot(slot.place)}", _kind(slot), mark)


def _node(text: str, note: str, kind: str, mark: str = "") -> str:
    title = _text(f"{text} — {note}" if note else text)
    small = f"<small>{_text(note)}</small>" if note else ""
    return f'<div{_class("node", kind, mark)} title="{title}"><b>{_text(text)}</b>{small}</div>'


def _lines(lines: Iterable[Line], rows: int) -> str:
    paths = []
    for start, end, kind in lines:
        first = start * _ROW + _ROW * 0.42
        if end is None:
            way = f"M0 {first:g}H38" + (
                f"M30 {first - 2:g}L46 {first + 2:g}M46 {first - 2:g}L30 {first + 2:g}" if kind == "lost" else ""
            )
        else:
            last = end * _ROW + _ROW * 0.42
            way = f"M0 {first:g}H100" if start == end else f"M0 {first:g}C45 {first:g} 55 {last:g} 100 {last:g}"
        paths.append(f'<path{_class(kind)} d="{way}"/>')
    style = f"height:calc(var(--row)*{rows})"
    return f'<svg class="lines" style="{style}" viewBox="0 0 100 {rows * _ROW}" preserveAspectRatio="none" aria-hidden="true">{"".join(paths)}</svg>'


# ── cards, and the ways of options ─────────────────────────────────────────


def _card(slot: SlotRow, export: ExportMap) -> str:
    items, entries = [], [one.entry for one in export.variants]
    for given in slot.given:
        value = f"{given.value} · " if given.value and given.value != given.text else ""
        items.append(_item(given.text, f"{value}{_spot(given.place)}", ""))
    if slot.declared is not None:
        items.append(_item(slot.declared[0], f"cdef · {slot.declared[1]}", ""))
    items.append(_item(slot.name, f"Rust · {slot.type} · {_spot(slot.place)}", slot.mark))
    for variant, targets in zip(export.variants, slot.becomes, strict=True):
        told = ", ".join(target.text for target in targets) or "nothing"
        items.append(_item(told, variant.entry, "lost" if not targets and slot.mark_in(variant.entry, entries) == "lost" else ""))
    tag = _tag(slot.mark) if slot.mark else ""
    return f"<article{_class('card', slot.mark)}><h4><span>{slot.index} {_text(slot.name)}</span>{tag}</h4><ol>{''.join(items)}</ol></article>"


def _item(text: str, note: str, mark: str) -> str:
    return f"<li{_class(mark)}><code>{_text(text)}</code><small>{_text(note)}</small></li>"


def _way(way: OptionWay) -> str:
    configs = ", ".join("auto" if value is None else str(value) for value in way.configs)
    facts = f'<span class="soft">configs: {configs}</span>' if configs else ""
    note = f"<p>{_prose(way.note)}</p>" if way.note else ""
    hops = "".join(
        f'<li{_class(hop.mark)}>{_prose(hop.text)}<small class="mono">{_text(_spot(hop.place))}</small></li>' for hop in way.hops
    )
    return f'<article class="way"><header><b>{_text(way.option)}</b>{_tag(way.status)}{facts}</header>{note}<ol>{hops}</ol></article>'
