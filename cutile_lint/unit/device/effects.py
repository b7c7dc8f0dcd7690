"""What a launch does to the buffers it is given: read, written, accumulated into, stored as a whole.

Answers are True, False or None (not known); they hold for every kernel variant that the launch may choose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.records import dataclass, field, replace
from cutile_lint.sources import Place
from cutile_lint.unit.device.buffers import Access, Share, accesses, is_buffer, roots
from cutile_lint.unit.launches import KernelLaunch, Launch, described_tensor
from cutile_lint.unit.machine.logic import joined, negated
from cutile_lint.unit.machine.values import Choice, Condition, Known, Literal, Term, Value, alternatives, subterms
from cutile_lint.unit.timed import torch_api as api

#: Views of all elements of a tensor.
_REARRANGED = frozenset(
    "view reshape flatten ravel detach transpose permute t unsqueeze squeeze swapaxes swapdims movedim view_as reshape_as unflatten".split()
)

if TYPE_CHECKING:
    from cutile_lint.unit.linking.crate import Export
    from cutile_lint.unit.model import KernelUnit
    from cutile_lint.unit.timed.tensors import Tensors


@dataclass(frozen=True, slots=True)
class VariantUse:
    """What one kernel variant does to a buffer. ``variant`` is None where no launch of a kernel could be read."""

    variant: KernelLaunch | None
    reads: bool | None = None
    writes: bool | None = None
    accumulates: bool | None = None
    stores_all: bool | None = None
    #: why an answer is not known
    reason: str = ""
    loads: tuple[Place, ...] = ()
    stores: tuple[Place, ...] = ()
    atomics: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class BufferUse:
    """What a launch does to a buffer over all variants: True if in one, ``stores_all`` if in every one; else None if one is open."""

    variants: tuple[VariantUse, ...]
    reads: bool | None = field(init=False)
    writes: bool | None = field(init=False)
    accumulates: bool | None = field(init=False)
    stores_all: bool | None = field(init=False)

    def __post_init__(self) -> None:
        for name in ("reads", "writes", "accumulates"):
            object.__setattr__(self, name, _any([getattr(use, name) for use in self.variants]))
        object.__setattr__(self, "stores_all", _every([use.stores_all for use in self.variants]))

    def without_whole_stores(self, reason: str) -> BufferUse:
        """The same use with ``stores_all`` open."""
        return BufferUse(tuple(replace(one, stores_all=None, reason=reason) for one in self.variants))

    @property
    def loads(self) -> list[Place]:
        return list(dict.fromkeys(place for use in self.variants for place in use.loads))

    @property
    def stores(self) -> list[Place]:
        return list(dict.fromkeys(place for use in self.variants for place in use.stores))

    @property
    def atomics(self) -> list[Place]:
        return list(dict.fromkeys(place for use in self.variants for place in use.atomics))

    @property
    def reason(self) -> str:
        return next((use.reason for use in self.variants if use.reason), "")


def _any(answers: list[bool | None]) -> bool | None:
    if True in answers:
        return True
    return False if answers and None not in answers else None


def _every(answers: list[bool | None]) -> bool | None:
    if False in answers:
        return False
    return True if answers and None not in answers else None


def unknown_use(reason: str) -> BufferUse:
    return BufferUse((VariantUse(None, reason=reason),))


class Effects:
    """The effects of a unit's launches."""

    def __init__(self, unit: KernelUnit) -> None:
        self.unit = unit
        self._uses: dict[tuple[int, int], BufferUse] = {}
        self._variants: dict[int, list[KernelLaunch] | str] = {}

    # ── by slot ──

    def buffer_use(self, launch: Launch, slot: int) -> BufferUse:
        """What a launch does to the buffer in a slot (a descriptor or a bare pointer)."""
        key = (id(launch.event), slot)
        if key not in self._uses:
            self._uses[key] = self._use(launch, slot)
        return self._uses[key]

    def _use(self, launch: Launch, slot: int) -> BufferUse:
        export = self.unit.exports.get(launch.symbol)
        if export is None:
            return unknown_use(f"no export of `{launch.symbol}` was found")
        if slot >= len(export.function.params):
            return unknown_use(f"`{launch.symbol}` has no slot {slot}")
        variants = self.launched_variants(launch)
        if isinstance(variants, str):
            return unknown_use(variants)
        name = export.function.params[slot].name
        use = BufferUse(tuple(self._variant_use(launch, export, name, variant) for variant in variants))
        if use.stores_all and self._may_skip(launch, export):
            return use.without_whole_stores(f"`{launch.symbol}` may return without a launch")
        return use

    def _may_skip(self, launch: Launch, export: Export) -> bool:
        """The export may say that all went well without having launched anything (other than for an empty tensor)."""
        run = self.unit.export_run(export)
        given = dict(zip((param.name for param in export.function.params), launch.arguments.positional, strict=True))
        for path, value in run.trace.returned:
            for more, one in alternatives(value):
                if not isinstance(one, Known) or one.value != 0:
                    continue
                literals = (*path, *more)
                keys = {literal.key() for literal in literals}
                launched = any(all(literal.key() in keys for literal in variant.path) for variant in run.launches)
                if not launched and _may_hold(literals, given) and not any(_is_empty(literal) for literal in literals):
                    return True
        return False

    def launched_variants(self, launch: Launch) -> list[KernelLaunch] | str:
        """The kernel launches of the export that the arguments allow; a text that says why they are not known."""
        if id(launch.event) not in self._variants:
            self._variants[id(launch.event)] = self._choose_variants(launch)
        return self._variants[id(launch.event)]

    def _choose_variants(self, launch: Launch) -> list[KernelLaunch] | str:
        export = self.unit.exports.get(launch.symbol)
        if export is None:
            return f"no export of `{launch.symbol}` was found"
        run = self.unit.export_run(export)
        if run.trace.gaps:
            return f"`{launch.symbol}` could not be followed: {run.trace.gaps[0][0]}"
        if not launch.arguments.exact or len(launch.arguments.positional) != len(export.function.params):
            return f"the arguments of `{launch.symbol}` are not known one by one"
        given = dict(zip((param.name for param in export.function.params), launch.arguments.positional, strict=True))
        variants = [one for one in run.launches if _possible(one, given)]
        return variants or f"no kernel launch was found in `{launch.symbol}`"

    def entry_accesses(self, variant: KernelLaunch) -> dict[str, list[Access]] | None:
        """Uses of the entry's buffers by parameter; None when the entry could not be followed."""
        if variant.entry is None:
            return None
        run = self.unit.entry_run(variant.entry)
        if run.trace.gaps:
            return None
        return self.unit.crate.once((accesses, variant.entry.name), lambda: accesses(run))

    def _variant_use(self, launch: Launch, export: Export, name: str, variant: KernelLaunch) -> VariantUse:
        found = self.entry_accesses(variant)
        if found is None or variant.entry is None:
            return VariantUse(variant, reason=f"the kernel `{variant.entry_name}` could not be followed")
        params = variant.entry.function.params
        if len(params) != len(variant.arguments):
            return VariantUse(
                variant, reason=f"`{variant.entry_name}` is called with another number of arguments than it declares"
            )
        bound: dict[str, Share] = {}
        for param, argument in zip(params, variant.arguments, strict=True):
            sources = descriptors(argument, export)
            if is_buffer(param) and not sources:
                return VariantUse(variant, reason=f"what `{variant.entry_name}` gets for `{param.name}` is not known")
            if name in sources:
                bound[param.name] = sources[name]
        uses = [access for param in bound for access in found.get(param, [])]
        share = min([*bound.values(), *(access.share for access in uses)], default=Share.WHOLE)
        if any(param not in found for param in bound):
            return VariantUse(variant, reason=f"`{variant.entry_name}` takes the buffer as a type that is not known")
        return self._judge(launch, variant, bound, uses, share)

    def _judge(
        self, launch: Launch, variant: KernelLaunch, bound: dict[str, Share], uses: list[Access], share: Share
    ) -> VariantUse:
        loads, stores, atomics, lost = (
            [use for use in uses if use.kind == kind] for kind in ("load", "store", "atomic", "unknown")
        )
        places = {
            "loads": tuple(use.place for use in loads),
            "stores": tuple(use.place for use in stores),
            "atomics": tuple(use.place for use in atomics),
        }
        if share is Share.PERHAPS and uses:
            return VariantUse(variant, reason="which buffer an address means is not known", **places)
        default: bool | None = None if lost else False
        reason = f"`{lost[0].event.name}` gets the buffer, and what it does is not known" if lost else ""
        stored: bool | None = default if not stores else None
        if stores and share is Share.WHOLE:
            from cutile_lint.unit.device.coverage import Coverage

            stored, reason = Coverage(self, launch, variant).stores_all(list(bound), stores)
        accumulates: bool | None = default
        if atomics:
            accumulates = True
        elif loads and stores:
            # a buffer that each run stores before it loads carries nothing over
            accumulates = True if loads[0].event.order < stores[0].event.order else None
        return VariantUse(
            variant,
            reads=True if loads or atomics else default,
            writes=True if stores or atomics else default,
            accumulates=accumulates,
            stores_all=stored,
            reason=reason,
            **places,
        )

    # ── by tensor ──

    def slots_of(self, launch: Launch, tensor: Value) -> list[int]:
        """The slots whose buffer has (perhaps) memory in common with a tensor."""
        run = next((run for run in self.unit.runs if launch in run.launches), None)
        if run is None:
            return []
        found = []
        for slot, value in enumerate(launch.arguments.positional):
            given = given_tensor(value, run.program)
            if given is not None and run.tensors.shares_memory(given, tensor):
                found.append(slot)
        return found

    def tensor_use(self, launch: Launch, tensor: Value) -> BufferUse | None:
        """What a launch does to a tensor, over all slots that it is given in; None when it is given in none."""
        uses = [self._use_of(launch, slot, tensor) for slot in self.slots_of(launch, tensor)]
        if not uses:
            return None
        if len(uses) == 1:
            return uses[0]
        pairs = [use.variants for use in uses]
        if len({len(variants) for variants in pairs}) != 1:
            return unknown_use("the tensor is given in several slots")
        return BufferUse(tuple(_joined(same) for same in zip(*pairs, strict=True)))

    def _use_of(self, launch: Launch, slot: int, tensor: Value) -> BufferUse:
        """The use of a slot as one of a tensor: a slot that gets a slice says nothing about the whole."""
        use = self.buffer_use(launch, slot)
        given = given_tensor(launch.arguments.positional[slot], self.unit.program)
        run = next(run for run in self.unit.runs if launch in run.launches)
        if use.stores_all is not True or (given is not None and _is_all_of(given, tensor, run.tensors)):
            return use
        return BufferUse(
            tuple(replace(one, stores_all=None, reason="the launch gets a part of the tensor") for one in use.variants)
        )

    def written_slots(self, launch: Launch) -> list[int] | None:
        """Descriptor slots that the launch writes; None when that is not known for one of them."""
        return self._slots(launch, "writes")

    def read_slots(self, launch: Launch) -> list[int] | None:
        return self._slots(launch, "reads")

    def _slots(self, launch: Launch, question: str) -> list[int] | None:
        run = next((run for run in self.unit.runs if launch in run.launches), None)
        if run is None:
            return None
        found = []
        for slot, value in enumerate(launch.arguments.positional):
            if given_tensor(value, run.program) is None:
                continue
            answer = getattr(self.buffer_use(launch, slot), question)
            if answer is None:
                return None
            if answer:
                found.append(slot)
        return found

    def tensors(self, launch: Launch, slots: list[int] | None) -> list[Value] | None:
        """The tensors in slots."""
        run = next((run for run in self.unit.runs if launch in run.launches), None)
        if run is None or slots is None:
            return None
        found = [given_tensor(launch.arguments.positional[slot], run.program) for slot in slots]
        return [tensor for tensor in found if tensor is not None]


