"""Fixes for tensors that are transposed twice: one owner goes, the later one where it can go by itself."""

from __future__ import annotations

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.sources import Place
from cutile_lint.unit.flows.origins import node_at
from cutile_lint.unit.model import KernelUnit
from cutile_lint.unit.transposes.owners import Owner, TransposedTwice


def drop_an_owner(unit: KernelUnit, twice: TransposedTwice) -> Fix | None:
    """Drop the later owner: a permuted partition becomes a plain one. A tile permuted after its load has its shape from the
    permutation, so there the earlier owner is dropped. None when neither can go, or when there are more than two places."""
    if len({owner.place for owner in twice.owners}) != 2:
        return None
    for owner in reversed(twice.owners):
        edit = _drop(unit, owner)
        if edit is not None:
            return Fix(f"drop the exchange in the {owner.layer}", (edit,), Applicability.UNSAFE)
    return None


def _drop(unit: KernelUnit, owner: Owner) -> Edit | None:
    node = node_at(unit.program, owner.place, syntax.Expr)
    if not isinstance(node, (syntax.Call, syntax.Attr)):
        return None
    if owner.layer == "kernel":
        return _plain_partition(owner.place, node)
    return _without_view(owner.place, node) if owner.layer == "wrapper" else _without_helper(owner.place, node)


def _text(place: Place, node: syntax.Node) -> str:
    return place.source.slice(node.span)


def _plain_partition(place: Place, node: syntax.Expr) -> Edit | None:
    if not isinstance(node, syntax.Call):
        return None
    func = node.func
    if isinstance(func, syntax.Attr) and func.name == "partition_permuted" and len(node.args) == 2:
        return Edit(place.source, func.name_span.start, node.span.end, f"partition({_text(place, node.args[0])})")
    name = func.name if isinstance(func, syntax.Attr) else func.last if isinstance(func, syntax.Name) else ""
    at = 2 if isinstance(func, syntax.Attr) else 3
    if name == "make_partition_view" and len(node.args) > at:
        order = node.args[at].span
        return Edit(place.source, order.start, order.end, "dim_map::Identity")
    return None


def _without_view(place: Place, node: syntax.Expr) -> Edit | None:
    """``x.transpose(1, 2)`` → ``x``; ``torch.transpose(x, 1, 2)`` → ``x``."""
    if isinstance(node, syntax.Attr):
        base: syntax.Node = node.base
    elif isinstance(node, syntax.Call) and isinstance(node.func, syntax.Attr):
        base = node.func.base
        if isinstance(base, syntax.Name) and base.id == "torch":
            if not node.args or node.args[0].name or node.args[0].spread:
                return None
            base = node.args[0].value
    else:
        return None
    return Edit(place.source, place.span.start, place.span.end, _text(place, base))


def _without_helper(place: Place, node: syntax.Expr) -> Edit | None:
    """``borrow(&swap(desc))`` → ``borrow(desc)``: the helper in between is what exchanges."""
    for arg in node.args if isinstance(node, syntax.Call) else ():
        value = arg.value
        inner = value.operand if isinstance(value, syntax.Unary) and value.op == "&" else value
        if isinstance(inner, syntax.Call) and len(inner.args) == 1 and isinstance(inner.func, syntax.Name) and not inner.macro:
            given = inner.args[0].value
            if isinstance(given, syntax.Name):
                return Edit(place.source, value.span.start, value.span.end, given.id)
    return None
