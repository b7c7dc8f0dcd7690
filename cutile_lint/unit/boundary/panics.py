"""What may panic in an export: a panic that reaches ``extern "C"`` ends the process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Source
from cutile_lint.unit.boundary.axis_indexes import unchecked_axis_indexes
from cutile_lint.unit.boundary.panic_guards import excludes_zero, is_guarded, speaks_of
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.flows.configs import configs_of
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Known, Term, Value, alternatives, subterms
from cutile_lint.unit.options.setters import inputs_in

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: Methods that panic when their argument is 0.
_DIVISIONS = frozenset(
    ["div_ceil", "div_euclid", "rem_euclid", "next_multiple_of", "step_by", "chunks", "chunks_exact", "rchunks", "windows"]
)


@dataclass(frozen=True, slots=True)
class Panic:
    #: `unwrap`, `expect`, a macro's name without `!` (`assert` for `assert_eq`), `division`, `index`
    kind: str
    place: Place
    message: str
    statement: Place | None
    symbol: str


def panics(unit: KernelUnit) -> Iterator[Panic]:
    """Each place once."""
    seen: set[Place] = set()
    for boundary in unit.boundary:
        if boundary.export.catches:
            continue
        for event in boundary.run.trace.events:
            if event.kind != "panic" and not _divides(event):
                continue
            if event.place.path not in boundary.export.paths or event.place in seen or _is_caught(event):
                continue
            message = _message(unit, boundary, event)
            if message is not None:
                seen.add(event.place)
                yield Panic(_kind(event), event.place, message, event.statement, event.stop.frame.name)
        for panic in boundary.run.answers.once(_indexing, lambda boundary=boundary: list(_indexing(boundary))):
            if panic.place not in seen:
                seen.add(panic.place)
                yield panic
        for found in unchecked_axis_indexes(unit, boundary):
            event = found.event
            if event.place.path in boundary.export.paths and event.place not in seen and not _is_caught(event):
                seen.add(event.place)
                few = "no axes" if found.axes == 1 else f"fewer than {found.axes} axes"
                message = f"`{_short(event.place.text)}` panics when `{found.slot.name}` has {few}"
                yield Panic("index", event.place, message, event.statement, event.stop.frame.name)


def _divides(event: Event) -> bool:
    """``a / b``, ``a.div_ceil(b)``, ``u32::div_ceil(a, b)``: what panics when ``b`` is 0."""
    if not isinstance(event.value, Term) or len(event.value.args) != 2:
        return False
    if event.kind == "operator":
        return event.name in ("/", "%")
    return event.kind == "call" and event.name.rsplit("::", 1)[-1] in _DIVISIONS


def _kind(event: Event) -> str:
    if event.kind != "panic":
        return "division"
    name = event.name.strip(".!")
    return next((kind for kind in ("assert", "unwrap", "expect") if name.startswith(kind)), name)


def _is_caught(event: Event) -> bool:
    return any(isinstance(part, Term) and "catch_unwind" in part.name for context in event.contexts for part in subterms(context))


def _message(unit: KernelUnit, boundary: Boundary, event: Event) -> str | None:
    if event.kind == "panic":
        if event.name.startswith("debug_") or (isinstance(event.value, Known) and event.value.value is True):
            return None
        if not event.name.startswith("assert") and is_guarded(event):
            return None
        return f'`{event.name}` may panic inside `extern "C"`'
    if isinstance(event.value, Term) and _divides(event):
        divisor = event.value.args[1]
        names = inputs_in(divisor)
        text = event.place.text
        if not names or any(word in text for word in ("f32", "f64")) or _is_float(boundary, event.value):
            return None
        if _is_tested(event, divisor) or all(_is_positive(unit, boundary, name) for name in names):
            return None
        return f"`{_short(text)}` panics when the caller passes 0 for `{', '.join(sorted(names))}`"
    return None


def _short(text: str) -> str:
    text = " ".join(text.split()).replace("`", "'")
    return text if len(text) <= 60 else text[:57] + "…"


def _is_float(boundary: Boundary, value: Term) -> bool:
    for part in subterms(value):
        if isinstance(part, Known) and isinstance(part.value, float):
            return True
        if isinstance(part, Term) and part.op == "input":
            slot = boundary.slot_named(part.name)
            if slot is not None and slot.type.strip() in ("f32", "f64"):
                return True
    return False


def _is_tested(event: Event, divisor: Value) -> bool:
    """A condition on the way speaks of the divisor (or of what it is made of), or the divisor is kept above zero."""
    if speaks_of(event.path, divisor):
        return True
    return any(
        isinstance(part, Term)
        and part.op == "method"
        and part.name in ("max", "clamp")
        and any(isinstance(arg, Known) and isinstance(arg.value, int) and arg.value > 0 for arg in part.args[1:])
        for part in subterms(divisor)
    )


def _is_positive(unit: KernelUnit, boundary: Boundary, name: str) -> bool:
    """Every launch passes a positive constant, or one of the configs'."""
    slot = boundary.slot_named(name)
    if slot is None or not boundary.launches or slot.is_descriptor:
        return False
    return all(
        boundary.is_aligned(launch) and positive(unit, launch, launch.arguments.positional[slot.index])
        for launch in boundary.launches
    )


