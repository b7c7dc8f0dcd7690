"""Who transposes a tensor on its way from the op's argument to the tile: the wrapper's view, the export's shape and strides, the kernel.

An **owner** exchanges axes of one tensor. The three layers are brought together launch by launch: conditions of the kernel (const
generics) and of the export (slots) are expressed in what the wrapper passes, so that two owners count only when they come together.
"""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slots import Boundary, Slot
from cutile_lint.unit.flows import axes as ax
from cutile_lint.unit.flows.conditions import substitute, substituted, together
from cutile_lint.unit.launches import KernelLaunch, Launch, described_tensor
from cutile_lint.unit.linking.crate import Entry
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.runs import EntryRun

Axes = frozenset[frozenset[int]]

_RANK = regex(r"Tensor\s*<[^,<>]*,\s*\{\s*\[([^\]]*)\]")
_BORROWS = ("from_raw_parts", "borrow_raw_parts", "from_foreign", "borrow_with_owner")
_LOADS = frozenset(["load_view_tko", "load_pipelined", "load_tile", "load"])
#: Operations on tiles that leave the axes as they are.
_SAME_AXES = frozenset(["convert_tile", "exti", "trunci", "bitcast", "broadcast", "assume_div_by", "assume_bounds_lower"])


@dataclass(frozen=True, slots=True, eq=False)
class Owner:
    """One exchange of axes. ``condition`` is in the symbols of its own layer; ``layer``: "wrapper", "export" or "kernel"."""

    layer: str
    axes: Axes
    condition: Condition
    place: Place
    event: Event | None = None
    #: the call that exchanges, when ``place`` is the call of a helper that reaches it
    inner: Place | None = None


@dataclass(frozen=True, slots=True)
class TransposedTwice:
    """Two or more owners of the same axes of the tensor in one slot, in the order of the data's way."""

    slot: Slot
    axes: frozenset[int]
    owners: tuple[Owner, ...]


# ── the wrapper ────────────────────────────────────────────────────────────


def wrapper_owners(launch: Launch, slot: int, program: Program, rank: int | None) -> list[Owner]:
    """The views that reach a launch's slot with their axes in another order than in the tensor they are views of.

    In ``x.mT.contiguous().mT`` the axes have come back to their places: only the memory is another.
    """
    tensor = described_tensor(launch.arguments.positional[slot], program)
    owners = []
    for view in ax.views(tensor) if tensor is not None else ():
        order = ax.order_of(view.steps, rank) if view.steps else None
        exchanged = ax.cycles(order) if order is not None else frozenset()
        for steps in ax.across_copies(view) if exchanged else ():
            whole = ax.order_of(steps, rank)
            exchanged &= ax.cycles(whole) if whole is not None else exchanged
        last = next((step for step in reversed(view.steps) if step.place is not None and step.kind != "unsqueeze"), None)
        if exchanged and last is not None and last.place is not None:
            owners.append(Owner("wrapper", exchanged, view.condition, last.place))
    return owners


# ── the export ─────────────────────────────────────────────────────────────


def descriptor_of(value: Value, names: frozenset[str]) -> str | None:
    """The parameter whose descriptor's memory an entry argument has; None when there is none, or not only one."""
    found = set()
    for one in subterms(value):
        if isinstance(one, Term) and one.op == "attr" and one.name == "ptr" and (name := _parameter(one.args[0])) in names:
            found.add(name)
    return found.pop() if len(found) == 1 else None


def _parameter(value: Value) -> str:
    """The parameter behind dereferences and pattern payloads."""
    while isinstance(value, Term) and value.op in ("payload", "unary", "method") and value.args:
        value = value.args[0]
    return value.name if isinstance(value, Term) and value.op == "input" else ""


def export_owners(kernel: KernelLaunch, argument: Value, events: list[Event]) -> list[Owner]:
    """The ways an entry argument is borrowed with shape and strides in another order than the descriptor's."""
    owners = []
    for path, tensor in alternatives(argument):
        for call in subterms(tensor):
            if not isinstance(call, Term) or call.op != "call" or not call.name.endswith(_BORROWS):
                continue
            strides = [order for arg in call.args if (order := _host_order(arg, "strides")) is not None]
            shapes = [order for arg in call.args if (order := _host_order(arg, "shape")) is not None]
            for more, order, inner in (strides or [[]])[0] + (shapes or [[]])[0]:
                exchanged = ax.cycles(order)
                if exchanged:
                    event = next(
                        (one for one in events if one.kind == "call" and one.name == call.name and one.value is call), None
                    )
                    event = event or next(
                        (one for one in events if one.value is not None and one.value.key() == call.key()), None
                    )
                    place = _in_export(event, kernel) or call.place
                    if place is not None:
                        owners.append(Owner("export", exchanged, path + more, place, event, inner))
                        break
    return owners


