"""Permutations of axes: the view chains of Python tensors, and orders written as lists.

An **order** is a list: axis *i* of the result is axis ``order[i]`` of what lies in memory.
"""

from __future__ import annotations

from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Term, Value, alternatives

_SWAPS = frozenset(["transpose", "swapaxes", "swapdims", "transpose_", "swapaxes_", "swapdims_"])
_MOVES = frozenset(["movedim", "moveaxis"])
_TURNS = {"t": (0, 1), "t_": (0, 1), "T": (0, 1), "H": (0, 1), "mT": (-2, -1), "mH": (-2, -1), "adjoint": (-2, -1)}
#: Views that leave the axes as they are.
_SAME_AXES = frozenset(
    ["detach", "detach_", "requires_grad_", "data", "expand", "expand_as", "narrow", "alias", "real", "view_as", "__getitem__"]
)
#: Give memory of their own: what was before is no view any more.
COPIES = frozenset(
    "contiguous clone to float half bfloat16 double cuda type type_as int long short copy_ repeat cpu bool byte char".split()
)
_CALLS = frozenset(
    ["t", "transpose", "swapaxes", "swapdims", "permute", "movedim", "moveaxis", "as_strided", "adjoint", "unsqueeze", "detach"]
)
_EQUATIONS = frozenset(["torch.einsum", "torch.functional.einsum", "einops.rearrange"])
#: Copies of a tensor's content, axis by axis.
_SAME_CONTENT = COPIES - {"copy_", "repeat"}


@dataclass(frozen=True, slots=True)
class Step:
    """One view: ``kind`` "swap" (two axes), "order" (a whole order), "move" (all from, then all to), "unsqueeze" (an axis)."""

    kind: str
    axes: tuple[int, ...]
    place: Place | None
    name: str


@dataclass(slots=True)
class View:
    """A tensor as a chain of axis steps over ``base``; ``copied``: the copy that the chain stops at. Steps: oldest first."""

    condition: Condition
    base: Value
    steps: list[Step] = field(default_factory=list)
    copied: Term | None = None


def views(value: Value, path: Condition = (), depth: int = 0) -> list[View]:
    """The chains that a tensor may be, with their conditions; a chain begins at a copy, a new tensor or a parameter."""
    if depth > 40:
        return []
    if isinstance(value, Choice):
        return [view for more, one in alternatives(value) for view in views(one, path + more, depth + 1)]
    if isinstance(value, Term):
        step = _step(value)
        if step is not None:
            inner, made = step
            found = views(inner, path, depth + 1)
            for view in found:
                view.steps = [] if made is None else [*view.steps, *made]
            return found
        if value.op == "method" and value.name in COPIES:
            return [View(path, value, copied=value)]
    return [View(path, value)]


def across_copies(view: View, depth: int = 0) -> list[list[Step]]:
    """All steps from where the content comes from to the view, those before a copy among them: what they do to the axes, not to memory."""
    copy = view.copied
    if copy is None or copy.name not in _SAME_CONTENT or depth > 6:
        return [view.steps]
    return [[*steps, *view.steps] for inner in views(copy.args[0]) for steps in across_copies(inner, depth + 1)]


def _operands(value: Term) -> tuple[Value, list[Value], dict[str, Value]] | None:
    """Base, arguments and keywords of a method, or of a function of ``torch`` that is one too."""
    if value.op == "method":
        return value.args[0], list(value.args[1:]), value.keywords
    if value.op == "attr":
        return value.args[0], [], {}
    if value.op == "call" and value.name.startswith("torch.") and value.name.rsplit(".", 1)[1] in _CALLS:
        args = list(value.args)
        base = args.pop(0) if args else value.keywords.get("input")
        return (base, args, {name: one for name, one in value.keywords.items() if name != "input"}) if base is not None else None
    return None


