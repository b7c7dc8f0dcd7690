"""Modes of float operations (flush to zero, rounding, NaN) and their element types, against the reference IR's same operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source
from cutile_lint.unit.device.kernel import Kernel
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Term

if TYPE_CHECKING:
    from cutile_lint.frontends.ir import IrOp
    from cutile_lint.unit.model import KernelUnit

_OPERATORS = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}
_ROUNDED = frozenset(["addf", "subf", "mulf", "divf", "fma", "sqrt"])
_FLUSHED = _ROUNDED | frozenset(["exp2", "rsqrt", "maxf", "minf"])
_HALF = frozenset(["f16", "bf16"])
_CAMEL = regex(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class OtherMode:
    """``what``: the operation with what is different, ``wanted``: what the reference has."""

    place: Place
    what: str
    wanted: str
    event: Event
    reference: Place


def other_modes(unit: KernelUnit, kernel: Kernel) -> Iterator[OtherMode]:
    evidence = unit.entry_reference(kernel.entry)
    kernels = evidence.irs if evidence is not None else []
    ops: dict[str, list[tuple[IrOp, Source]]] = {}
    for one in kernels:
        for op in one.ir.float_ops if one.ir is not None else ():
            if one.ir_source is not None and op.enclosing("reduce", "scan") is None:
                ops.setdefault(op.name, []).append((op, one.ir_source))
    if not ops:
        return
    converts = any(_element(op) in _HALF for op, _ in ops.get("ftof", ()))
    seen: set[Place] = set()
    for event in kernel.run.trace.events:
        name = _name(kernel, event)
        if name is None or name not in ops or event.place in seen:
            continue
        known = ops[name]
        place = Place(known[0][1], known[0][0].span)
        found = _half(kernel, event, known, converts) or _mode(event, name, known)
        if found is not None:
            seen.add(event.place)
            yield OtherMode(event.place, found[0], found[1], event, place)


def _name(kernel: Kernel, event: Event) -> str | None:
    """The IR's name of a float operation; None for others."""
    if event.kind == "call":
        last = event.name.rsplit("::", 1)[-1]
        return "divf" if last == "true_div" else last if last in _FLUSHED else None
    if event.kind == "operator" and _element_types(kernel, event) & (_HALF | {"f32"}):
        return _OPERATORS.get(event.name.removesuffix("="))
    return None


def _element_types(kernel: Kernel, event: Event) -> set[str]:
    node = event.node
    nodes: list[syntax.Expr] = []
    if isinstance(node, syntax.Binary):
        nodes = [node.left, node.right]
    elif isinstance(node, syntax.Call):
        nodes = [arg.value for arg in node.args]
    return {found for one in nodes if (found := kernel.element_type(one)) is not None}


def _element(op: IrOp) -> str:
    types = op.result_types or op.operand_types
    return types[0].element if types else ""


def _half(kernel: Kernel, event: Event, known: list[tuple[IrOp, Source]], converts: bool) -> tuple[str, str] | None:
    """Half-precision operands where the reference has only f32 and converts."""
    types = _element_types(kernel, event)
    narrow = next((one for one in sorted(types) if one in _HALF), None)
    if narrow is None or not converts or any(_element(op) != "f32" for op, _ in known):
        return None
    return f"computes in `{narrow}`", "computes in `f32` and converts"


def _mode(event: Event, name: str, known: list[tuple[IrOp, Source]]) -> tuple[str, str] | None:
    ftz, rounding, nan = _own_modes(event, name)
    theirs = [op for op, _ in known]
    if ftz is not None and all(op.flush_to_zero is not ftz for op in theirs):
        return _words("flush to zero", ftz)
    if rounding is not None and name in _ROUNDED and all((op.rounding or "nearest_even") != rounding for op in theirs):
        return f"rounds with `{rounding}`", f"rounds with `{theirs[0].rounding or 'nearest_even'}`"
    if nan is not None and all(("propagate_nan" in op.modifiers) is not nan for op in theirs):
        return _words("propagate NaN", nan)
    return None


def _words(mode: str, own: bool) -> tuple[str, str]:
    """What this operation does and what the reference's does."""
    verb, rest = mode.split(" ", 1)
    does = {True: f"{verb}{'es' if verb.endswith('sh') else 's'} {rest}", False: f"does not {mode}"}
    return does[own], does[not own]


def _own_modes(event: Event, name: str) -> tuple[bool | None, str | None, bool | None]:
    """(flush to zero, rounding, NaN) as written; None for what cannot be told. Operators have the default modes."""
    if event.kind == "operator":
        return False, "nearest_even", None
    if event.name.rsplit("::", 1)[-1] == "true_div":
        return True, "approx", None
    ftz: bool | None = None
    rounding: str | None = None
    nan: bool | None = None
    for value in event.arguments.positional if event.arguments is not None else ():
        if isinstance(value, Term) and value.op == "external":
            parts = value.name.split("::")
            if len(parts) > 1 and parts[-2] == "ftz":
                ftz = parts[-1] == "Enabled"
            elif len(parts) > 1 and parts[-2] == "nan":
                nan = parts[-1] == "Enabled"
            elif len(parts) > 1 and parts[-2] == "rounding":
                rounding = _CAMEL.sub("_", parts[-1]).lower()
    return ftz, rounding, nan