def _joined(uses: tuple[VariantUse, ...]) -> VariantUse:
    """One variant's uses of a tensor that is given in several slots."""
    accumulates = _any([use.accumulates for use in uses])
    if _any([use.reads for use in uses]) and _any([use.writes for use in uses]):
        accumulates = accumulates or None
    return VariantUse(
        uses[0].variant,
        _any([use.reads for use in uses]),
        _any([use.writes for use in uses]),
        accumulates,
        _any([use.stores_all for use in uses]),
        next((use.reason for use in uses if use.reason), ""),
        tuple(place for use in uses for place in use.loads),
        tuple(place for use in uses for place in use.stores),
        tuple(place for use in uses for place in use.atomics),
    )


def _is_all_of(given: Value, tensor: Value, tensors: Tensors) -> bool:
    """The same elements: the tensor itself, or a view that only arranges them anew, wherever it is the tensor at all."""
    wanted = {one.key() for _, one in alternatives(tensor)}
    whole = False
    for _, one in alternatives(given):
        if _arranged_from(one, wanted):
            whole = True
        elif tensors.shares_memory(one, tensor):
            return False
    return whole


def _arranged_from(value: Value, wanted: set[object]) -> bool:
    while value.key() not in wanted:
        if isinstance(value, Choice):
            return all(_arranged_from(one, wanted) for _, one in value.alternatives)
        if not isinstance(value, Term) or not value.args:
            return False
        if not (
            (value.op == "method" and value.name in _REARRANGED) or (value.op == "attr" and value.name in api.VIEW_ATTRIBUTES)
        ):
            return False
        value = value.args[0]
    return True


