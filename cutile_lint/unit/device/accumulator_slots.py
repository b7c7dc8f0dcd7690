"""Generics for the type of accumulators, apart from the data's type, and what launches give to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.device.kernel import SUMS, Kernel
from cutile_lint.unit.flows.origins import node_at
from cutile_lint.unit.launches import KernelLaunch
from cutile_lint.unit.linking.crate import Entry
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.values import Known, Term, Value, alternatives, subterms
from cutile_lint.unit.transposes.owners import generics_of

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: types in which accumulating is as good as in f32
_WIDE = frozenset(["f32", "f64", "i32", "i64", "u32", "u64"])


@dataclass(frozen=True, slots=True)
class NarrowSlot:
    generic: str
    #: what it gets: ``f16``, or the name of the data's type
    given: str
    place: Place
    launch: KernelLaunch


def accumulator_generics(kernel: Kernel) -> list[str]:
    """Type generics that no parameter has, in which the kernel accumulates; all that no parameter has, where it accumulates in none."""
    names = [generic.name for generic in kernel.entry.generics if generic.kind == "type"]
    if len(names) < 2:
        return []
    text = " ".join(param.annotation for param in kernel.entry.function.params)
    apart = [name for name in names if not re.search(rf"\b{name}\b", text)]
    used = {kernel.element_type(node) for node in _accumulated(kernel)}
    return [name for name in apart if name in used] or [
        name for name in apart if any(name in types for types in kernel.types.values())
    ]


def _accumulated(kernel: Kernel) -> Iterator[syntax.Expr]:
    for event in kernel.calls:
        node = event.node
        name = event.name.rsplit("::", 1)[-1]
        if isinstance(node, syntax.Call) and (name == "mmaf" or name in SUMS):
            args = [arg.value for arg in node.args]
            if isinstance(node.func, syntax.Attr):
                args.insert(0, node.func.base)
            at = 2 if name == "mmaf" else 0
            if at < len(args):
                yield args[at]


def narrow_slots(unit: KernelUnit, kernel: Kernel) -> Iterator[NarrowSlot]:
    """Launches that accumulate in something else than f32, one of each place."""
    slots = accumulator_generics(kernel)
    order = [generic.name for generic in kernel.entry.generics]
    seen: set[Place] = set()
    for boundary in unit.boundary if slots else ():
        for launch in boundary.run.launches:
            generics = generics_of(launch) if launch.entry is kernel.entry else None
            if generics is None or len(generics) != len(order):
                continue
            for name in slots:
                found = _narrow(launch, generics[order.index(name)], _item(unit, launch, order.index(name)))
                if found is not None and found[1] not in seen and not _in_reference(unit, kernel.entry, found[0]):
                    seen.add(found[1])
                    yield NarrowSlot(name, found[0], found[1], launch)


def _narrow(launch: KernelLaunch, value: Value, item: Place | None) -> tuple[str, Place] | None:
    """(what it is, where) when a value of the slot is not known to be wide on the launch's path."""
    for path, one in alternatives(value):
        if contradictory(path, launch.path):
            continue
        where = item or _place(launch, one)
        if isinstance(one, Known):
            if isinstance(one.value, str) and one.value not in _WIDE:
                return one.value, where
        elif isinstance(one, Term) and one.op != "unknown":
            tested = _tested(launch, value)
            if tested is None:
                return one.name if one.op == "input" else "the data's type", where
            if tested not in _WIDE:
                return tested, where
    return None


def _tested(launch: KernelLaunch, value: Value) -> str | None:
    for literal in launch.path:
        for test in subterms(literal.test) if literal.holds else ():
            if isinstance(test, Term) and test.op == "compare" and test.name == "==" and test.args[0].key() == value.key():
                if isinstance(test.args[1], Known):
                    return str(test.args[1].value)
    return None


def _item(unit: KernelUnit, launch: KernelLaunch, index: int) -> Place | None:
    """The item of the ``vec![…]`` that the generics were begun with."""
    whole = launch.generics.place if launch.generics is not None else None
    node = node_at(unit.program, whole) if whole is not None else None
    parts = [arg.value for arg in node.args] if isinstance(node, syntax.Call) and node.macro else []
    if isinstance(node, syntax.Sequence):
        parts = list(node.items)
    return Place(whole.source, parts[index].span) if whole is not None and index < len(parts) else None


def _place(launch: KernelLaunch, value: Value) -> Place:
    """The item of ``.generics(…)``: where the value was last used in the export, as far as that is known."""
    own = launch.event.place.source
    for hop in reversed(value.hops()):
        if hop.place.source is own and hop.kind != "bound":
            return hop.place
    if value.place is not None and value.place.source is own:
        return value.place
    term = launch.chain["generics"]
    return (launch.generics.place if launch.generics is not None else None) or term.place or launch.place


def _in_reference(unit: KernelUnit, entry: Entry, given: str) -> bool:
    """The reference accumulates in a narrow type too."""
    evidence = unit.entry_reference(entry)
    kernels = evidence.irs if evidence is not None else []
    types = [mma.accumulator for one in kernels if one.ir is not None for mma in one.ir.mmas]
    return any(found is not None and found.element in ("f16", "bf16") for found in types)
