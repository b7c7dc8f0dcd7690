"""Copies of transposed views on their way to a launch, and those that the reference's wrapper makes too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.flows import axes as ax
from cutile_lint.unit.launches import Launch, described_tensor
from cutile_lint.unit.machine.trace import Event, Trace
from cutile_lint.unit.machine.values import Choice, Condition, Known, Term, Value, alternatives
from cutile_lint.unit.runs import Run
from cutile_lint.unit.transposes.owners import descriptor_of, rank_in

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(frozen=True, slots=True)
class TransposedCopy:
    """``x.transpose(…).contiguous()``: the copying call, the view before it, and the launch that gets the copy."""

    run: Run
    launch: Launch
    slot: int
    copy: Term
    view: Place | None
    exchanged: frozenset[frozenset[int]]
    event: Event | None

    @property
    def place(self) -> Place:
        assert self.copy.place is not None
        return self.copy.place


def transposed_copies(unit: KernelUnit) -> Iterator[TransposedCopy]:
    """Inputs that are transposed and made contiguous before a launch, except where the reference does the same."""
    ranks = _ranks(unit.boundary)
    expected = _in_reference(unit)
    if expected is None:
        return
    for run in unit.runs:
        seen: set[Place] = set()
        for launch in run.launches:
            for slot, argument in enumerate(launch.arguments.positional):
                tensor = described_tensor(argument, run.program)
                for copy, view, exchanged in _copies(tensor, ranks.get((launch.symbol, slot))) if tensor is not None else ():
                    if copy.place is None or copy.place in seen or _root(copy) & expected.get(exchanged, frozenset()):
                        continue
                    seen.add(copy.place)
                    event = next((one for one in run.trace.events if one.place == copy.place and one.name == copy.name), None)
                    yield TransposedCopy(run, launch, slot, copy, view, exchanged, event)


def _ranks(boundaries: list[Boundary]) -> dict[tuple[str, int], int]:
    """The rank that the kernel declares for a slot of a symbol."""
    found: dict[tuple[str, int], int] = {}
    for boundary in boundaries:
        names = frozenset(slot.name for slot in boundary.slots if slot.is_descriptor)
        for kernel in boundary.kernel_launches:
            for position, argument in enumerate(kernel.arguments):
                slot = boundary.slot_named(descriptor_of(argument, names) or "")
                rank = rank_in(kernel.entry, position)
                if slot is not None and rank is not None:
                    found[boundary.symbol, slot.index] = rank
    return found


def _copies(value: Value, rank: int | None, depth: int = 0) -> Iterator[tuple[Term, Place | None, frozenset[frozenset[int]]]]:
    """(copy, view, axes) of the contiguous copies of transposed views in a tensor's chain."""
    for view in ax.views(value):
        copy = view.copied
        if copy is None or depth > 6:
            continue
        for inner in _before(copy.args[0], depth) if _is_contiguous(copy) else ():
            steps = inner.steps
            order = ax.order_of(steps, rank if not view.steps or rank is not None else None) if steps else None
            order = order if order is not None else ax.order_of(steps, None) if steps else None
            if order is not None and (exchanged := ax.cycles(order)) and not _lies_so((*view.condition, *inner.condition), order):
                yield copy, steps[-1].place, exchanged
        yield from _copies(copy.args[0], rank, depth + 1)


def _before(value: Value, depth: int) -> list[ax.View]:
    """The views before a copy, across copies that keep the strides (``to``, ``float``, ``clone``)."""
    found = []
    for view in ax.views(value):
        if view.copied is not None and not _is_contiguous(view.copied) and depth < 6:
            for inner in _before(view.copied.args[0], depth + 1):
                found.append(ax.View((*inner.condition, *view.condition), inner.base, [*inner.steps, *view.steps], inner.copied))
        else:
            found.append(view)
    return found


def _lies_so(condition: Condition, order: list[int]) -> bool:
    """A condition says that memory has the axes in this order already, so that nothing is copied: ``if x.stride(-2) == 1: x = x.mT``."""
    return any(literal.holds and _innermost(literal.test, len(order)) == order[-1] for literal in condition)


def _innermost(test: Value, rank: int) -> int | None:
    """The axis that lies innermost in memory when a test holds: ``x.stride(axis) == 1``, ``x.mT.is_contiguous()``."""
    if isinstance(test, Choice):
        answers = {_innermost(one, rank) for _, one in alternatives(test)}
        return answers.pop() if len(answers) == 1 else None
    if not isinstance(test, Term):
        return None
    if test.op == "method" and test.name == "is_contiguous":
        orders = [ax.order_of(view.steps, rank) for view in ax.views(test.args[0]) if view.copied is None]
        return orders[0][-1] if len(orders) == 1 and orders[0] is not None else None
    if test.op == "compare" and test.name == "==":
        axis = ax.stride_axis(test.args[0])
        one = test.args[1]
        return axis % rank if axis is not None and isinstance(one, Known) and one.value == 1 else None
    return None


def _is_contiguous(copy: Term) -> bool:
    layout = copy.keywords.get("memory_format")
    if copy.name == "contiguous":
        return True
    return copy.name == "clone" and isinstance(layout, Term) and layout.name.endswith("contiguous_format")


def _root(value: Value) -> frozenset[str]:
    """Names of the op's parameters that a tensor is made of; "" stands for all of them."""
    names: set[str] = set()
    for view in ax.views(value):
        base: Value | None = view.base
        while isinstance(base, Term) and base.op in ("method", "attr", "index", "call") and base.args:
            base = base.args[0]
            for inner in ax.views(base):
                base = inner.base
                break
        if isinstance(base, Term) and base.op == "input":
            names.add(base.name)
    return frozenset(names)


def _in_reference(unit: KernelUnit) -> dict[frozenset[frozenset[int]], frozenset[str]] | None:
    """The transposed copies in the reference's wrapper: parameters by exchanged axes. None: it is there, and not understood."""
    reference = unit.reference
    if reference is None or reference.python is None:
        return {}
    tensors = reference.tensors
    if tensors is None:
        return None
    found: dict[frozenset[frozenset[int]], frozenset[str]] = {}
    for copy, exchanged in _copies_in(tensors.trace):
        found[exchanged] = found.get(exchanged, frozenset()) | _root(copy)
    return found


def _copies_in(trace: Trace) -> Iterator[tuple[Term, frozenset[frozenset[int]]]]:
    for event in trace.events:
        value = event.value
        if event.kind == "call" and isinstance(value, Term) and value.op == "method" and value.name == "contiguous":
            for copy, _, exchanged in _copies(value, None):
                yield copy, exchanged
