"""Copies that every call of an op makes, and when one may be left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.unit.flows.origins import node_at
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.python_methods import same_metadata
from cutile_lint.unit.machine.values import Known, Term, Value, alternatives, subterms
from cutile_lint.unit.timed.percall import (
    CERTAIN_COPIES,
    CallWork,
    behind_layout_check,
    branches,
    for_empty_tensors,
    reference_does,
)

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


def forced_copies(unit: KernelUnit) -> Iterator[CallWork]:
    """Certain copies on every call that neither protect an input nor belong to the reference's wrapper too; one for each place."""
    seen = set()
    for item in unit.call_work:
        event = item.event
        if item.work.kind != "copy" or not _is_certain(item) or event.place in seen:
            continue
        if branches(event) or behind_layout_check(event) or for_empty_tensors(event):
            continue
        if item.seldom or _protects(unit, item) or reference_does(unit, item):
            continue
        seen.add(event.place)
        yield item


def _is_certain(item: CallWork) -> bool:
    if item.verb in CERTAIN_COPIES:
        return True
    operand, arguments = item.work.operand, item.event.arguments
    if item.verb == "copy_":
        return arguments is not None and bool(arguments.positional) and _is_made_alike(operand, arguments.positional[0])
    if item.verb in ("to", "asarray") and arguments is not None and isinstance(always := arguments.keywords.get("copy"), Known):
        return bool(always.value)
    return (item.verb == "contiguous" and is_expanded(operand)) or is_round_trip(item)


def is_round_trip(item: CallWork) -> bool:
    """A tensor is converted to another type and back: ``x.float().to(x.dtype)``."""
    converted, arguments = item.work.operand, item.event.arguments
    if item.verb not in ("to", "type") or arguments is None or not isinstance(converted, Term):
        return False
    if converted.op != "method" or not converted.args or not _names_type(converted):
        return False
    asked = arguments.get(0, "dtype")
    return asked is not None and _is_asked(asked, "dtype", converted.args[0])


def _names_type(converted: Term) -> bool:
    """The conversion is to one type: ``x.float()``, ``x.to(torch.float32)``."""
    given = [*converted.args[1:], *converted.keywords.values()]
    if converted.name in ("to", "type"):
        return any(isinstance(one, Term) and one.op == "external" and one.name.startswith("torch.") for one in given)
    return converted.name in ("float", "half", "bfloat16", "double") and not given


def _is_made_alike(buffer: Value | None, source: Value) -> bool:
    """An empty tensor of the source's size and dtype: copying into it makes a clone."""
    if not isinstance(buffer, Term) or not buffer.args:
        return False
    said = set(buffer.keywords) - {"device", "requires_grad"}
    of_it = buffer.args[0].key() == source.key()
    if buffer.op == "call" and buffer.name == "torch.empty_like":
        return of_it and not said
    if buffer.op == "method" and buffer.name == "new_empty":
        return of_it and not said and len(buffer.args) == 2 and _is_asked(buffer.args[1], "shape", source)
    if buffer.op == "call" and buffer.name == "torch.empty" and said == {"dtype"}:
        return _is_asked(buffer.args[0], "shape", source) and _is_asked(buffer.keywords["dtype"], "dtype", source)
    return False


def _is_asked(value: Value, name: str, tensor: Value) -> bool:
    """The value is the ``name`` (shape, dtype) of the tensor."""
    asked = [one.args[0] for _, one in alternatives(value) if isinstance(one, Term) and one.op == "attr" and one.name == name]
    bases = {same_metadata(one, name).key() for one in asked}
    return len(bases) == 1 and bases == {same_metadata(one, name).key() for _, one in alternatives(tensor)}


def is_expanded(tensor: Value | None) -> bool:
    """An expanded view of a tensor that was given an axis of length 1. (Another tensor may have the wanted size already.)"""
    if not isinstance(tensor, Term) or tensor.op != "method" or tensor.name not in ("expand", "expand_as", "broadcast_to"):
        return False
    base = tensor.args[0]
    if not isinstance(base, Term):
        return False
    if base.op == "method" and base.name in ("view", "reshape"):
        return any(isinstance(part, Known) and part.value == 1 for size in base.args[1:] for part in (size, *subterms(size)))
    if base.op == "index":
        return any(isinstance(part, Known) and part.value is None for at in base.args[1:] for part in (at, *subterms(at)))
    return base.op == "method" and base.name == "unsqueeze"


def _protects(unit: KernelUnit, item: CallWork) -> bool:
    """A launch writes the copy, or it may: the original stays as it was."""
    copy = item.work.operand if item.verb == "copy_" else item.work.result
    if copy is None:
        return True
    for launch in item.run.launches:
        use = unit.tensor_use(launch, copy)
        if use is not None and use.writes is not False:
            return True
    for work in item.run.tensors.works():  # changed in place afterwards
        if work.event.order > item.event.order and work.operand is not None and _in_place(work.name, work.event.kind):
            if item.run.tensors.shares_memory(work.operand, copy):
                return True
    return False


def _in_place(name: str, kind: str) -> bool:
    return kind == "setitem" or name.strip("`.()").endswith("_")


def gated(unit: KernelUnit, item: CallWork) -> Fix | None:
    """``x if x.is_contiguous() else x.clone()`` for a clone that is only read."""
    from cutile_lint.frontends.python import rewrite

    event = item.event
    module = unit.program.module(event.place.source.path)
    node = node_at(unit.program, event.place)
    if module is None or not isinstance(node, syntax.Call) or item.verb != "clone" or item.work.result is None:
        return None
    if not isinstance(node.func, syntax.Attr) or not isinstance(node.func.base, syntax.Name) or node.args:
        return None
    if not _is_only_launched(unit, item, item.work.result):
        return None
    name = node.func.base.id
    change = rewrite.replace_expression(module, node, f"{name} if {name}.is_contiguous() else {name}.clone()")
    level = Applicability.UNSAFE if change.drops_comment else Applicability.SAFE
    return Fix(f"clone `{name}` only if it is not contiguous", change.edits, level)


def _is_only_launched(unit: KernelUnit, item: CallWork, copy: Value) -> bool:
    """The copy goes into launches that only read it, and nowhere else."""
    key = copy.key()
    uses = [unit.tensor_use(launch, copy) for launch in item.run.launches]
    read = [use for use in uses if use is not None]
    if not read or any(use.writes is not False for use in read):
        return False
    if any(item.run.tensors.shares_memory(value, copy) for _, value in item.run.trace.returned):
        return False
    return not any(
        other.kind in ("setattr", "setitem", "global") and other.value is not None and not contradictory(other.path, item.event.path)
        and any(part.key() == key for part in subterms(other.value))
        for other in item.run.trace.events
    )  # fmt: skip
