"""CTL612: an ``if`` expression whose value is a tile."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.frontends import syntax
from cutile_lint.frontends.versions import supports
from cutile_lint.sources import Place, Span
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.types import TILES, DeviceFunction, head


def check(unit: KernelUnit) -> Iterator[Finding]:
    if supports("tile-valued-if", unit.target_version):
        return
    for device in unit.device_functions:
        seen = Span(0, 0)
        for node, expected in _conditional_values(device):
            if seen.covers(node.span) or not (head(expected) in TILES or device.is_tile(node)):
                continue
            seen = node.span
            statement = device.statement(node)
            yield Finding(
                _test(device, node),
                f"the value of this `if` is a tile, which {unit.target_version} cannot compile",
                help="declare the tile as `mut` and assign it in both branches of an `if` statement, or use `select`",
                statement=device.place(statement) if statement is not None else None,
                symbol=device.name,
            )


def _conditional_values(device: DeviceFunction) -> Iterator[tuple[syntax.Cond, str]]:
    """``if`` expressions with the type that is expected of them ("" when that is not written)."""
    expected: dict[int, str] = {}
    others = _returns_of_others(device)
    for node in device.nodes:
        if isinstance(node, syntax.Assign) and node.value is not None:
            target = node.targets[0] if len(node.targets) == 1 else None
            found = (
                None if node.declares or not isinstance(target, syntax.Name) else device.declaration(target.id, node.span.start)
            )
            _expect(node.value, node.annotation or (found.annotation if found is not None else ""), expected)
        elif isinstance(node, syntax.Return) and node.value is not None and id(node) not in others:
            _expect(node.value, device.function.returns, expected)
        if isinstance(node, syntax.Cond):
            yield node, expected.get(id(node), "")


def _returns_of_others(device: DeviceFunction) -> set[int]:
    """The ``return`` of closures and functions inside."""
    inner = (one for one in device.nodes if isinstance(one, syntax.Function) and one is not device.function)
    return {id(node) for one in inner for node in one.walk() if isinstance(node, syntax.Return)}


def _expect(value: syntax.Expr | None, type_: str, expected: dict[int, str]) -> None:
    if isinstance(value, syntax.Cond):
        expected[id(value)] = type_
        _expect(value.then, type_, expected)
        _expect(value.orelse, type_, expected)
    elif isinstance(value, syntax.Block):
        _expect(value.value, type_, expected)


def _test(device: DeviceFunction, node: syntax.Cond) -> Place:
    """``if`` with its test."""
    return Place(device.source, Span(node.span.start, node.test.span.end))