def _in_export(event: Event | None, kernel: KernelLaunch) -> Place | None:
    """The innermost call in the export's own file that leads to an event in a helper function or macro."""
    if event is None:
        return None
    source = kernel.place.source
    if event.place.source is source:
        return event.place
    calls = [stop.frame.call for stop in event.stack[1:] if stop.frame.call is not None]
    inside = [call for call in (*event.expansions, *calls) if call.source is source]
    return inside[-1] if inside else event.place


def _host_order(value: Value, name: str) -> list[tuple[Condition, list[int], Place | None]] | None:
    """The orders in which a vector has a descriptor's ``shape`` or ``strides``; None for other values."""
    found: list[tuple[Condition, list[int], Place | None]] = []
    for path, one in alternatives(value):
        if not isinstance(one, Items):
            return None
        orders = [_element(item, name) for item in one.items]
        if not orders or any(order is None for order in orders):
            return None
        if one.open and len(orders) == 1 and orders[0] is not None and orders[0][0] is None:
            _, exchanged, inner = orders[0]
            found.append((path, exchanged, inner))
            continue
        listed = [
            order[1][order[0]] for order in orders if order is not None and order[0] is not None and order[0] < len(order[1])
        ]
        if one.open or len(listed) != len(orders) or sorted(listed) != list(range(len(listed))):
            return None
        found.append((path, listed, one.place))
    return found


def _element(value: Value, name: str) -> tuple[int | None, list[int], Place | None] | None:
    """(index, the order of the array it is taken from, place of its exchange) for an element of ``desc.<name>``; index None: any."""
    while isinstance(value, Term) and value.op in ("cast", "payload") and value.args:
        value = value.args[0]
    if not isinstance(value, Term) or not value.args:
        return None
    at: int | None = None
    base = value.args[0]
    if value.op == "index" and isinstance(value.args[1], Known) and isinstance(value.args[1].value, int):
        at = value.args[1].value
    elif (
        value.op == "method"
        and name == "shape"
        and value.name == "dim"
        and len(value.args) == 2
        and isinstance(value.args[1], Known)
    ):
        return int(value.args[1].value), list(range(8)), None  # type: ignore[call-overload]
    elif value.op not in ("element", "index"):
        return None
    order, inner = list(range(8)), None
    exchanges: list[Term] = []
    while isinstance(base, Term) and base.op in ("method", "element", "index", "payload"):
        if base.op == "method" and base.name in ("swap", "reverse"):
            exchanges.append(base)
        base = base.args[0]
    if not isinstance(base, Term) or base.op != "attr" or base.name != name:
        return None
    for term in reversed(exchanges):
        axes = [arg.value for arg in term.args[1:] if isinstance(arg, Known) and isinstance(arg.value, int)]
        if term.name != "swap" or len(axes) != 2 or max(axes) >= 8:
            return None
        order[axes[0]], order[axes[1]] = order[axes[1]], order[axes[0]]
        inner = term.place
    return at, order, inner


# ── the kernel ─────────────────────────────────────────────────────────────


def rank_in(entry: Entry | None, position: int) -> int | None:
    """The rank that an entry declares for its parameter."""
    if entry is None or position >= len(entry.function.params):
        return None
    match = _RANK.search(entry.function.params[position].annotation)
    return len([part for part in match.group(1).split(",") if part.strip()]) if match else None


def kernel_owners(run: EntryRun) -> dict[str, list[Owner]]:
    """The permutations of each tensor parameter: in its partition, or of a tile that was loaded from it."""
    ranks = {param.name: rank_in(run.entry, at) for at, param in enumerate(run.entry.function.params)}
    found: dict[str, list[Owner]] = {}
    for event in run.trace.events:
        if event.kind != "call" or event.name.rsplit("::", 1)[-1] not in ("permute", "partition_permuted", "make_partition_view"):
            continue
        permuted = _permuted(event.value)
        if permuted is None:
            continue
        operand, order = permuted
        for path, name, mapping in _origins(operand, ranks):
            if len(mapping) == len(order):
                exchanged = frozenset(frozenset(mapping[axis] for axis in cycle) for cycle in ax.cycles(order))
                if exchanged and all(axis >= 0 for cycle in exchanged for axis in cycle):
                    found.setdefault(name, []).append(Owner("kernel", exchanged, event.path + path, event.place, event))
    return found