def given_tensor(value: Value, program) -> Value | None:
    """The tensor that a slot's argument gives: by descriptor, or by its address."""
    found = described_tensor(value, program)
    if found is not None:
        return found
    kept = []
    for path, one in alternatives(value):
        while isinstance(one, Term) and one.op == "call" and one.name == "int" and len(one.args) == 1:
            one = one.args[0]
        if isinstance(one, Term) and one.op == "method" and one.name == "data_ptr":
            kept.append((path, one.args[0]))
    if not kept:
        return None
    return kept[0][1] if len(kept) == 1 else Choice(kept, value.place)


def descriptors(argument: Value, export: Export) -> dict[str, Share]:
    """The export's descriptors and pointers whose memory an entry's argument means."""
    names = {param.name: param.annotation for param in export.function.params}
    found = {name: share for name, share in roots(argument).items() if _is_address(names.get(name, ""))}
    if found:
        return found
    inside = [term.name for term in subterms(argument) if isinstance(term, Term) and term.op == "attr" and term.name == "ptr"]
    return dict.fromkeys([name for name in inside if name in names], Share.PERHAPS)


def _is_address(annotation: str) -> bool:
    return "*" in annotation or annotation.strip() in ("u64", "usize", "CUdeviceptr")


def _possible(variant: KernelLaunch, given: dict[str, Value]) -> bool:
    """Whether the launch's constant arguments allow the variant's path."""
    return _may_hold(variant.path, given)


