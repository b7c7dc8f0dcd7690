"""Launches against the entries they launch: generics and arguments by number, kind and name; imports of entries that are not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slot_names import normal
from cutile_lint.unit.flows.origins import node_at
from cutile_lint.unit.launches import KernelLaunch
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.values import Choice, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.options.setters import inputs_in

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(frozen=True, slots=True)
class EntryMismatch:
    place: Place
    message: str
    related: tuple[tuple[Place, str], ...] = ()
    fix: Fix | None = None
    statement: Place | None = None
    symbol: str = ""


def _name(value: Value) -> str:
    """What a value is called in the export: the name it was bound to last, else the parameter's."""
    bound = [hop.name for hop in value.hops() if hop.kind == "bound"]
    if isinstance(value, Term) and value.op == "input":
        return normal(value.name)
    return normal(bound[-1]) if bound else ""


def _owner(value: Value) -> str:
    """The descriptor that a tensor argument is made from; else the value's own name."""
    pointers = {
        name
        for part in subterms(value)
        if isinstance(part, Term) and part.op == "attr" and part.name == "ptr"
        for name in inputs_in(part.base)
    }
    return normal(pointers.pop()) if len(pointers) == 1 else "" if pointers else _name(value)


def _crossed(names: list[str], wanted: list[str]) -> dict[int, int]:
    """Positions whose name is that of another position: at -> the other."""
    at = {name: index for index, name in enumerate(wanted)}
    if len(at) < len(wanted):
        return {}
    return {index: at[name] for index, name in enumerate(names[: len(wanted)]) if name in at and at[name] != index}


def _swaps(crossed: dict[int, int]) -> dict[int, int]:
    """Those of the crossings that lead back to where they began."""
    found = {}
    for start in crossed:
        at, steps = start, 0
        while at in crossed and steps <= len(crossed):
            at, steps = crossed[at], steps + 1
            if at == start:
                found[start] = crossed[start]
                break
    return found


def _argument_swaps(launch: KernelLaunch) -> dict[int, int]:
    if launch.entry is None:
        return {}
    wanted = [normal(param.name) for param in launch.entry.function.params]
    return _swaps(_crossed([_owner(value) for value in launch.arguments], wanted))


# ── generics (CTL511) ──────────────────────────────────────────────────────


def generics_mismatches(unit: KernelUnit) -> Iterator[EntryMismatch]:
    seen: set[Place] = set()
    for boundary in unit.boundary:
        for launch in boundary.kernel_launches:
            for found in _generics(unit, launch):
                if found.place not in seen:
                    seen.add(found.place)
                    yield found


def _generics(unit: KernelUnit, launch: KernelLaunch) -> Iterator[EntryMismatch]:
    given, entry = launch.generics, launch.entry
    if given is None or entry is None or given.open or any(given.conditions):
        return
    declared = entry.generics
    whole = given.place or launch.chain["generics"].place or launch.place
    statement, symbol = launch.event.statement, launch.event.stop.frame.name
    named = ((entry.place, f"`{entry.name}` is declared with <{', '.join(one.name for one in declared)}>"),)
    if len(given.items) != len(declared):
        yield EntryMismatch(
            whole,
            f"`{entry.name}` takes {len(declared)} generics and gets {len(given.items)}",
            named,
            None,
            statement,
            symbol,
        )
        return
    places = _item_places(unit.program, whole, len(declared))
    names, wanted = [_name(item) for item in given.items], [normal(one.name) for one in declared]
    crossed = _crossed(names, wanted)
    if crossed and _argument_swaps(launch):
        return  # the operands are exchanged too
    for index, (item, generic) in enumerate(zip(given.items, declared, strict=True)):
        place = places[index] if places else whole
        if index in crossed:
            message = f"`{names[index]}` stands where `{entry.name}` declares `{generic.name}`"
            yield EntryMismatch(place, message, named, _reorder(crossed, places), statement, symbol)
        elif generic.kind == "type" and isinstance(item, Term) and item.op == "input":
            yield EntryMismatch(
                place,
                f"`{item.name}` stands where `{entry.name}` declares the type `{generic.name}`",
                named,
                None,
                statement,
                symbol,
            )
        elif generic.kind == "const" and isinstance(item, Known) and isinstance(item.value, str) and not _is_number(item.value):
            yield EntryMismatch(
                place,
                f"`{item.value}` stands where `{entry.name}` declares the constant `{generic.name}`",
                named,
                None,
                statement,
                symbol,
            )


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit() or text in ("true", "false")


def _item_places(program: Program, whole: Place, count: int) -> list[Place] | None:
    """The places of the items of a ``vec![…]`` or ``[…]``."""
    node = node_at(program, whole)
    if isinstance(node, syntax.Call) and node.macro:
        parts = [arg.value for arg in node.args]
    elif isinstance(node, syntax.Sequence):
        parts = list(node.items)
    else:
        parts = []
    return [Place(whole.source, part.span) for part in parts] if len(parts) == count else None


def _reorder(crossed: dict[int, int], places: list[Place] | None) -> Fix | None:
    swaps = _swaps(crossed)
    if places is None or not swaps or set(swaps) != set(crossed):
        return None
    edits = [Edit(places[at].source, places[to].span.start, places[to].span.end, places[at].text) for at, to in swaps.items()]
    return Fix("put the generics in the entry's order", tuple(sorted(edits, key=lambda edit: edit.start)), Applicability.UNSAFE)


