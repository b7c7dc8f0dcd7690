"""Buffers that carry what one trial wrote into the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.device.effects import BufferUse, given_tensor
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.values import Term, Value
from cutile_lint.unit.runs import Run

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(slots=True, eq=False)
class Carried:
    """A buffer made outside the timed region and accumulated into by a timed launch. ``made``: the event's place, None for an input."""

    run: Run
    launch: Launch
    slot: int
    tensor: Value
    root: Term
    made: Place | None
    use: BufferUse


def carried_buffers(unit: KernelUnit) -> Iterator[Carried]:
    for run in unit.runs:
        for launch in run.launches:
            if not launch.timed:
                continue
            for slot, value in enumerate(launch.arguments.positional):
                tensor = given_tensor(value, run.program)
                if tensor is None:
                    continue
                roots = [root for root in run.tensors.roots(tensor) if isinstance(root, Term)]
                outside = [root for root in roots if _made_outside(run, root) is True]
                if not outside or len(outside) != len(roots):
                    continue
                use = unit.buffer_use(launch, slot)
                if use.accumulates is True and not _is_reset(unit, run, launch, tensor):
                    yield Carried(run, launch, slot, tensor, outside[0], _made_at(run, outside[0]), use)


def _made_outside(run: Run, root: Term) -> bool | None:
    """The memory is older than the trial; None when it is not known where it comes from."""
    if root.op == "input":
        return True
    if root.op == "global":
        return None
    events = run.made.get(root.key(), [])
    return all(not event.timed for event in events) if events else None


def _made_at(run: Run, root: Term) -> Place | None:
    return next((event.place for event in run.made.get(root.key(), [])), None)


def _is_reset(unit: KernelUnit, run: Run, launch: Launch, tensor: Value) -> bool:
    """Something in the trial gives the buffer a fresh start: before the launch, or behind it for the next trial (or may do so)."""
    for work in run.tensors.works(timed=True):
        resets = ("fill", "copy", "compute") if work.event.order < launch.order else ("fill", "copy")
        if work.kind in resets and work.operand is not None:
            in_place = work.name.strip(".()").endswith("_") or work.event.kind == "setitem"
            if in_place and run.tensors.shares_memory(work.operand, tensor):
                return True
    for earlier in run.launches:
        if earlier.timed == launch.timed and earlier.order < launch.order and not contradictory(earlier.path, launch.path):
            use = unit.tensor_use(earlier, tensor)
            if use is not None and use.stores_all is not False and use.reads is not True:
                return True
    return False
