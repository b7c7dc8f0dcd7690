"""Indexes counted from a descriptor's last axis (``shape[ndim as usize - 1]``): out of range for a tensor of fewer axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass
from cutile_lint.unit.boundary.panic_guards import spoken_of
from cutile_lint.unit.boundary.slots import Boundary, Slot
from cutile_lint.unit.flows.extents import rank, shape_owner
from cutile_lint.unit.launches import Launch, described_tensor
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Condition, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.runs import Run

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(frozen=True, slots=True)
class AxisIndex:
    """``event`` indexes by the number of axes of the tensor in ``slot`` less ``axes``, and nothing says that it has so many."""

    event: Event
    slot: Slot
    axes: int


def unchecked_axis_indexes(unit: KernelUnit, boundary: Boundary) -> Iterator[AxisIndex]:
    for event in boundary.run.trace.events:
        if event.kind != "index" or not isinstance(event.value, Term):
            continue
        index = event.value.args[1]
        if not isinstance(index, Term) or (index.op, index.name) != ("binary", "-"):
            continue
        count, less = index.args
        slot = _axes_of(boundary, count)
        if slot is None or not isinstance(less, Known) or not isinstance(less.value, int):
            continue
        if not _is_looked_at(event.path, count) and _may_have_fewer(unit, boundary, slot, less.value):
            yield AxisIndex(event, slot, less.value)


def _axes_of(boundary: Boundary, value: Value) -> Slot | None:
    """The descriptor of ``x.ndim``."""
    if not isinstance(value, Term) or (value.op, value.name) != ("attr", "ndim"):
        return None
    named = [part.name for part in subterms(value) if isinstance(part, Term) and part.op == "input"]
    slot = boundary.slot_named(named[0]) if len(named) == 1 else None
    return slot if slot is not None and slot.is_descriptor else None


def _is_looked_at(path: Condition, count: Term) -> bool:
    """A condition on the way speaks of the number of axes, or hands the whole descriptor to a check."""
    if count.key() in spoken_of(path):
        return True
    calls = (part for literal in path for part in subterms(literal.test) if isinstance(part, Term))
    return any(
        part.op in ("call", "method") and part.name != "is_null" and count.base.key() in {arg.key() for arg in part.args}
        for part in calls
    )


def _may_have_fewer(unit: KernelUnit, boundary: Boundary, slot: Slot, axes: int) -> bool:
    """Some launch passes an input of the op, and its run never speaks of that tensor's axes."""
    return any(
        _is_unseen_input(run, launch, path, tensor, axes)
        for run in unit.runs
        for launch in boundary.launches
        if launch in run.launches and boundary.is_aligned(launch)
        for path, descriptor in alternatives(launch.arguments.positional[slot.index])
        if (described := described_tensor(descriptor, unit.program)) is not None
        for _, tensor in alternatives(described)
    )


def _is_unseen_input(run: Run, launch: Launch, path: Condition, tensor: Value, axes: int) -> bool:
    owner = shape_owner(tensor)
    if not any(isinstance(part, Term) and part.op == "input" and part.key() == owner for part in subterms(tensor)):
        return False
    if rank(tensor, run.trace, (*launch.path, *path)) >= axes:
        return False
    seen = [literal.test for literal in launch.path] + [value for value, _, _ in run.trace.unpacked]
    for event in run.trace.events[: launch.order + 1]:
        seen += [event.value] if event.value is not None else []
        seen += [*event.arguments.positional, *event.arguments.keywords.values()] if event.arguments is not None else []
    return not any(_speaks_of_axes(part, owner) for value in seen for part in subterms(value))


def _speaks_of_axes(value: Value, owner: object) -> bool:
    """``x.shape[-1]``, ``x.size(0)``, ``x.ndim`` and like."""
    if not isinstance(value, Term) or not value.args:
        return False
    base = value.args[0]
    if value.op == "index" and isinstance(base, Term) and base.op == "attr" and base.name == "shape":
        return shape_owner(base.base) == owner
    asks = (value.op == "attr" and value.name == "ndim") or (
        value.op == "method" and value.name in ("dim", "ndimension", "size", "stride", "unflatten")
    )
    return asks and shape_owner(base) == owner