# ── arguments (CTL512) ─────────────────────────────────────────────────────


def argument_mismatches(unit: KernelUnit) -> Iterator[EntryMismatch]:
    seen: set[Place] = set()
    for boundary in unit.boundary:
        for launch in boundary.kernel_launches:
            for found in _arguments(launch):
                if found.place not in seen:
                    seen.add(found.place)
                    yield found
    yield from _undefined_imports(unit)


def _arguments(launch: KernelLaunch) -> Iterator[EntryMismatch]:
    entry = launch.entry
    if entry is None:
        return
    params, given = entry.function.params, launch.arguments
    statement, symbol = launch.event.statement, launch.event.stop.frame.name
    declared = (entry.place, f"`{entry.name}` is declared here")
    if len(params) != len(given):
        yield EntryMismatch(
            launch.place,
            f"`{entry.name}` takes {len(params)} arguments and gets {len(given)}",
            (declared,),
            None,
            statement,
            symbol,
        )
        return
    for param, value in zip(params, given, strict=True):
        wanted, got = _wanted(param.annotation), _kind(value)
        if wanted is not None and got is not None and wanted != got:
            yield EntryMismatch(
                launch.place,
                f"`{entry.name}` takes `{param.name}` as {_TOLD[wanted]} and gets {_TOLD[got]}",
                ((Place(entry.source, param.span), f"`{param.name}` is declared here"),),
                None,
                statement,
                symbol,
            )
            return
    swaps = _argument_swaps(launch)
    pointed = {at for at in swaps if _wanted(params[at].annotation) in ("tensor", "pointer")}
    others = set(swaps) - pointed
    if launch.generics is not None:
        wanted_names = [normal(one.name) for one in entry.generics]
        others |= set(_crossed([_name(item) for item in launch.generics.items], wanted_names))
    chosen = set() if pointed and others else pointed or others & set(swaps)
    if chosen:
        first = min(chosen)
        yield EntryMismatch(
            launch.place,
            f"`{params[swaps[first]].name}` stands where `{entry.name}` takes `{params[first].name}`",
            ((Place(entry.source, params[first].span), f"`{params[first].name}` is declared here"),),
            None,
            statement,
            symbol,
        )


_TOLD = {"tensor": "a tensor", "pointer": "a device pointer", "scalar": "a number", "descriptor": "a descriptor"}


def _wanted(annotation: str) -> str | None:
    text = annotation.replace(" ", "")
    if text.startswith(("&Tensor", "&mutTensor", "&cutile::Tensor")):
        return "tensor"
    if text.startswith(("*mut", "*const")):
        return "pointer"
    return "scalar" if text in ("i32", "i64", "u32", "u64", "f32", "f64", "bool", "i8", "u8", "f16", "bf16", "usize") else None


def _kind(value: Value) -> str | None:
    kinds = {_kind_of(one) for _, one in alternatives(value)}
    return kinds.pop() if len(kinds) == 1 else None


def _kind_of(value: Value) -> str | None:
    if isinstance(value, Known):
        return "scalar" if isinstance(value.value, (int, float)) else None
    if not isinstance(value, Term) or isinstance(value, Choice):
        return None
    if value.op == "call":
        if "DevicePointer" in value.name:
            return "pointer"
        inner = value
        while (
            inner.op == "call"
            and inner.args
            and isinstance(inner.args[0], Term)
            and inner.name.startswith(("ManuallyDrop", "Ok", "Some"))
        ):
            inner = inner.args[0]
        if inner.name.split("::")[0] == "Tensor" or "::Tensor::" in inner.name:
            return "tensor"
        return None
    if (
        value.op == "index"
        and isinstance(value.args[0], Term)
        and value.args[0].op == "attr"
        and value.args[0].name in ("shape", "strides")
    ):
        return "scalar"
    return None


def _undefined_imports(unit: KernelUnit) -> Iterator[EntryMismatch]:
    """Names imported from a device module that stands among the files and does not define them."""
    modules: dict[str, tuple[Place, set[str]]] = {}
    for module in unit.rust_modules:
        for node in module.body:
            if (
                isinstance(node, syntax.ModuleDef)
                and node.body is not None
                and any(one.path.endswith("module") for one in node.attributes)
            ):
                modules[node.name] = (Place(module.source, node.span), set(_defined(node.body)))
    exporting = {path for export in unit.exports.values() for path in export.paths}
    for module in unit.rust_modules:
        if module.source.path not in exporting:
            continue
        for node in module.walk():
            if not isinstance(node, syntax.Import):
                continue
            for name in node.names:
                home = modules.get(name.module.rsplit("::", 1)[-1])
                if home is not None and name.name not in (None, "*", "self") and name.name not in home[1]:
                    place = Place(module.source, name.span)
                    yield EntryMismatch(
                        place,
                        f"`{name.name}` is imported from `{name.module}`, which does not define it",
                        ((Place(home[0].source, home[0].span), "the device module"),),
                        None,
                        Place(module.source, node.span),
                    )


def _defined(body: list[syntax.Stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, syntax.FunctionDef):
            yield node.function.name
        elif isinstance(node, (syntax.MacroDef, syntax.ClassDef, syntax.ModuleDef)):
            yield node.name
        elif isinstance(node, syntax.Assign):
            yield from (target.id for target in node.targets if isinstance(target, syntax.Name))
        elif isinstance(node, syntax.Import):
            yield from (name.alias for name in node.names)