def _permuted(value: Value | None) -> tuple[Value, tuple[int, ...]] | None:
    """(operand, order) of a permuting operation."""
    if not isinstance(value, Term) or not value.args:
        return None
    name = value.name.rsplit("::", 1)[-1]
    order: tuple[int, ...] | None = None
    if name == "permute" and len(value.args) > 1:
        order = ax.constant_order(value.args[1])
    elif name == "partition_permuted" and len(value.args) > 2:
        order = ax.constant_order(value.args[2])
    elif name == "make_partition_view":
        order = ax.constant_order(value.args[3]) if len(value.args) > 3 else None
    return (value.args[0], order) if order is not None else None


def _origins(value: Value, ranks: dict[str, int | None], depth: int = 0) -> list[tuple[Condition, str, list[int]]]:
    """(condition, parameter, which axis of the parameter each axis of the value is) for a tensor, view or tile."""
    if depth > 12:
        return []
    if isinstance(value, Choice):
        return [
            (path + more, name, axes) for path, one in alternatives(value) for more, name, axes in _origins(one, ranks, depth + 1)
        ]
    if not isinstance(value, Term):
        return []
    if value.op == "input":
        rank = ranks.get(value.name)
        return [((), value.name, list(range(rank)))] if rank else []
    if not value.args:
        return []
    name = value.name.rsplit("::", 1)[-1]
    inner = _origins(value.args[0], ranks, depth + 1) if name in _FOLLOWED else []
    if (permuted := _permuted(value)) is not None:
        return [
            (path, param, [axes[axis] for axis in permuted[1]]) for path, param, axes in inner if len(axes) == len(permuted[1])
        ]
    if name == "reshape":
        positions = _unit_reshape(_shape(value.args[0]), _shape(value))
        return (
            [(path, param, [axes[at] if at >= 0 else -1 for at in positions]) for path, param, axes in inner] if positions else []
        )
    return inner


_FOLLOWED = (
    frozenset(
        [
            "partition",
            "partition_full",
            "partition_full_mut",
            "partition_mut",
            "partition_permuted",
            "make_partition_view",
            "permute",
        ]
    )
    | frozenset(["reshape"])
    | _LOADS
    | _SAME_AXES
)


def _shape(value: Value) -> list[Value] | None:
    """The shape of a view or tile, as the kernel writes it."""
    for _ in range(12):
        if not isinstance(value, Term) or not value.args:
            return None
        name = value.name.rsplit("::", 1)[-1]
        if name in ("partition", "partition_full", "partition_full_mut", "partition_permuted", "make_partition_view", "reshape"):
            shape = value.args[1] if len(value.args) > 1 else None
            return shape.items if isinstance(shape, Items) and not shape.open else None
        if name == "permute":
            order, inner = ax.constant_order(value.args[1]) if len(value.args) > 1 else None, _shape(value.args[0])
            return [inner[axis] for axis in order] if order and inner and len(order) == len(inner) else None
        if name not in _LOADS and name not in _SAME_AXES:
            return None
        value = value.args[0]
    return None


def _unit_reshape(before: list[Value] | None, after: list[Value] | None) -> list[int] | None:
    """For each axis after a reshape that only adds or drops axes of length 1, the axis before (-1: a new one)."""
    if before is None or after is None:
        return None
    left = [at for at, size in enumerate(before) if not _is_one(size)]
    kept = [at for at, size in enumerate(after) if not _is_one(size)]
    if [before[at].key() for at in left] != [after[at].key() for at in kept]:
        return None
    return [left[kept.index(at)] if at in kept else -1 for at in range(len(after))]


def _is_one(size: Value) -> bool:
    return isinstance(size, Known) and size.value == 1


# ── together ───────────────────────────────────────────────────────────────


def generics_of(kernel: KernelLaunch) -> list[Value] | None:
    """The generics given on the launch's path (some may be pushed on another variant's only); None when they are not known."""
    generics = kernel.generics
    if generics is None:
        return None if "generics" in kernel.chain else []
    if generics.open:
        return None
    pairs = zip(generics.items, generics.conditions, strict=True)
    return [item for item, condition in pairs if not condition or not contradictory(condition, kernel.path)]


