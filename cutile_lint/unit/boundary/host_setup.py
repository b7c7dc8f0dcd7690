"""The host side of an export: the device it binds, how it borrows memory, how its symbol is exported."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Source, Span
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.linking.rust_imports import rust_names
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Known, Term, Value, alternatives, subterms
from cutile_lint.unit.options.setters import inputs_in

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(frozen=True, slots=True)
class HostFault:
    place: Place
    message: str
    fix: Fix | None = None
    statement: Place | None = None
    symbol: str = ""


# ── the device (CTL506) ────────────────────────────────────────────────────

_DEVICES = frozenset(["Device::new", "Device::get", "CudaContext::new"])


def fixed_devices(unit: KernelUnit) -> Iterator[HostFault]:
    seen: set[Place] = set()
    for boundary in unit.boundary:
        for event in boundary.run.trace.events:
            if event.kind != "call" or event.arguments is None or not event.arguments.positional:
                continue
            if not event.name.endswith(("::new", "::get")) or "::".join(event.name.split("::")[-2:]) not in _DEVICES:
                continue
            found = _device_fault(boundary, event)
            if found is not None and found.place not in seen:
                seen.add(found.place)
                yield found


def _device_fault(boundary: Boundary, event: Event) -> HostFault | None:
    assert event.arguments is not None
    value = event.arguments.positional[0]
    given = alternatives(value)
    sources = {name for _, one in given for name in inputs_in(one)}
    if any(_is_device(name) for name in sources) or any(_is_device(name) for name in _tested(event, given)):
        return None
    if all(isinstance(one, Known) for _, one in given):
        told = f"the device `{given[0][1].value!r}` is bound, whatever device the tensors are on"  # type: ignore[attr-defined]
    elif sources:
        told = f"the device is taken from `{sorted(sources)[0]}`, not from the caller's device id"
    else:
        return None
    place = _own_place(boundary, event, value)
    return HostFault(place, told, _use_argument(boundary, event), event.statement, event.stop.frame.name)


def _is_device(name: str) -> bool:
    return any(word in name.lower() for word in ("device", "ordinal", "gpu"))


def _tested(event: Event, given: list[tuple[tuple, Value]]) -> set[str]:
    literals = [*event.path, *(literal for path, _ in given for literal in path)]
    return {name for literal in literals for name in inputs_in(literal.test)}


def _own_place(boundary: Boundary, event: Event, value: Value) -> Place:
    """The number in the export's file where there is one, else the call there."""
    own = boundary.export.source.path
    places = [
        value.place if isinstance(value, Known) else None,
        *(event.arguments.places[:1] if event.arguments is not None else []),
        event.place,
        *(stop.frame.call for stop in reversed(event.stack)),
        *reversed(event.expansions),
    ]
    return next((place for place in places if place is not None and place.source.path == own), event.place)


def _use_argument(boundary: Boundary, event: Event) -> Fix | None:
    """Bind the export's own device id, where what is bound stands in the export itself."""
    slot = next((slot for slot in boundary.slots if _is_device(slot.name) and not slot.is_descriptor), None)
    place = event.arguments.places[0] if event.arguments is not None and event.arguments.places else None
    if slot is None or place is None or not _sees_parameters(boundary, place) or "$" in place.text:
        return None
    edit = Edit(place.source, place.span.start, place.span.end, f"{slot.name}.max(0) as usize")
    return Fix(f"bind the device `{slot.name}`", (edit,), Applicability.UNSAFE)


def _sees_parameters(boundary: Boundary, place: Place) -> bool:
    """The place is in the export's body, and in no function or constant of its own there."""
    function = boundary.export.function
    if place.source is not boundary.export.source or not function.span.covers(place.span):
        return False
    return not any(
        isinstance(node, syntax.FunctionDef) and node.span.covers(place.span) for part in function.body for node in part.walk()
    )


# ── ownership (CTL507) ─────────────────────────────────────────────────────

#: What has parts that need not run.
_BRANCHING = (syntax.If, syntax.For, syntax.While, syntax.Match, syntax.Cond, syntax.MatchExpr, syntax.Logic, syntax.Lambda)
#: What takes a value out of a ``ManuallyDrop``, or drops it there.
_TAKES = frozenset(["ManuallyDrop::into_inner", "ManuallyDrop::take", "ManuallyDrop::drop"])


def owning_borrows(unit: KernelUnit) -> Iterator[HostFault]:
    """Calls in exporting files that take ownership of memory which PyTorch owns, or work around having taken it."""
    for module in _exporting(unit):
        names = rust_names(module)
        kept = _kept(module, names)
        for node in module.walk():
            if not isinstance(node, syntax.Call) or not isinstance(node.func, syntax.Name) or node.macro:
                continue
            message = _owning(node, names)
            if message is not None and not (id(node) in kept and "takes ownership" in message):
                yield HostFault(Place(module.source, node.span), message)
    yield from _taken_out(unit)


