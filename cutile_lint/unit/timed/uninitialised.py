"""``zeros`` → ``empty``: the proof that the fill is not needed, and the rewrite of the call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.unit.device.effects import given_tensor
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.linking.callers import everywhere, only_used_here
from cutile_lint.unit.linking.names import dotted as dotted_name
from cutile_lint.unit.linking.names import imports_of
from cutile_lint.unit.linking.python_names import bindings, mentions
from cutile_lint.unit.machine.paths import contradictory, negation
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Condition, Term, Value, alternatives, beyond
from cutile_lint.unit.timed.region import Occurrence, TimedWork, use_in_trial
from cutile_lint.unit.timed.torch_api import names

if TYPE_CHECKING:
    from cutile_lint.unit.device.effects import BufferUse
    from cutile_lint.unit.model import KernelUnit

_EMPTY = {"zeros": "empty", "zeros_like": "empty_like", "new_zeros": "new_empty"}
#: views with all elements
_RESHAPES = names(
    "view view_as reshape flatten ravel detach t transpose permute unsqueeze squeeze swapaxes swapdims movedim zero_ fill_"
)
#: calls that may have the buffer before it is stored: they look at no data
_HARMLESS = frozenset(
    ["data_ptr", "size", "stride", "dim", "numel", "is_contiguous", "element_size", "get_device", "record_stream"]
)


def fill_is_needed(unit: KernelUnit, found: TimedWork) -> bool:
    """A launched kernel is seen to accumulate into what is filled, each time that the place is come to."""
    return all(_accumulated(unit, occurrence) for occurrence in found.occurrences)


def _accumulated(unit: KernelUnit, occurrence: Occurrence) -> bool:
    uses = use_in_trial(unit, occurrence, occurrence.work.result)
    return any(use.accumulates and launch.order > occurrence.work.event.order for launch, use in uses)


def leave_uninitialised(unit: KernelUnit, found: TimedWork) -> Fix | None:
    """The fix of a zero fill: safe when it is shown that no zero is ever seen, unsafe when that is open, None when one is seen."""
    call = found.call
    last = found.work.name.removesuffix("()").rsplit(".", 1)[-1]
    if call is None or last not in _EMPTY or any(arg.name == "out" or arg.spread == "**" for arg in call.args):
        return None
    answers = [zeros_unseen(other, occurrence) for other, occurrence in everywhere(unit, found)]
    if False in answers:
        return None
    module = unit.program.module(found.place.source.path)
    arguments = found.work.event.arguments
    as_written = arguments is not None and len(arguments.positional) + len(arguments.keywords) == len(call.args)
    edits = _rewritten(module, call, last, found.work.name, as_written) if module is not None else None
    if edits is None or module is None:
        return None
    shown = all(answers) and only_used_here(unit, module, found)
    return Fix(
        f"allocate with `{_EMPTY[last]}`: the kernel stores the whole buffer",
        edits,
        Applicability.SAFE if shown else Applicability.UNSAFE,
    )


# ── the proof ──────────────────────────────────────────────────────────────


def zeros_unseen(unit: KernelUnit, occurrence: Occurrence) -> bool | None:
    """On every path, a launch stores the whole buffer before anything reads it: True, False or None (not known)."""
    event, buffer = occurrence.work.event, occurrence.work.result
    uses = [(launch, use) for launch, use in use_in_trial(unit, occurrence, buffer) if launch.order > event.order]
    if buffer is None or not uses:
        return None
    first = min(launch.order for launch, _ in uses)
    verdicts = [_verdict(use) if _as_a_whole(unit, occurrence, launch, buffer) else _part_verdict(use) for launch, use in uses]
    storing = [launch for (launch, _), verdict in zip(uses, verdicts, strict=True) if verdict]
    before = [
        verdict for (launch, _), verdict in zip(uses, verdicts, strict=True) if not storing or launch.order <= storing[0].order
    ]
    if False in before:
        return False
    if not storing or None in before or _gaps(occurrence):
        return None
    if _seen_before(occurrence, buffer, event, max(first, storing[0].order)):
        return None
    return True if _on_every_path(occurrence, event, storing) else None


def _verdict(use: BufferUse) -> bool | None:
    """The launch stores all and reads nothing (True); needs what was there (False); not known (None)."""
    if use.reads is True or use.accumulates is True or use.stores_all is False:
        return False
    return True if use.reads is False and use.stores_all is True else None


def _part_verdict(use: BufferUse) -> bool | None:
    """The same for a launch that gets a part of the buffer: it never stores all."""
    return False if use.reads is True or use.accumulates is True else None


def _as_a_whole(unit: KernelUnit, occurrence: Occurrence, launch: Launch, buffer: Value) -> bool:
    """A slot of the launch gets the whole buffer, in whatever shape: no slice of it."""
    wanted, fill = {root.key() for root in occurrence.run.tensors.roots(buffer)}, occurrence.work.event.path
    for slot in unit.effects.slots_of(launch, buffer):
        value = given_tensor(launch.arguments.positional[slot], occurrence.run.program)
        here = [one for path, one in alternatives(value) if not contradictory(fill, path)] if value is not None else []
        if here and all(_whole(one) in wanted for one in here):
            return True
    return False


def _whole(value: Value) -> object:
    """Key of the tensor of which a value is a view with all elements."""
    while isinstance(value, Term) and value.args and (value.name in _RESHAPES if value.op == "method" else value.op == "attr"):
        if value.op == "attr" and value.name not in ("T", "mT", "data"):
            break
        value = value.args[0]
    return value.key()


def _gaps(occurrence: Occurrence) -> bool:
    return bool(occurrence.run.trace.gaps)


def _seen_before(occurrence: Occurrence, buffer: Value, fill: Event, until: int) -> bool:
    """Something may look at the buffer's content between the fill and the launch that stores it."""
    run = occurrence.run
    launches = {id(launch.event) for launch in occurrence.launches()}
    for event in run.trace.events[fill.order + 1 : until]:
        if event.kind in ("tune-start", "tune-end", "return", "delete", "global", "setattr") or id(event) in launches:
            continue
        if event.kind == "call":
            if event.name in _HARMLESS or run.program.role(event.name) == "make-tensor-desc":
                continue
            work = run.tensors.work(event)
            if work is not None and work.kind in ("view", "alloc"):
                continue
            if work is not None and work.kind == "fill" and work.event.target is None:
                continue
        given = [
            *(event.arguments.positional if event.arguments else ()),
            *(event.arguments.keywords.values() if event.arguments else ()),
        ]
        if event.target is not None:
            given.append(event.target)
        if event.kind == "operator" and event.value is not None:
            given += getattr(event.value, "args", ())
        if any(run.tensors.shares_memory(value, buffer) for value in given):
            return True
    return False


