"""In which type matrix products and sums accumulate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.device.accumulator_slots import accumulator_generics
from cutile_lint.unit.device.kernel import SUMS, Kernel
from cutile_lint.unit.launches import KernelLaunch
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Known, Term, Value, alternatives, subterms
from cutile_lint.unit.transposes.owners import generics_of

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

_HALF = ("f16", "bf16")


@dataclass(frozen=True, slots=True)
class HalfAccumulator:
    operation: str
    type: str
    #: how a generic becomes a half type, for the message
    why: str
    place: Place
    event: Event


def half_accumulators(unit: KernelUnit, kernel: Kernel) -> Iterator[HalfAccumulator]:
    """``mmaf`` with a half accumulator, and sums of half tiles; one per place."""
    seen: set[Place] = set()
    for event in kernel.calls:
        name = event.name.rsplit("::", 1)[-1]
        at = 2 if name == "mmaf" else 0 if name in SUMS else -1
        node = event.node
        if at < 0 or not isinstance(node, syntax.Call):
            continue
        args = [arg.value for arg in node.args]
        if isinstance(node.func, syntax.Attr):
            args.insert(0, node.func.base)
        found = kernel.element_type(args[at]) if at < len(args) else None
        half, why = _half(unit, kernel, found)
        if half and event.place not in seen:
            seen.add(event.place)
            yield HalfAccumulator(name, found if why and found else half, why, Place(event.place.source, args[at].span), event)


def _half(unit: KernelUnit, kernel: Kernel, found: str | None) -> tuple[str, str]:
    """(half type, explanation) when an element type is one, or a generic that is launched as one; ("", "") else."""
    if found is None:
        return "", ""
    own = unit.crate.own_path(found, kernel.entry.source)  # ``type Acc = bf16;``
    if own.rsplit("::", 1)[-1] in _HALF:
        return own, ""
    names = [generic.name for generic in kernel.entry.generics if generic.kind == "type"]
    if found not in names or found in accumulator_generics(kernel):  # of its own for the accumulator: CTL621's
        return "", ""
    at = [generic.name for generic in kernel.entry.generics].index(found)
    for boundary in unit.boundary:
        for launch in boundary.run.launches:
            generics = generics_of(launch) if launch.entry is kernel.entry else None
            half = _launched_half(launch, generics[at]) if generics is not None and at < len(generics) else None
            if half is not None:
                return half, f", which is `{half}` in one of its launches"
    return "", ""


def _launched_half(launch: KernelLaunch, value: Value) -> str | None:
    """The half type that a generic's value is on the launch's path: one of its alternatives, or what a dispatch compared it with."""
    for path, one in alternatives(value):
        if isinstance(one, Known) and one.value in _HALF and not contradictory(path, launch.path):
            return str(one.value)
    for literal in launch.path:
        for test in subterms(literal.test) if literal.holds else ():
            if isinstance(test, Term) and test.op == "compare" and test.name == "==" and test.args[0].key() == value.key():
                if isinstance(test.args[1], Known) and test.args[1].value in _HALF:
                    return str(test.args[1].value)
    return None