def symbols_of(boundary: Boundary, launch: Launch | None, kernel: KernelLaunch) -> dict[object, Value]:
    """What the export's parameters and the entry's generics are worth, in the wrapper's symbols (without it: in the export's)."""
    return boundary.answers.once((symbols_of, id(launch), id(kernel)), lambda: _symbols(boundary, launch, kernel))


def path_of(boundary: Boundary, launch: Launch | None, kernel: KernelLaunch) -> Condition:
    """The export's path to a kernel's launch, in the wrapper's symbols."""
    question = (path_of, id(launch), id(kernel))
    return boundary.answers.once(question, lambda: substituted(kernel.path, symbols_of(boundary, launch, kernel)))


def _symbols(boundary: Boundary, launch: Launch | None, kernel: KernelLaunch) -> dict[object, Value]:
    known: dict[object, Value] = {}
    if launch is not None and boundary.is_aligned(launch):
        for slot, value in zip(boundary.slots, launch.arguments.positional, strict=True):
            if not slot.is_descriptor:
                known[Term("input", slot.name).key()] = value
    generics = generics_of(kernel)
    if generics is not None and kernel.entry is not None and len(generics) == len(kernel.entry.generics):
        for generic, value in zip(kernel.entry.generics, generics, strict=True):
            known[Term("generic", generic.name).key()] = substitute(value, known)
    return known


def transposed_twice(boundaries: list[Boundary], entry_runs, program: Program) -> Iterator[TransposedTwice]:
    """Tensors that two layers transpose on one launch. ``entry_runs``: the run of an entry."""
    for boundary in boundaries:
        names = frozenset(slot.name for slot in boundary.slots if slot.is_descriptor)
        for kernel in boundary.kernel_launches:
            in_kernel = kernel_owners(entry_runs(kernel.entry)) if kernel.entry is not None else {}
            for position, argument in enumerate(kernel.arguments):
                slot = boundary.slot_named(descriptor_of(argument, names) or "")
                if slot is None:
                    continue
                rank = rank_in(kernel.entry, position)
                params: list[syntax.Param] = kernel.entry.function.params if kernel.entry is not None else []
                later = in_kernel.get(params[position].name, []) if position < len(params) else []
                owners = [*export_owners(kernel, argument, boundary.run.trace.events), *later]
                for launch in boundary.launches or [None]:  # type: ignore[list-item]
                    yield from _of_launch(boundary, launch, kernel, slot, owners, rank, program)


def _of_launch(
    boundary: Boundary,
    launch: Launch | None,
    kernel: KernelLaunch,
    slot: Slot,
    owners: list[Owner],
    rank: int | None,
    program: Program,
) -> Iterator[TransposedTwice]:
    aligned = launch is not None and boundary.is_aligned(launch)
    first = wrapper_owners(launch, slot.index, program, rank) if aligned and launch is not None else []
    candidates = [*first, *owners]
    if len(candidates) < 2:
        return
    symbols = symbols_of(boundary, launch, kernel)
    background = (*(launch.path if launch is not None else ()), *path_of(boundary, launch, kernel))
    conditions = [owner.condition if owner.layer == "wrapper" else substituted(_relevant(owner), symbols) for owner in candidates]
    for at, owner in enumerate(candidates):
        for pair in sorted(owner.axes, key=sorted):
            same = [
                other
                for other in range(at + 1, len(candidates))
                if pair in candidates[other].axes
                and _in_sequence(owner, candidates[other])
                and together(conditions[at], conditions[other], background)
            ]
            if same:
                yield TransposedTwice(slot, pair, (owner, *(candidates[other] for other in same)))
                return


def _relevant(owner: Owner) -> Condition:
    """The condition without what concerns loops of the kernel."""
    return tuple(literal for literal in owner.condition if not (isinstance(literal.test, Term) and literal.test.op == "unknown"))


def _in_sequence(first: Owner, second: Owner) -> bool:
    """The second owner works on what the first gave (of different layers always)."""
    if first.layer != second.layer:
        return True
    if first.event is None or second.event is None or first.event.value is None or second.event.value is None:
        return False
    made = first.event.value.key()
    return first.event is not second.event and any(
        one.key() == made for one in subterms(second.event.value) if isinstance(one, Term)
    )