def _on_every_path(occurrence: Occurrence, fill: Event, storing: list[Launch]) -> bool:
    """Each path from the fill on comes to one of the launches, or ends in a raise."""
    ends: list[Condition] = []
    later = [event for event in occurrence.run.trace.events[fill.order :] if event.kind in ("raise", "assert")]
    for path in [launch.path for launch in storing] + [event.path for event in later]:
        extra = beyond(path, fill.path)
        if contradictory(fill.path, extra):
            continue
        if not extra:
            return True
        ends.append(negation(extra))
    return contradictory(fill.path, *ends)


# ── the rewrite ────────────────────────────────────────────────────────────


def _rewritten(module: syntax.Module, call: syntax.Call, last: str, dotted: str, as_written: bool) -> tuple[Edit, ...] | None:
    """Edits that make the call allocate without filling; ``as_written``: the function gets the call's own arguments and no others."""
    func, new, source = call.func, _EMPTY[last], module.source
    if isinstance(func, syntax.Attr) and func.name == last:
        if dotted.startswith("torch.") and dotted_name(func, imports_of(module)) != dotted:
            return None  # somebody else's ``zeros``: there need not be an ``empty`` beside it
        return (Edit(source, func.name_span.start, func.name_span.end, new),)
    if not isinstance(func, syntax.Name) or not dotted.startswith("torch."):
        return None
    if (edits := _renamed_alias(module, func, last, new)) is not None:
        return edits
    torch = _torch_name(module)
    if torch is None or not as_written:  # a ``functools.partial`` has arguments of its own
        return None
    return (Edit(source, func.span.start, func.span.end, f"{torch}.{new}"),)


def _renamed_alias(module: syntax.Module, func: syntax.Name, last: str, new: str) -> tuple[Edit, ...] | None:
    """An alias that is used for this call only means the other function from now on."""
    source, places = module.source, bindings(module, func.id)
    if mentions(module, func.id) != 1 or len(places) != 1:
        return None
    place = places[0]
    if isinstance(place, syntax.Assign) and isinstance(place.value, syntax.Attr) and place.value.name == last and not place.op:
        span = place.value.name_span
        return (Edit(source, span.start, span.end, new),)
    if isinstance(place, syntax.ImportName) and place.name == last and place.module == "torch":
        text = source.slice(place.span)
        if place.alias != last:
            return (Edit(source, place.span.start, place.span.end, text.replace(last, new, 1)),)
        if text == last and not bindings(module, new) and not mentions(module, new):
            return (
                Edit(source, place.span.start, place.span.end, new),
                Edit(source, func.span.start, func.span.end, new),
            )
    return None


def _torch_name(module: syntax.Module) -> str | None:
    """The name under which the module imports ``torch``, when that name means nothing else."""
    for statement in module.body:
        if isinstance(statement, syntax.Import):
            for name in statement.names:
                if name.name is None and name.module == "torch" and len(bindings(module, name.alias)) == 1:
                    return name.alias
    return None