def _may_hold(path: Condition, given: dict[str, Value]) -> bool:
    return all(_holds(literal.test, given) in (None, literal.holds) for literal in path)


def _is_empty(literal: Literal) -> bool:
    """A tensor's size is tested to be 0."""
    test = literal.test
    if not isinstance(test, Term) or test.op not in ("compare", "or") or not literal.holds:
        return False
    if test.op == "or":
        return all(_is_empty(Literal(arg, True)) for arg in test.args)
    sized = any(
        isinstance(term, Term) and term.name in ("shape", "dim", "numel", "nelem", "product") for term in subterms(test.args[0])
    )
    bound = test.args[1].value if isinstance(test.args[1], Known) else None
    return sized and (test.name, bound) in (("==", 0), ("<=", 0), ("<", 1))


def _holds(test: Value, given: dict[str, Value]) -> bool | None:
    if not isinstance(test, Term):
        return None
    if test.op in ("and", "or"):
        return joined(test.op == "or", test.args, _holds, given)
    if test.op == "not":
        return negated(_holds(test.args[0], given))
    if test.op != "compare" or len(test.args) != 2:
        return None
    left, right = (_constants(arg, given) for arg in test.args)
    if not left or not right:
        return None
    answers = {_compared(test.name, one, other) for one in left for other in right}
    return answers.pop() if len(answers) == 1 else None


def _constants(value: Value, given: dict[str, Value]) -> list[int]:
    """The integers that a host value may be; empty when they are not known."""
    if isinstance(value, Term) and value.op == "input" and value.name in given:
        value = given[value.name]
    found = []
    for _, one in alternatives(value):
        if not isinstance(one, Known) or not isinstance(one.value, (int, bool)):
            return []
        found.append(int(one.value))
    return found


def _compared(op: str, left: int, right: int) -> bool | None:
    match op:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case ">":
            return left > right
        case "<=":
            return left <= right
        case ">=":
            return left >= right
    return None
