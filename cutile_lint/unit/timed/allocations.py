"""Buffers that are allocated on every call although the timed region makes its own."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.flows import extents
from cutile_lint.unit.flows.uses import Uses
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.trace import Tuning
from cutile_lint.unit.model import KernelUnit
from cutile_lint.unit.runs import Run
from cutile_lint.unit.timed.tensors import Work


@dataclass(frozen=True, slots=True)
class DeadAllocation:
    """An allocation before the tuner that reaches nothing; ``again`` makes the buffer that the launch gets."""

    run: Run
    tuning: Tuning
    work: Work
    again: Work

    @property
    def place(self) -> Place:
        return self.work.event.place


def dead_allocations(unit: KernelUnit) -> Iterator[DeadAllocation]:
    """Outputs that are allocated before ``autotune_launch`` and again in the timed region."""
    for run in unit.runs:
        uses = Uses(run)
        seen: set[object] = set()
        for tuning in run.tunings:
            dead = [work for work in _made_before(run, tuning) if _reaches_nothing(uses, work)]
            inside = [work for work in _made_in(run, tuning) if _is_output(unit, run, tuning, work)] if dead else []
            for work in dead:
                again = next((one for one in inside if extents.same_sizes(work.result, one.result)), None)  # type: ignore[arg-type]
                key = (work.event.place.source.path, work.event.place.span)
                if again is not None and key not in seen:
                    seen.add(key)
                    yield DeadAllocation(run, tuning, work, again)


def _made_before(run: Run, tuning: Tuning) -> Iterator[Work]:
    for work in run.tensors.works(timed=False):
        if work.kind in ("alloc", "fill") and work.result is not None and work.event.order < tuning.event.order:
            if not contradictory(work.event.path, tuning.event.path):
                yield work


def _made_in(run: Run, tuning: Tuning) -> Iterator[Work]:
    for work in run.tensors.works(timed=True):
        if work.kind in ("alloc", "fill") and work.result is not None and work.event.timed == tuning.number:
            yield work


def _is_output(unit: KernelUnit, run: Run, tuning: Tuning, work: Work) -> bool:
    """A launch of the trial gets the buffer, and may write it."""
    for launch in run.launches:
        if launch.timed == tuning.number and work.result is not None:
            use = unit.tensor_use(launch, work.result)
            if use is not None and use.writes is not False:
                return True
    return False


def _reaches_nothing(uses: Uses, work: Work) -> bool:
    tensor = work.result
    if tensor is None or any(True for _ in uses.other_launches(tensor)) or uses.returned(tensor):
        return False
    return not any(event is not work.event for event in uses.events(tensor, work.event.order))


def delete_allocation(unit: KernelUnit, found: DeadAllocation) -> Fix | None:
    """Delete ``name = torch.empty(…)`` where nothing mentions the name afterwards."""
    from cutile_lint.frontends.python import rewrite
    from cutile_lint.unit.timed.launch_fixes import bound_name, unread_after

    stop = found.work.event.stack[-1]
    statement, function = stop.statement, stop.frame.function
    module = unit.program.module(stop.source.path)
    if statement is None or function is None or module is None or not isinstance(statement, syntax.Assign):
        return None
    name = bound_name(statement)
    if name is None or statement.value is None or Place(stop.source, statement.value.span) != found.place:
        return None
    if not unread_after(function, statement, name):
        return None
    made = rewrite.delete_statement(module, statement)
    if made is None:
        return None
    return Fix(f"delete `{name}`", made.edits, Applicability.UNSAFE if made.drops_comment else Applicability.SAFE)
