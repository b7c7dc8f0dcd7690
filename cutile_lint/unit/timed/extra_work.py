"""Work on every call that a port should not have: a fallback, or fills and helper kernels that the reference does without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.flows.once import seldom
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Closure, Known, Term
from cutile_lint.unit.runs import Run
from cutile_lint.unit.timed.percall import (
    CallWork,
    branches,
    for_empty_tensors,
    is_returned,
    is_validation,
    reaches_launch,
    reference_does,
)

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: ``tilegym.ops.cutile.matmul.matmul``
_OF_BACKEND = regex(r"(?:^|\.)ops\.(\w+)\.")


@dataclass(slots=True, eq=False)
class ExtraWork:
    """``fallback``: the op's result on a path without a launch; else work beside the launch."""

    item: CallWork
    fallback: bool


def extra_work(unit: KernelUnit) -> Iterator[ExtraWork]:
    """Fallbacks need no evidence; other work is reported only against a reference wrapper that has none of its kind."""
    for item in unit.call_work:
        if item.work.kind not in ("fill", "compute") or for_empty_tensors(item.event) or is_validation(item.run, item.event):
            continue
        if item.work.kind == "compute" and is_returned(item.run, item):
            if reference_does(unit, item) is not True and not item.seldom:
                yield ExtraWork(item, True)
        elif not branches(item.event) and reference_does(unit, item) is False and not (item.seldom or _is_needed(unit, item)):
            yield ExtraWork(item, False)


@dataclass(slots=True, eq=False)
class OtherBackend:
    """A call of the op of another backend, on a path that launches nothing. ``event``: the first thing that happens in it, or the call."""

    event: Event
    place: Place
    backend: str


def other_backends(unit: KernelUnit) -> Iterator[OtherBackend]:
    """Where an op hands its inputs to its own reference: the tests compare that with itself."""
    for run in unit.runs:
        for event, place, backend in _handed_on(run, unit.name):
            launched = any(not contradictory(event.path, launch.path) for launch in run.launches)
            if run.launches and not (launched or event.timed or for_empty_tensors(event) or seldom(run, event)):
                yield OtherBackend(event, place, backend)


def _handed_on(run: Run, op: str) -> Iterator[tuple[Event, Place, str]]:
    """Calls of functions that are registered for another backend: one that was entered, or one of a package by its name."""
    entered: set[int] = set()
    for event in run.trace.events:
        for stop in event.stack[1:]:
            frame = stop.frame
            if frame.closure is not None and frame.closure.tags and frame.call is not None and id(frame) not in entered:
                entered.add(id(frame))
                for backend in _backends(run, frame.closure, op):
                    yield event, frame.call, backend
        if event.kind == "call" and event.target is None:
            found = _OF_BACKEND.search(event.name)
            if found is not None and found[1] != "cutile_rs" and event.name.rsplit(".", 1)[1] == op:
                yield event, event.place, found[1]


def _backends(run: Run, closure: Closure, op: str) -> Iterator[str]:
    """The backends that a function is registered for, if it is the op there."""
    for tag in closure.tags:
        if isinstance(tag, Term) and tag.op == "call" and run.program.role(tag.name) == "register-impl":
            name = tag.keywords.get("name") or (tag.args[0] if tag.args else None)
            backend = tag.keywords.get("backend") or (tag.args[1] if len(tag.args) > 1 else None)
            if isinstance(name, Known) and name.value == op and isinstance(backend, Known) and backend.value != "cutile-rs":
                yield str(backend.value)


def _is_needed(unit: KernelUnit, item: CallWork) -> bool:
    """The kernel reads what was filled or computed, or leaves parts of it as they are (or that is open)."""
    if item.work.kind == "compute" or not isinstance(item.work.result, Term):
        return False
    if not reaches_launch(unit, item):
        return False
    for launch in item.run.launches:
        use = unit.tensor_use(launch, item.work.result)
        if use is not None and (use.stores_all is not True or use.reads is not False):
            return True
    return False
