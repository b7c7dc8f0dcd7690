"""Who owns each transpose."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.checklist.context import Context
from cutile_lint.checklist.verdict import Absent, Evidence, Open, Shown
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.machine.values import Term, subterms
from cutile_lint.unit.transposes.owners import Owner, descriptor_of, export_owners, kernel_owners, rank_in, wrapper_owners

_FLAG = regex(r"(^|_)(trans|transpose|transposed)(_|$)|^trans[a-z]$")


def transposes(context: Context) -> Iterator[Evidence]:
    """The owners of axis exchanges by tensor."""
    gaps = [*context.wrapper_gaps, *context.export_gaps, *context.kernel_gaps]
    yield from gaps
    for boundary in context.unit.boundary:
        owners = _owners(context, boundary)
        tensors = [slot.name for slot in boundary.slots if slot.is_descriptor]
        for name in tensors:
            for owner in {one.place: one for one in owners.get(name, [])}.values():
                yield Shown(f"`{name}`: the {owner.layer} exchanges axes {_axes(owner)}", owner.place)
        free = [name for name in tensors if not owners.get(name)]
        if free:
            yield Shown(f"no layer exchanges axes of {', '.join(f'`{name}`' for name in free)}", boundary.export.place)


def _axes(owner: Owner) -> str:
    pairs = sorted(tuple(sorted(pair)) for pair in owner.axes)
    return ", ".join(" and ".join(str(axis) for axis in pair) for pair in pairs)


def _owners(context: Context, boundary: Boundary) -> dict[str, list[Owner]]:
    found: dict[str, list[Owner]] = {}
    names = frozenset(slot.name for slot in boundary.slots if slot.is_descriptor)
    for kernel in boundary.kernel_launches:
        inside = kernel_owners(context.unit.entry_run(kernel.entry)) if kernel.entry is not None else {}
        params = kernel.entry.function.params if kernel.entry is not None else []
        for position, argument in enumerate(kernel.arguments):
            slot = boundary.slot_named(descriptor_of(argument, names) or "")
            if slot is None:
                continue
            rank = rank_in(kernel.entry, position)
            own = found.setdefault(slot.name, [])
            for launch in boundary.launches:
                if boundary.is_aligned(launch):
                    own += wrapper_owners(launch, slot.index, context.unit.program, rank)
            own += export_owners(kernel, argument, boundary.run.trace.events)
            own += inside.get(params[position].name, []) if position < len(params) else []
    return found


def transpose_flags(context: Context) -> Iterator[Evidence]:
    """Where the op's transpose flags go: into a slot, or into the test of a refusal."""
    flags = 0
    for run in context.unit.runs:
        tested = [event for event in run.trace.events if event.kind in ("raise", "assert")]
        for param in run.function.params:
            if not _FLAG.search(param.name):
                continue
            flags += 1
            place = Place(run.source, param.span)
            reached = next(
                (
                    (boundary, slot)
                    for boundary in context.unit.boundary
                    for launch in boundary.launches
                    if boundary.is_aligned(launch)
                    for slot in boundary.slots
                    if not slot.is_descriptor and _reads(launch.arguments.positional[slot.index], param.name)
                ),
                None,
            )
            refused = next((event for event in tested if any(_reads(one.test, param.name) for one in event.path)), None)
            if reached is not None:
                yield Shown(f"`{param.name}` goes into the slot `{reached[1].name}`", place)
            elif refused is not None:
                yield Shown(f"`{param.name}` is refused", refused.place)
            else:
                yield Open(f"where `{param.name}` goes is not known", place)
    if not flags and context.unit.runs:
        yield Absent("the op has no transpose flag")


def _reads(value, name: str) -> bool:
    return any(isinstance(part, Term) and part.op == "input" and part.name == name for part in subterms(value))
