"""Which device a launch runs on: stream, device id and SM count against the device of the tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.flows.origins import node_at
from cutile_lint.unit.launches import Launch, described_tensor
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.linking.where import stop_of
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Condition, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.runs import Run

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

_STREAMS = frozenset(["torch.cuda.current_stream", "torch.cuda.default_stream"])
_DEVICE = "torch.cuda.current_device"


@dataclass(frozen=True, slots=True)
class WrongDevice:
    place: Place
    message: str
    event: Event
    minor: bool = False
    fix: Fix | None = None


def wrong_devices(unit: KernelUnit) -> Iterator[WrongDevice]:
    """Each place once."""
    seen: set[Place] = set()
    for run in unit.runs:
        for found in _in_run(unit, run):
            if found.place not in seen:
                seen.add(found.place)
                yield found


def _in_run(unit: KernelUnit, run: Run) -> Iterator[WrongDevice]:
    calls = {event.value.key(): event for event in run.trace.events if event.kind == "call" and event.value is not None}
    for launch in run.launches:
        boundary = next((one for one in unit.boundary if launch in one.launches), None)
        if boundary is None or not boundary.is_aligned(launch) or _refuses_others(launch.path):
            continue
        for slot in boundary.slots:
            value = launch.arguments.positional[slot.index]
            roles = slot.roles() & {"device", "stream"}
            if "device" in roles or (not roles and slot.name == "device_id"):
                yield from _device(launch, value, slot.index, calls)
            elif "stream" in roles or (not roles and slot.name in ("raw_stream", "stream")):
                yield from _stream(unit.program, boundary, launch, value, slot.index, calls)
    yield from _counts(unit, run)


def _refuses_others(path: Condition) -> bool:
    """The launch runs only for tensors of the current device."""
    return any(
        literal.holds and isinstance(literal.test, Term) and literal.test.op == "compare"
        and any(isinstance(part, Term) and part.name == _DEVICE for part in subterms(literal.test))
        for literal in path
    )  # fmt: skip


def _plain(value: Value) -> Value:
    while isinstance(value, Term) and value.op == "call" and value.name == "int" and value.args:
        value = value.args[0]
    return value


def _is_within_device(event: Event) -> bool:
    """The call stands in ``with torch.cuda.device(…)`` (or behind it in an entered context)."""
    return any(
        isinstance(part, Term) and part.op == "call" and part.name in ("torch.cuda.device", "torch.cuda.device_of")
        for context in event.contexts
        for part in subterms(context)
    )


def _is_set(run_events: dict[object, Event]) -> bool:
    return any(event.name == "torch.cuda.set_device" for event in run_events.values())


def _device(launch: Launch, value: Value, slot: int, calls: dict[object, Event]) -> Iterator[WrongDevice]:
    for path, one in alternatives(value):
        for more, inner in alternatives(_plain(one)):
            inner = _plain(inner)
            if (
                isinstance(inner, Known)
                and isinstance(inner.value, int)
                and inner.value >= 0
                and not isinstance(inner.value, bool)
            ):
                if not (path or more):
                    place = launch.argument_place(slot)
                    yield WrongDevice(
                        place, f"the device `{inner.value}` is passed, whatever device the tensors are on", launch.event
                    )
            elif isinstance(inner, Term) and inner.op == "attr" and inner.name == "cuda_stream":
                yield WrongDevice(launch.argument_place(slot), "a stream is passed where `device_id` is declared", launch.event)
            elif isinstance(inner, Term) and inner.op == "call" and inner.name == _DEVICE:
                event = calls.get(inner.key())
                if (
                    event is not None
                    and not (path or more or _for_none(event.path))
                    and not _is_within_device(event)
                    and not _is_set(calls)
                ):
                    yield WrongDevice(
                        event.place, "`torch.cuda.current_device()` is passed for tensors that may be on another device", event
                    )


def _for_none(path: Condition) -> bool:
    """Only for tensors whose device has no index: those are on the current one."""
    return any(
        isinstance(literal.test, Term) and any(isinstance(part, Term) and part.name == "index" for part in subterms(literal.test))
        for literal in path
    )


def _stream(
    program: Program, boundary: Boundary, launch: Launch, value: Value, slot: int, calls: dict[object, Event]
) -> Iterator[WrongDevice]:
    for _, one in alternatives(value):
        for _, inner in alternatives(_plain(one)):
            inner = _plain(inner)
            if not isinstance(inner, Term):
                continue
            if inner.op == "attr" and inner.name == "index":
                yield WrongDevice(
                    launch.argument_place(slot), "a device id is passed where `raw_stream` is declared", launch.event
                )
            if (
                inner.op != "attr"
                or inner.name != "cuda_stream"
                or not isinstance(inner.base, Term)
                or inner.base.name not in _STREAMS
            ):
                continue
            event = calls.get(inner.base.key())
            if event is None or event.arguments is None or _is_within_device(event) or _is_set(calls):
                continue
            given = event.arguments.get(0, "device")
            device = _device_named(given)
            if device is None and not _for_none(event.path):
                name = inner.base.name
                yield WrongDevice(
                    event.place,
                    f"`{name}()` is the stream of the current device: the tensors may be on another",
                    event,
                    fix=_pass_device(program, boundary, launch, event) if given is None else None,
                )
            elif isinstance(device, Known):
                yield WrongDevice(
                    event.place, f"the stream of device `{device.value}` is used, whatever device the tensors are on", event
                )


def _device_named(given: Value | None) -> Value | None:
    """The device that an argument names, whatever way it is written; None: the current one."""
    given = _plain(given) if given is not None else None
    if isinstance(given, Term) and given.op == "call" and given.name == "torch.device":
        index = given.keywords.get("index", given.args[1] if len(given.args) > 1 else None)
        given = index if index is not None else given.keywords.get("type", given.args[0] if given.args else given)
    if isinstance(given, Term) and given.op == "call" and given.name == _DEVICE:
        return None
    if isinstance(given, Known) and given.value in (None, "cuda"):
        return None
    return given


def _pass_device(program: Program, boundary: Boundary, launch: Launch, event: Event) -> Fix | None:
    """``device=`` of a tensor whose descriptor is made in the same function by name."""
    from cutile_lint.frontends.python import rewrite

    module, node = program.module(event.place.source.path), node_at(program, event.place)
    stop = stop_of(event, event.place)
    if module is None or stop is None or stop.frame.function is None or not isinstance(node, syntax.Call):
        return None
    params = {param.name for param in stop.frame.function.params}
    for slot in (slot for slot in boundary.slots if slot.is_descriptor):
        tensor = described_tensor(launch.arguments.positional[slot.index], program)
        for name in dict.fromkeys(hop.name for hop in reversed(tensor.hops())) if tensor is not None else ():
            if name in params:
                added = rewrite.add_argument(module, node, f"{name}.device", "device")
                return (
                    Fix(f"ask for the stream of `{name}.device`", added.edits, Applicability.SAFE) if added is not None else None
                )
    return None


def _counts(unit: KernelUnit, run: Run) -> Iterator[WrongDevice]:
    """Calls of ``get_num_sm()``, which counts on the current device."""
    if not run.launches or all(_refuses_others(launch.path) for launch in run.launches):
        return
    if any(event.name == "torch.cuda.set_device" for event in run.trace.events):
        return
    for event in run.trace.events:
        if event.kind == "call" and unit.program.role(event.name) == "get-num-sm" and not _is_within_device(event):
            yield WrongDevice(
                event.place, "`get_num_sm()` counts on the current device: the tensors may be on another", event, minor=True
            )