def _taken_out(unit: KernelUnit) -> Iterator[HostFault]:
    """``ManuallyDrop::into_inner(t)`` of a tensor that was made from a descriptor, unless it goes into another ``ManuallyDrop``."""
    modules = {module.source.path: module for module in _exporting(unit)}
    kept = {path: _kept(module, rust_names(module)) for path, module in modules.items()}
    seen: set[Place] = set()
    for boundary in unit.boundary:
        for event in boundary.run.trace.events:
            path, name = event.place.source.path, "::".join(event.name.split("::")[-2:])
            if (
                event.kind != "call"
                or name not in _TAKES
                or path not in modules
                or event.arguments is None
                or event.place in seen
            ):
                continue
            if any(_is_borrowed(one) for one in event.arguments.positional) and id(event.node) not in kept[path]:
                seen.add(event.place)
                message = f"`{name}` takes the tensor out of what keeps it: dropping it frees memory that PyTorch owns"
                yield HostFault(event.place, message, statement=event.statement, symbol=event.stop.frame.name)


def _is_borrowed(value: Value) -> bool:
    """A tensor is made from the pointer in a descriptor."""
    return any(
        isinstance(part, Term) and part.name.endswith("from_raw_parts") and any(_is_pointer(one) for one in subterms(part))
        for part in subterms(value)
    )


def _is_pointer(value: Value) -> bool:
    return isinstance(value, Term) and (value.op, value.name) == ("attr", "ptr")


def _kept(module: syntax.Module, names: dict[str, str]) -> set[int]:
    """The nodes of what is put into ``ManuallyDrop``, at once or by a name that the next statement puts there."""
    kept: set[int] = set()
    if not module.source.has(b"ManuallyDrop"):
        return kept
    for node in module.walk():
        if _keeps(node, names):
            kept |= {id(inner) for arg in node.args for inner in arg.value.walk()}  # type: ignore[attr-defined]
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept |= _kept_next([*body, getattr(node, "value", None)] if isinstance(node, syntax.Block) else body, names)
    return kept


def _keeps(node: syntax.Node, names: dict[str, str]) -> bool:
    if not isinstance(node, syntax.Call) or not isinstance(node.func, syntax.Name):
        return False
    return _full_path(node.func, names).endswith("ManuallyDrop::new")


def _full_path(name: syntax.Name, names: dict[str, str]) -> str:
    first, *rest = name.head.split("::")
    return "::".join([names.get(first, first), *rest])


def _kept_next(statements: list[syntax.Node | None], names: dict[str, str]) -> set[int]:
    """``let t = …;`` of which the next statement makes ``ManuallyDrop::new(t)``: nothing runs between the two."""
    kept: set[int] = set()
    for statement, following in pairwise(statements):
        if not isinstance(statement, syntax.Assign) or not statement.declares or statement.value is None or following is None:
            continue
        calls = [node for node in _always_run(following) if _keeps(node, names)]
        given = {arg.value.id for call in calls for arg in call.args if isinstance(arg.value, syntax.Name)}  # type: ignore[attr-defined]
        if statement.name in given:
            kept |= {id(inner) for inner in statement.value.walk()}
    return kept


def _always_run(node: syntax.Node) -> Iterator[syntax.Node]:
    """The parts of a statement that run whenever it does."""
    yield node
    if not isinstance(node, _BRANCHING):
        for part in node.children():
            yield from _always_run(part)


def _owning(node: syntax.Call, names: dict[str, str]) -> str | None:
    assert isinstance(node.func, syntax.Name)
    segments = _full_path(node.func, names).split("::")
    if segments[-1] == "from_raw_parts" and len(segments) > 1 and segments[-2] == "Tensor":
        return "`Tensor::from_raw_parts` takes ownership: dropping it frees memory that PyTorch owns"
    if segments[-1] == "forget" and (len(segments) == 1 or segments[-2] == "mem"):
        return "`mem::forget` on one path leaves the others to free memory that PyTorch owns"
    if segments[-1] == "transmute" and any("*" in text for text in node.generics):
        return "`transmute` makes a pointer without telling what it points at or who owns it"
    return None


def _exporting(unit: KernelUnit) -> list[syntax.Module]:
    paths = {path for export in unit.exports.values() for path in export.paths}
    return [module for module in unit.rust_modules if module.source.path in paths and module.source.path.name != "ffi_util.rs"]


# ── the symbol (CTL505) ────────────────────────────────────────────────────


def legacy_attributes(unit: KernelUnit) -> Iterator[HostFault]:
    """``#[no_mangle]`` and ``#[export_name = …]`` without ``unsafe(…)``."""
    for module in _exporting(unit):
        for function in module.functions():
            for attribute in function.attributes:
                if attribute.path in ("no_mangle", "export_name"):
                    yield HostFault(
                        Place(module.source, attribute.span),
                        f"`{attribute.path}` is an unsafe attribute in edition 2024",
                        _wrap(module.source, attribute.span),
                        symbol=function.name,
                    )


def _wrap(source: Source, span: Span) -> Fix | None:
    text = source.slice(span)
    start, end = text.find("[") + 1, text.rfind("]")
    if start < 1 or end < start:
        inner, offset = text, 0
    else:
        inner, offset = text[start:end], start
    at = span.start + len(text[:offset].encode())
    edit = Edit(source, at, at + len(inner.encode()), f"unsafe({inner.strip()})")
    return Fix("write it as `unsafe(…)`", (edit,), Applicability.SAFE)
