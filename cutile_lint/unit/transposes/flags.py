"""Transpose flags (``trans_a``, ``transpose_b``) that are taken and have no effect: in the op, at a slot, or in a variant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Span
from cutile_lint.unit.boundary.slots import Boundary, Slot
from cutile_lint.unit.flows import axes as ax
from cutile_lint.unit.flows.conditions import FLAG, possible
from cutile_lint.unit.launches import KernelLaunch, Launch, described_tensor
from cutile_lint.unit.machine.values import Choice, Condition, Entries, Items, Literal, Record, Term, Value
from cutile_lint.unit.runs import Run
from cutile_lint.unit.transposes.owners import generics_of, path_of

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(frozen=True, slots=True)
class IgnoredFlag:
    """``kind``: "op" (nothing depends on it), "slot" (the slot named like it gets something else), "variant" (a kernel launch
    that can get it does not use it). ``launch``: the call from Python, ``kernel``: the launch in the export."""

    kind: str
    name: str
    place: Place
    launch: Launch
    slot: Slot | None = None
    kernel: KernelLaunch | None = None
    symbol: str = ""


def ignored_flags(unit: KernelUnit) -> Iterator[IgnoredFlag]:
    for run in unit.runs:
        if run.launches and not run.trace.gaps:
            for param in run.function.params:
                if FLAG.match(param.name) and param.kind not in ("*", "**"):
                    yield from _op_flag(run, param, unit.boundary)
    for boundary in unit.boundary:
        if not boundary.run.trace.gaps:
            for slot in boundary.slots:
                if FLAG.match(slot.name) and not slot.is_descriptor:
                    yield from _slot_flag(boundary, slot)


# ── the op ─────────────────────────────────────────────────────────────────


def _op_flag(run: Run, param: syntax.Param, boundaries: list[Boundary]) -> Iterator[IgnoredFlag]:
    key = Term("input", param.name).key()
    mention = Mention(key)
    place = Place(run.source, Span(param.span.start, param.span.start + len(param.name.encode())))
    used = [launch for launch in run.launches if mention.in_path(launch.path) or mention.in_values(_passed(launch))]
    if not used:
        yield IgnoredFlag("op", param.name, place, run.launches[0], symbol=run.function.name)
        return
    for boundary in boundaries:
        launches = [launch for launch in boundary.launches if launch in run.launches and boundary.is_aligned(launch)]
        slots = [slot for slot in boundary.slots if FLAG.match(slot.name) and _operand(slot.name) == _operand(param.name)]
        if len(slots) != 1 or not launches:
            continue
        for launch in launches:
            on = possible((Literal(Term("input", param.name), True),), launch.path)
            if on and not _reaches(mention, launch, slots[0], run):
                yield IgnoredFlag(
                    "slot", param.name, launch.argument_place(slots[0].index), launch, slots[0], symbol=run.function.name
                )
                break


def _reaches(mention: Mention, launch: Launch, slot: Slot, run: Run) -> bool:
    """The flag is in the slot's value, or decides which view of an operand is passed."""
    values = launch.arguments.positional
    if mention.in_value(values[slot.index]):
        return True
    for value in values:
        tensor = described_tensor(value, run.program)
        if tensor is not None and any(mention.in_path(view.condition) for view in ax.views(tensor)):
            return True
    return False


def _passed(launch: Launch) -> list[Value]:
    return [*launch.arguments.positional, *launch.arguments.keywords.values()]


def _operand(name: str) -> str:
    """``transpose_a``, ``transA``, ``a_trans`` → ``a``."""
    lowered = name.lower().removeprefix("is_").removeprefix("do_")
    for word in ("transposed", "transpose", "trans"):
        if lowered.startswith(word):
            return lowered.removeprefix(word).strip("_")
        if lowered.endswith(word):
            return lowered.removesuffix(word).strip("_")
    return lowered


# ── the export ─────────────────────────────────────────────────────────────


def _slot_flag(boundary: Boundary, slot: Slot) -> Iterator[IgnoredFlag]:
    key = Term("input", slot.name).key()
    mention = Mention(key)
    for kernel in boundary.kernel_launches:
        generics = generics_of(kernel)
        if generics is None or mention.in_values([*kernel.arguments, *generics]):
            continue
        launch = next(
            (one for one in boundary.launches if boundary.is_aligned(one) and _can_get(boundary, one, slot, kernel)), None
        )
        if launch is not None:
            yield IgnoredFlag("variant", slot.name, slot.place, launch, slot, kernel, boundary.export.function.name)
            return


def _can_get(boundary: Boundary, launch: Launch, slot: Slot, kernel: KernelLaunch) -> bool:
    """The wrapper's launch can reach the variant with the flag on."""
    path = path_of(boundary, launch, kernel)
    scalar = [one for one in path if _decides(one.test)]
    value = launch.arguments.positional[slot.index]
    if any(Unknowns().in_value(literal.test) for literal in scalar) or Unknowns().in_value(value):
        return False
    rest = tuple(one for one in path if one not in scalar)
    return possible((Literal(value, True), *scalar), (*launch.path, *rest)) is True


def _decides(test: Value) -> bool:
    """The test compares plain values for equality, or asks for their truth (no sizes, no descriptors)."""
    if isinstance(test, Choice):
        return all(_decides(one) and all(_decides(literal.test) for literal in path) for path, one in test.alternatives)
    if not isinstance(test, Term):
        return True
    if test.op in ("not", "and", "or") or (test.op == "call" and test.name in ("int", "bool")):
        return all(_decides(arg) for arg in test.args)
    if test.op == "compare":
        return test.name in ("==", "!=", "is", "is not") and all(_decides(arg) for arg in test.args)
    return test.op == "input"


class Mention:
    """Whether values and conditions mention a term; conditions of choices count."""

    def __init__(self, key: object) -> None:
        self.key = key
        self._seen: dict[int, tuple[Value, bool]] = {}

    def in_values(self, values: list[Value]) -> bool:
        return any(self.in_value(value) for value in values)

    def in_path(self, path: Condition) -> bool:
        return any(self.in_value(literal.test) for literal in path)

    def in_value(self, value: Value) -> bool:
        known = self._seen.get(id(value))
        if known is None:
            self._seen[id(value)] = (value, False)
            known = self._seen[id(value)] = (value, self._look(value))
        return known[1]

    def is_it(self, value: Term) -> bool:
        return value.key() == self.key

    def _look(self, value: Value) -> bool:
        if isinstance(value, Term):
            return self.is_it(value) or any(self.in_value(arg) for arg in (*value.args, *value.keywords.values()))
        if isinstance(value, Choice):
            return any(self.in_path(path) or self.in_value(one) for path, one in value.alternatives)
        if isinstance(value, Items):
            return any(self.in_value(item) for item in value.items) or any(self.in_path(path) for path in value.conditions)
        if isinstance(value, Entries):
            return any(self.in_value(one) for one in value.entries.values())
        if isinstance(value, Record):
            return any(self.in_value(one) for one in value.fields.values())
        return False


class Unknowns(Mention):
    """Whether values have parts that could not be followed."""

    def __init__(self) -> None:
        super().__init__(None)

    def is_it(self, value: Term) -> bool:
        return value.op == "unknown"
