"""The host side of an export: the device it binds, how it borrows memory, how its symbol is exported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Source, Span
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.linking.rust_imports import rust_names
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Known, Value, alternatives
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


def owning_borrows(unit: KernelUnit) -> Iterator[HostFault]:
    """Calls in exporting files that take ownership of memory which PyTorch owns, or work around having taken it."""
    for module in _exporting(unit):
        names = rust_names(module)
        wrapped = {
            id(arg.value)
            for node in module.walk()
            if isinstance(node, syntax.Call)
            and isinstance(node.func, syntax.Name)
            and node.func.head.endswith("ManuallyDrop::new")
            for arg in node.args
        }
        kept = {id(inner) for node in module.walk() if id(node) in wrapped for inner in node.walk()}
        for node in module.walk():
            if not isinstance(node, syntax.Call) or not isinstance(node.func, syntax.Name) or node.macro:
                continue
            message = _owning(node, names)
            if message is not None and not (id(node) in kept and "takes ownership" in message):
                yield HostFault(Place(module.source, node.span), message)


def _owning(node: syntax.Call, names: dict[str, str]) -> str | None:
    assert isinstance(node.func, syntax.Name)
    parts = node.func.head.split("::")
    path = "::".join([names.get(parts[0], parts[0]), *parts[1:]])
    segments = path.split("::")
    if segments[-1] == "from_raw_parts" and len(segments) > 1 and segments[-2] == "Tensor":
        return "`Tensor::from_raw_parts` takes ownership: dropping it frees memory that PyTorch owns"
    if segments[-1] == "forget" and (len(segments) == 1 or segments[-2] == "mem"):
        return "`mem::forget` on one path leaves the others to free memory that PyTorch owns"
    if segments[-1] == "transmute" and any("*" in text for text in node.generics):
        return "`transmute` makes a pointer without telling what it points at or who owns it"
    return None


def _exporting(unit: KernelUnit) -> list[syntax.Module]:
    paths = {export.source.path for export in unit.exports.values()}
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