def positive(unit: KernelUnit, launch: Launch, value: Value) -> bool:
    """A value of the wrapper, such as a size, is never zero, whatever the inputs are."""
    return all(excludes_zero(path, one) or _positive(unit, launch, one) for path, one in alternatives(value))


def _positive(unit: KernelUnit, launch: Launch, value: Value) -> bool:
    if isinstance(value, Known):
        return isinstance(value.value, (int, float)) and value.value > 0
    if not isinstance(value, Term):
        return False
    if value.op == "call":
        last = value.name.rsplit(".", 1)[-1]
        if last in ("int", "float") and value.args:
            return positive(unit, launch, value.args[0])
        if last == "max":
            return any(positive(unit, launch, arg) for arg in value.args)
        if last == "min":
            return all(positive(unit, launch, arg) for arg in value.args)
        return unit.program.role(value.name) in ("next-power-of-2", "get-num-sm")
    if value.op == "or":
        return positive(unit, launch, value.args[-1])
    if value.op == "binary" and value.name == "*":
        return all(positive(unit, launch, arg) for arg in value.args)
    if value.op == "field":
        return _positive_in_configs(unit, launch, value.name)
    return False


def _positive_in_configs(unit: KernelUnit, launch: Launch, field: str) -> bool:
    for run in unit.runs:
        tuning = next((one for one in run.tunings if one.number == launch.timed), None) if launch in run.launches else None
        configs = configs_of(tuning) if tuning is not None else None
        if configs:
            values = [config.fields.get(field) for config in configs]
            return all(isinstance(one, Known) and isinstance(one.value, int) and one.value > 0 for one in values)
    return False


def _indexing(boundary: Boundary) -> Iterator[Panic]:
    """Indexing by a parameter that nothing bounds."""
    export = boundary.export
    params = {slot.name for slot in boundary.slots if not slot.is_descriptor}
    nodes = list(export.function.walk())
    compared = {part.id for node in nodes if _bounds(node) for part in node.walk() if isinstance(part, syntax.Name)}
    loose = {id(part) for node in nodes if isinstance(node, syntax.Call) and node.macro for part in _loose(export.source, node)}
    for node in nodes:
        if not isinstance(node, syntax.Index) or id(node) in loose:
            continue
        used = {part.id for part in node.index.walk() if isinstance(part, syntax.Name)} & params
        place = Place(export.source, node.span)
        if used and not used & compared and not _is_masked(node):
            message = f"`{_short(place.text)}` panics when the caller passes an index out of range"
            yield Panic("index", place, message, None, boundary.symbol)


def _is_masked(node: syntax.Index) -> bool:
    """``[1, 2, 4][(x & 1) as usize]``: no index is beyond the mask, as far as the length is known."""
    index = node.index
    while isinstance(index, syntax.Cast):
        index = index.value
    if not isinstance(index, syntax.Binary) or index.op != "&":
        return False
    masks = [side.value for side in (index.left, index.right) if isinstance(side, syntax.Const) and isinstance(side.value, int)]
    return bool(masks) and not (isinstance(node.base, syntax.Sequence) and max(masks) >= len(node.base.items))


def _loose(source: Source, call: syntax.Call) -> Iterator[syntax.Index]:
    """What stands like ``word [value]`` in a macro's arguments: two token trees of the macro's own syntax."""
    for part in call.walk():
        if isinstance(part, syntax.Index) and source.part(part.base.span.end, part.base.span.end + 1).isspace():
            yield part


def _bounds(node: syntax.Node) -> bool:
    """The node compares values, or keeps one in a range."""
    if isinstance(node, syntax.Call) and isinstance(node.func, syntax.Attr):
        return node.func.name in ("min", "clamp", "contains")
    return isinstance(node, syntax.Compare)
