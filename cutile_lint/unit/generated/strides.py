"""Strides of the views in generated IR: do they fit the rank, and is the innermost dimension known to be contiguous."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place
from cutile_lint.unit.generated.ir import GeneratedEntry, pointer_number
from cutile_lint.unit.launches import KernelLaunch, described_tensor
from cutile_lint.unit.machine.values import Term, Value, subterms

if TYPE_CHECKING:
    from cutile_lint.frontends.ir import IrEntry, PartitionView, TensorView
    from cutile_lint.unit.boundary.slots import Boundary
    from cutile_lint.unit.model import KernelUnit


@dataclass(slots=True)
class StrideFault:
    """``shown`` names the tensor; ``what`` says what is wrong with its view; ``related`` places with their messages."""

    view: TensorView
    shown: str
    what: str
    help: str
    related: list[tuple[Place, str]] = field(default_factory=list)


def stride_faults(unit: KernelUnit, one: GeneratedEntry) -> Iterator[StrideFault]:
    for view in one.ir.tensor_views:
        rank = view.type.rank if view.type is not None else 0
        if not rank:
            continue
        shown = f"`{_shown(one, view)}`"
        strides = view.type_strides
        counts = {len(found) for found in (strides, view.strides or None, view.shape or None) if found is not None}
        written = {len(found) for found in (strides, view.strides or None) if found is not None}
        if written and written != {rank}:
            count = next(iter(written - {rank}))
            yield StrideFault(
                view, shown, f"has {count} stride{'s' * (count != 1)} for {rank} dimension{'s' * (rank != 1)}",
                "give `.strides()` of the compilation one entry for each dimension, the trailing 1 included",
            )  # fmt: skip
        elif strides is not None and counts == {rank} and strides[-1] != 1 and 1 not in strides:
            yield from _open_ending(unit, one, view, shown)


def _open_ending(unit: KernelUnit, one: GeneratedEntry, view: TensorView, shown: str) -> Iterator[StrideFault]:
    evidence = _contiguous_evidence(unit, one, view)
    if evidence is not None:
        strides = ", ".join("?" if stride is None else str(stride) for stride in view.type_strides or ())
        yield StrideFault(
            view, shown, f"has strides [{strides}], which do not end in 1, though its innermost dimension is contiguous",
            "end the strides that the kernel is compiled with in 1, so that the compiler knows the rows are contiguous", evidence,
        )  # fmt: skip


def _shown(one: GeneratedEntry, view: TensorView) -> str:
    number = pointer_number(one.ir, view)
    buffers = buffer_params(one)
    if number is not None and number < len(buffers):
        return buffers[number]
    return view.op.results[0] if view.op.results else one.ir.name


def buffer_params(one: GeneratedEntry) -> list[str]:
    """The kernel's buffers in the order of the pointers in IR."""
    params = one.entry.function.params if one.entry is not None else []
    return [param.name for param in params if "Tensor" in param.annotation or param.annotation.strip().startswith("*")]


def _contiguous_evidence(unit: KernelUnit, one: GeneratedEntry, view: TensorView) -> list[tuple[Place, str]] | None:
    """Places that show that the tensor is contiguous; None when nothing shows it (a reference with open strides shows the contrary)."""
    number = pointer_number(one.ir, view)
    places = []
    for ir, source in one.references:
        same = _same_views(ir, view, number)
        if any(other.type_strides is not None and other.type_strides[-1:] != (1,) for other in same):
            return None
        places += [(Place(source, other.span), "the reference's view ends in 1 here") for other in same[:1]]
    if places:
        return places
    if one.entry is None or number is None or number >= len(buffer_params(one)):
        return None
    return _given_contiguous(unit, one, buffer_params(one)[number])


def _same_views(ir: IrEntry, view: TensorView, number: int | None) -> list[TensorView]:
    """The reference's views of the tensor: of the same pointer, else all of the rank (kernels may order their tensors differently)."""
    ranked = [
        other
        for other in ir.tensor_views
        if other.type is not None and view.type is not None and other.type.rank == view.type.rank
    ]
    same = [other for other in ranked if number is not None and pointer_number(ir, other) == number]
    endings = {other.type_strides[-1:] == (1,) for other in ranked if other.type_strides is not None}
    return (same or ranked) if len(endings) != 1 else [*same, *ranked]


def _given_contiguous(unit: KernelUnit, one: GeneratedEntry, buffer: str) -> list[tuple[Place, str]] | None:
    """Every launch gives a tensor that is known to be contiguous."""
    found: list[tuple[Place, str]] = []
    for boundary in unit.boundary:
        for kernel in boundary.kernel_launches:
            if kernel.entry is not one.entry or one.entry is None:
                continue
            slot = _slot(boundary, kernel, [param.name for param in one.entry.function.params].index(buffer))
            for launch in boundary.launches:
                tensor = (
                    described_tensor(launch.arguments.positional[slot], unit.program)
                    if slot is not None and boundary.is_aligned(launch)
                    else None
                )
                run = next((run for run in unit.runs if launch in run.launches), None)
                if tensor is None or run is None or run.tensors.contiguous(tensor) is not True:
                    return None
                found.append((launch.argument_place(slot or 0), "a contiguous tensor is passed here"))
    return found[:1] or None


def _slot(boundary: Boundary, kernel: KernelLaunch, at: int) -> int | None:
    """The slot whose descriptor becomes an argument of the entry."""
    if at >= len(kernel.arguments):
        return None
    names = {term.name for term in _terms(kernel.arguments[at]) if term.op == "input"}
    slots = [slot.index for slot in boundary.slots if slot.is_descriptor and slot.name in names]
    return slots[0] if len(slots) == 1 else None


def _terms(value: Value) -> Iterator[Term]:
    return (term for term in subterms(value) if isinstance(term, Term))


def swapped(view: TensorView) -> bool:
    """The strides are those of a transposed tensor: 1 stands before the end, or known strides grow towards it."""
    strides = view.type_strides
    if strides is None or len(strides) < 2 or strides[-1] == 1:
        return False
    return 1 in strides[:-1]


def transposed_again(view: PartitionView) -> bool:
    """The view's tensor has swapped strides, and the view permutes its dimensions as well."""
    return view.permutes and view.tensor is not None and swapped(view.tensor)
