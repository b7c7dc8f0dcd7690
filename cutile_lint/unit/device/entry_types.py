"""Entries that are written for one float type instead of being generic over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.dtypes import dtype_of
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.device.kernel import Kernel
from cutile_lint.unit.launches import KernelLaunch, Launch, described_tensor
from cutile_lint.unit.linking.names import fits
from cutile_lint.unit.machine.values import Term, Value, alternatives, subterms
from cutile_lint.unit.transposes.owners import descriptor_of

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

_HALF = frozenset(["f16", "bf16"])
_FLOATS = _HALF | {"f32", "f64"}
_ELEMENT = regex(r"(?:Tensor\s*<\s*|\*\s*(?:mut|const)\s+)(?:\w+\s*::\s*)*(\w+)")


@dataclass(frozen=True, slots=True)
class ConcreteData:
    """``param`` None: the entry as a whole has no type generic."""

    place: Place
    param: syntax.Param | None
    type: str


def concrete_data(unit: KernelUnit, kernel: Kernel, fixed: Sequence[str] = ()) -> Iterator[ConcreteData]:
    """``fixed``: (patterns of) parameters whose type is meant."""
    entry = kernel.entry
    if _FLOATS & set(entry.name.lower().split("_")):
        return  # one of a family that is written for each type, and says so
    generic = any(one.kind == "type" for one in entry.generics)
    floats = [(param, type_) for param in entry.function.params if (type_ := element_of(param)) in _FLOATS]
    floats = [(param, type_) for param, type_ in floats if not fits(param.name, fixed)]
    if generic:
        for param, type_ in floats:
            if type_ in _HALF:
                yield ConcreteData(Place(entry.source, param.annotation_span or param.span), param, type_)
    elif floats:
        half = next((type_ for _, type_ in floats if type_ in _HALF), None)
        if half is not None or not _is_f32_work(unit, kernel, [param for param, _ in floats]):
            yield ConcreteData(entry.place, None, half or floats[0][1])


def element_of(param: syntax.Param) -> str:
    match = _ELEMENT.search(param.annotation)
    return match.group(1) if match is not None else ""


def _is_f32_work(unit: KernelUnit, kernel: Kernel, params: list[syntax.Param]) -> bool:
    """All the float tensors are statistics and workspace that the wrapper makes in f32, or the op takes nothing but f32."""
    launched = [
        (boundary, one, launch)
        for boundary in unit.boundary
        for one in boundary.run.launches
        if one.entry is kernel.entry
        for launch in boundary.launches
    ]
    return bool(launched) and all(
        _only_f32(launch) or all(_made_in_f32(unit, boundary, one, launch, param) for param in params)
        for boundary, one, launch in launched
    )


def _only_f32(launch: Launch) -> bool:
    """A check on the way to the launch lets f32 through only."""
    for literal in launch.path:
        test = literal.test
        if isinstance(test, Term) and test.op == "compare" and len(test.args) == 2 and "dtype" in _names(test.args[0]):
            wanted = (test.name, literal.holds) in (("==", True), ("is", True), ("!=", False), ("is not", False))
            if wanted and _names(test.args[1]) & {"torch.float32", "torch.float"}:
                return True
            if (test.name, literal.holds) in (("in", True), ("not in", False)):
                found = {name for name in _names(test.args[1]) if name.startswith("torch.")}
                if found and found <= {"torch.float32", "torch.float"}:
                    return True
    return False


def _names(value: Value) -> set[str]:
    return {one.name for one in subterms(value) if isinstance(one, Term) and one.op in ("attr", "external")}


def _made_in_f32(unit: KernelUnit, boundary: Boundary, launched: KernelLaunch, launch: Launch, param: syntax.Param) -> bool:
    names = frozenset(slot.name for slot in boundary.slots if slot.is_descriptor)
    at = next(at for at, one in enumerate(launched.entry.function.params) if one is param) if launched.entry is not None else -1
    slot = boundary.slot_named(descriptor_of(launched.arguments[at], names) or "") if 0 <= at < len(launched.arguments) else None
    if slot is None or not boundary.is_aligned(launch):
        return False
    tensor = described_tensor(launch.arguments.positional[slot.index], unit.program)
    if tensor is None:
        return False
    return all(_is_f32(one) for _, one in alternatives(tensor))


def _is_f32(tensor: Value) -> bool:
    found = dtype_of(tensor)
    return found == ("known", "float32")