def _step(value: Term) -> tuple[Value, list[Step] | None] | None:
    """(what it is a view of, its steps; None: axes are lost); None for what is no view."""
    if value.op == "index":
        return (value.args[0], []) if _slices_only(value.args[1]) else (value.args[0], None)
    if value.op == "call" and value.name in _EQUATIONS:
        return _by_equation(value)
    operands = _operands(value)
    if operands is None:
        return None
    base, args, keywords = operands
    name = value.name.rsplit(".", 1)[-1]
    if name in _SAME_AXES:
        return base, []
    if name in _TURNS and not args and (value.op != "attr" or name in ("T", "H", "mT", "mH")):
        return base, [Step("swap", _TURNS[name], value.place, name)]
    if value.op == "attr":
        return None
    if name in _SWAPS:
        axes = _ints([*args, *keywords.values()])
        return base, [Step("swap", axes, value.place, name)] if axes is not None and len(axes) == 2 else None
    if name == "permute":
        given = args or list(keywords.values())
        axes = _ints(given[0].items if len(given) == 1 and isinstance(given[0], Items) else given)
        return base, [Step("order", axes, value.place, name)] if axes is not None else None
    if name in _MOVES:
        ends = [list(one.items) if isinstance(one, Items) else [one] for one in (*args, *keywords.values())]
        axes = _ints([axis for end in ends for axis in end])
        fits = axes is not None and len(ends) == 2 and len(ends[0]) == len(ends[1])
        return base, [Step("move", axes, value.place, name)] if fits and axes is not None else None
    if name == "as_strided":
        return base, _restrided([*args, *keywords.values()], value.place)
    if name == "unsqueeze":
        axes = _ints([*args, *keywords.values()])
        return base, [Step("unsqueeze", axes, value.place, name)] if axes is not None and len(axes) == 1 else None
    if name in ("view", "reshape", "flatten", "squeeze", "unflatten", "select", "ravel", "reshape_as", "unfold", "diagonal"):
        return base, None
    return None


def _by_equation(value: Term) -> tuple[Value, list[Step] | None] | None:
    """``einsum("qnk->qkn", x)`` and ``rearrange(x, "q n k -> q k n")`` when they do no more than put the axes in another order."""
    equation = next((arg.value for arg in value.args if isinstance(arg, Known) and isinstance(arg.value, str)), None)
    tensors = [arg for arg in value.args if not isinstance(arg, Known)]
    if equation is None or len(tensors) != 1:
        return None
    before, arrow, after = equation.partition("->")
    split = str.split if value.name.startswith("einops.") else _letters
    old, new = split(before), split(after) if arrow else sorted(split(before))
    if sorted(old) != sorted(new) or len(set(old)) != len(old) or not all(name.isidentifier() or name == "..." for name in old):
        return None
    order = tuple(old.index(name) for name in new)
    if "..." not in old:
        return tensors[0], [Step("order", order, value.place, value.name)]
    moved = [at - len(order) for at, axis in enumerate(order) if at != axis]
    if old[0] != "..." or len(moved) not in (0, 2):
        return None
    return tensors[0], [Step("swap", tuple(moved), value.place, value.name)] if moved else []


def _letters(subscripts: str) -> list[str]:
    """The axes of one side of an equation of ``einsum``; "..." stands for all others."""
    text = subscripts.replace(" ", "")
    return [*(["..."] if text.startswith("...") else []), *text.removeprefix("...")]


def _slices_only(index: Value) -> bool:
    parts = index.items if isinstance(index, Items) and index.kind == "tuple" else [index]
    return all(
        (isinstance(part, Term) and part.op == "slice") or (isinstance(part, Known) and part.value is Ellipsis) for part in parts
    )


def _ints(values: list[Value]) -> tuple[int, ...] | None:
    found = [value.value for value in values if isinstance(value, Known) and isinstance(value.value, int)]
    return tuple(found) if len(found) == len(values) else None


def _restrided(args: list[Value], place: Place | None) -> list[Step] | None:
    """``as_strided(size, stride)``: an exchange when the strides are those of the axes in another order."""
    if len(args) < 2 or not isinstance(args[1], Items):
        return None
    strides = args[1].items
    axes = [axis for one in strides if (axis := stride_axis(one)) is not None]
    if len(axes) == len(strides) and sorted(axes) == list(range(len(axes))):
        return [Step("order", tuple(axes), place, "as_strided")]
    if len(strides) == 2 and isinstance(strides[0], Known) and strides[0].value == 1 and not isinstance(strides[1], Known):
        return [Step("swap", (0, 1), place, "as_strided")]
    return None


