"""Conversions of a tile that has no name yet: the compiler cannot infer its type there."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.device.types import DeviceFunction, arguments, callee

CONVERSIONS = frozenset(["exti", "trunci", "convert_tile"])


@dataclass(frozen=True, slots=True)
class Unbound:
    """``inner`` is the call without a name: ``scalar_to_tile(x)``, ``pointer_to_tile(p)``."""

    outer: str
    inner: Place
    statement: Place | None
    fix: Fix | None


def unbound_conversions(device: DeviceFunction) -> Iterator[Unbound]:
    for node in device.nodes:
        if not isinstance(node, syntax.Call):
            continue
        name = callee(node)
        operand = next(iter(arguments(node)), None)
        while isinstance(operand, syntax.Block) and not operand.body and operand.value is not None:
            operand = operand.value
        if not isinstance(operand, syntax.Call):
            continue
        made = callee(operand)
        converts = name in CONVERSIONS and made == "scalar_to_tile"
        if converts or (isinstance(node.func, syntax.Attr) and made == "pointer_to_tile"):
            statement = device.statement(node)
            place = device.place(statement) if statement is not None else None
            yield Unbound(name, device.place(operand), place, _bound(device, operand, statement))


def _bound(device: DeviceFunction, call: syntax.Call, statement: syntax.Stmt | None) -> Fix | None:
    """The call as a typed binding before its statement; None when the type is not known or the call may not run there."""
    from cutile_lint.frontends.rust.rewrite import insert_before

    operand = call.args[0].value if len(call.args) == 1 else None
    type_ = device.type_of(operand).strip()
    if operand is None or not type_ or "_" == type_ or type_.startswith("(") or statement is None or not _runs(statement, call):
        return None
    head = "PointerTile" if callee(call) == "pointer_to_tile" else "Tile"
    if head == "PointerTile" and not type_.startswith("*"):
        return None
    name = _name(device, operand)
    source = device.source
    text = source.slice(call.span)
    binding = f"let {name}: {head}<{type_}, {{ [] }}> = {text};"
    edits = (insert_before(source, statement.span, binding), Edit(source, call.span.start, call.span.end, name))
    return Fix(f"bind it to `{name}`", edits)


def _runs(statement: syntax.Stmt, call: syntax.Call) -> bool:
    """The call is evaluated exactly once when the statement runs, nothing before it but its operands."""
    if isinstance(statement, (syntax.If, syntax.While, syntax.For, syntax.Match)):
        test = getattr(statement, "test", None)
        return isinstance(statement, syntax.If) and test is not None and test.span.covers(call.span)
    for node in statement.walk():
        if isinstance(node, (syntax.Cond, syntax.Logic, syntax.MatchExpr, syntax.Lambda)) and node.span.covers(call.span):
            if not (isinstance(node, syntax.Cond) and node.test.span.covers(call.span)):
                return False
    return True


def _name(device: DeviceFunction, operand: syntax.Expr) -> str:
    while isinstance(operand, (syntax.Cast, syntax.Unary, syntax.Attr)):
        if isinstance(operand, syntax.Cast):
            operand = operand.value
        elif isinstance(operand, syntax.Unary):
            operand = operand.operand
        else:
            operand = operand.base
    base = operand.id.lower() if isinstance(operand, syntax.Name) and operand.id.isidentifier() else "scalar"
    taken = set(device.declarations) | {node.id for node in device.nodes if isinstance(node, syntax.Name)}
    name, number = f"{base}_tile", 2
    while name in taken:
        name, number = f"{base}_tile{number}", number + 1
    return name
