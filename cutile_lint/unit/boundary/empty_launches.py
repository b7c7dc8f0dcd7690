"""Launches that tensors without elements can reach: their grid is 0, which means "infer"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Fix
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.panic_guards import excludes_zero
from cutile_lint.unit.boundary.panics import positive
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.launches import KernelLaunch, Launch
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.options.setters import inputs_in
from cutile_lint.unit.runs import Run

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

_SIZES = frozenset(["numel", "nelement", "size", "dim", "product"])


@dataclass(frozen=True, slots=True)
class EmptyLaunch:
    """``axis`` is the grid's value that an empty tensor makes 0; ``tensors`` the inputs of the op whose sizes it is made of."""

    launch: Launch
    run: Run
    axis: Place | None
    tensors: tuple[str, ...]


def empty_launches(unit: KernelUnit) -> Iterator[EmptyLaunch]:
    """Each launch's place once."""
    seen: set[Place] = set()
    for run in unit.runs:
        for launch in run.launches:
            boundary = next((one for one in unit.boundary if launch in one.launches), None)
            if boundary is None or launch.place in seen or not boundary.is_aligned(launch) or _is_guarded(launch.path):
                continue
            for kernel in boundary.kernel_launches:
                axis = None if _is_guarded(kernel.path) else _axis(unit, boundary, launch, kernel)
                if axis is not None:
                    seen.add(launch.place)
                    yield EmptyLaunch(launch, run, axis.place, _tensors(boundary, launch, axis, run))
                    break


def _is_guarded(path: Condition) -> bool:
    """A condition on the way compares a size with 0 (or 1), or takes it as a truth."""
    for literal in path:
        parts = _parts(literal.test)
        if not any(_is_size(part) for part in parts):
            continue
        compares = [part for part in parts if isinstance(part, Term) and part.op == "compare"]
        if not compares:
            return True
        if any(isinstance(part, Term) and part.op == "binary" and part.name == "%" for part in parts):
            continue
        for one in compares:
            if _counts_members(one.args[0]):  # `len({x.shape[0], y.shape[0]}) == 1`
                continue
            if any(isinstance(arg, Known) and isinstance(arg.value, int) and arg.value in (0, 1) for arg in one.args):
                return True
    return False


def _counts_members(value: Value) -> bool:
    return isinstance(value, Term) and value.op == "call" and value.name == "len" and isinstance(value.args[0], Items)


def _parts(test: Value) -> list[Value]:
    found = subterms(test)
    for part in list(found):
        if isinstance(part, Choice):
            for path, _ in part.alternatives:
                for literal in path:
                    found += _parts(literal.test)
    return found


def _is_size(value: Value) -> bool:
    return isinstance(value, Term) and (
        (value.op == "attr" and value.name == "shape") or (value.op == "method" and value.name in _SIZES)
    )


def _axis(unit: KernelUnit, boundary: Boundary, launch: Launch, kernel: KernelLaunch) -> Value | None:
    """The first axis of the grid that sizes make 0; None when no axis is known to become 0."""
    grid = kernel.grid
    for axis in grid.items if isinstance(grid, Items) else []:
        for path, one in alternatives(axis):
            if _keeps_positive(one) or excludes_zero((*kernel.path, *path), one):
                continue
            if any(_is_size(part) for part in subterms(one)) or _passes_size(unit, boundary, launch, one):
                return axis
    return None


def _passes_size(unit: KernelUnit, boundary: Boundary, launch: Launch, value: Value) -> bool:
    """The wrapper passes a size that may be 0 for one of the parameters that a value of the export is made of."""
    slots = [slot for name in inputs_in(value) if (slot := boundary.slot_named(name)) is not None and not slot.is_descriptor]
    passed = [launch.arguments.positional[slot.index] for slot in slots]
    return any(any(_is_size(part) for part in subterms(one)) and not positive(unit, launch, one) for one in passed)


def _keeps_positive(value: Value) -> bool:
    return any(
        isinstance(part, Term) and part.op in ("method", "call") and part.name.rsplit("::", 1)[-1] in ("max", "clamp")
        and any(isinstance(arg, Known) and isinstance(arg.value, int) and arg.value > 0 for arg in part.args)
        for part in subterms(value)
    )  # fmt: skip


def _tensors(boundary: Boundary, launch: Launch, axis: Value, run: Run) -> tuple[str, ...]:
    """Inputs of the op that the axis' size comes from."""
    params = {param.name for param in run.function.params}
    found: dict[str, None] = {}
    for name in sorted(inputs_in(axis)):
        slot = boundary.slot_named(name)
        if slot is None:
            continue
        for _, one in alternatives(launch.arguments.positional[slot.index]):
            for part in subterms(one):
                base = part.args[0] if _is_size(part) and isinstance(part, Term) and part.args else None
                for inner in subterms(base) if base is not None else ():
                    if isinstance(inner, Term) and inner.op == "input" and inner.name in params:
                        found[inner.name] = None
    return tuple(found)


def refuse_empty(found: EmptyLaunch, unit: KernelUnit) -> Fix | None:
    """Raise for a tensor without elements before the op launches (what it should return instead is not known)."""
    from cutile_lint.frontends.python import rewrite

    stop = found.launch.event.stack[0]
    module = unit.program.module(stop.source.path)
    if module is None or stop.statement is None or not found.tensors or stop.frame.function is not found.run.function:
        return None
    test = " or ".join(f"{name}.numel() == 0" for name in found.tensors)
    names = " and ".join(f"`{name}`" for name in found.tensors)
    told = " or ".join(found.tensors)
    op = found.run.registered.name if found.run.registered is not None else found.run.function.name
    lines = [f"if {test}:", f'    raise ValueError("{op}: {told} has no elements")']
    added = rewrite.insert_before(module, stop.statement, lines)
    return Fix(f"refuse empty {names}", added.edits, Applicability.UNSAFE) if added is not None else None