def stride_axis(value: Value) -> int | None:
    """The axis whose stride the value is, whatever the tensor may be."""
    found: set[int | None] = set()
    for _, one in alternatives(value):
        index = one.args[1] if isinstance(one, Term) and len(one.args) == 2 else None
        owner = one.args[0] if isinstance(one, Term) and one.op == "index" else one
        known = isinstance(owner, Term) and owner.op == "method" and owner.name == "stride"
        found.add(index.value if known and isinstance(index, Known) and isinstance(index.value, int) else None)
    return found.pop() if len(found) == 1 else None


# ── orders ─────────────────────────────────────────────────────────────────


def rank_of(steps: list[Step]) -> int | None:
    """The rank that the steps themselves show: the length of an order, ``.t()``, or the highest axis named."""
    ranks = [len(step.axes) for step in steps if step.kind == "order"]
    if ranks:
        return ranks[0]
    if any(step.name in ("t", "T", "t_", "H") for step in steps):
        return 2
    axes = [axis for step in steps for axis in step.axes]
    return max(axes) + 1 if axes and min(axes) >= 0 else None


def order_of(steps: list[Step], rank: int | None) -> list[int] | None:
    """The order that the steps make together, for a result of ``rank`` axes; None when it is not known."""
    rank = rank if rank is not None else rank_of(steps)
    if rank is None:
        axes = {axis for step in steps for axis in step.axes}
        if not axes or max(axes) >= 0 or any(step.kind != "swap" for step in steps):
            return None
        rank = -min(axes)
    start = rank - sum(step.kind == "unsqueeze" for step in steps)
    order = list(range(start))
    fresh = 1000
    for step in steps:
        size = len(order) + (step.kind == "unsqueeze")
        if any(not -size <= axis < size for axis in step.axes):
            return None
        axes = [axis % size for axis in step.axes]
        if step.kind == "swap":
            order[axes[0]], order[axes[1]] = order[axes[1]], order[axes[0]]
        elif step.kind == "move":
            order = _moved(order, axes[: len(axes) // 2], axes[len(axes) // 2 :])
        elif step.kind == "unsqueeze":
            order.insert(axes[0], fresh)
            fresh += 1
        elif sorted(axes) == list(range(size)):
            order = [order[axis] for axis in axes]
        else:
            return None
    if fresh == 1000:
        return order
    # positions instead of names: new axes stay where they are
    old = [at for at, axis in enumerate(order) if axis < 1000]
    kept = [axis for axis in order if axis < 1000]
    return [at if axis >= 1000 else old[sorted(kept).index(axis)] for at, axis in enumerate(order)]


def _moved(order: list[int], sources: list[int], targets: list[int]) -> list[int]:
    """``movedim``: the axes ``sources`` come to stand at ``targets``, the others keep their order."""
    rest = [axis for at, axis in enumerate(order) if at not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        rest.insert(target, order[source])
    return rest


def cycles(order: list[int] | tuple[int, ...]) -> frozenset[frozenset[int]]:
    """The sets of axes that an order exchanges among themselves; empty for the identity."""
    found: set[frozenset[int]] = set()
    left = set(range(len(order)))
    while left:
        start = at = left.pop()
        cycle = {start}
        while (at := order[at]) != start and at in left:
            left.discard(at)
            cycle.add(at)
        if len(cycle) > 1:
            found.add(frozenset(cycle))
    return frozenset(found)


def constant_order(value: Value) -> tuple[int, ...] | None:
    """An order written as a list of constants (``const_array![0, 2, 1]``, also inside a call); None for others."""
    if isinstance(value, Items):
        axes = _ints(value.items)
        return axes if axes is not None and sorted(axes) == list(range(len(axes))) else None
    if isinstance(value, Term):
        for arg in value.args:
            if (found := constant_order(arg)) is not None:
                return found
    return None
