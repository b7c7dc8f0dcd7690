"""Branches of device code on compile-time flags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Source
from cutile_lint.unit.device.kernel import Kernel

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(frozen=True, slots=True)
class NegatedBranch:
    """``if !FLAG``: the place of the test."""

    flag: str
    place: Place
    statement: Place
    fix: Fix | None


def negated_branches(unit: KernelUnit, kernel: Kernel) -> list[NegatedBranch]:
    """Tests ``!FLAG`` of a const generic or constant that is a bool, in the entry and the functions it enters."""
    return unit.crate.once((negated_branches, kernel.entry.name), lambda: list(_negated_branches(unit, kernel)))


def _negated_branches(unit: KernelUnit, kernel: Kernel) -> Iterator[NegatedBranch]:
    sources = {id(stop.frame.function): stop.frame.source for event in kernel.run.trace.events for stop in event.stack}
    for function in kernel.functions:
        source = sources.get(id(function), kernel.entry.source)
        flags = _flags(unit, function) | _flags(unit, kernel.entry.function)
        aliases = _aliases(function, flags)
        for node in function.walk():
            if isinstance(node, (syntax.If, syntax.Cond)) and isinstance(node.test, syntax.Unary) and node.test.op == "not":
                operand = node.test.operand
                if isinstance(operand, syntax.Name) and (operand.id in flags or operand.id in aliases):
                    place = Place(source, node.test.span)
                    yield NegatedBranch(operand.id, place, Place(source, node.span), _inverted(source, node, operand.id))


def _flags(unit: KernelUnit, function: syntax.Function) -> set[str]:
    found = {generic.name for generic in function.generics if generic.kind == "const" and generic.bound.strip() == "bool"}
    for items in unit.crate.items.values():
        for item in items:
            if isinstance(item.node, syntax.Assign) and item.node.annotation.strip() == "bool":
                found.add(item.name)
    return found


def _aliases(function: syntax.Function, flags: set[str]) -> set[str]:
    """Locals that are a flag under another name."""
    found: set[str] = set()
    for node in function.walk():
        if (
            isinstance(node, syntax.Assign)
            and node.declares
            and not node.mutable
            and isinstance(node.value, syntax.Name)
            and node.value.id in flags
        ):
            found.update(target.id for target in node.targets if isinstance(target, syntax.Name))
    return found


def _inverted(source: Source, node: syntax.If | syntax.Cond, flag: str) -> Fix | None:
    """The same branches under the flag itself, exchanged; None for an ``else if``, or where the blocks are not found."""
    blocks = _blocks(source, node)
    if blocks is None:
        return None
    (first_start, first_end), second = blocks
    test = Edit(source, node.test.span.start, node.test.span.end, flag)
    first = source.part(first_start, first_end).decode()
    if second is None:
        return Fix("test the flag itself", (test, Edit(source, first_start, first_start, "{} else ")))
    other = source.part(*second).decode()
    exchange = (Edit(source, first_start, first_end, other), Edit(source, second[0], second[1], first))
    return Fix("test the flag itself and exchange the branches", (test, *exchange))


def _blocks(source: Source, node: syntax.If | syntax.Cond) -> tuple[tuple[int, int], tuple[int, int] | None] | None:
    from cutile_lint.frontends.rust.lexer import hidden

    end = node.span.end
    text = bytearray(source.part(node.test.span.end, end))
    for start, stop, _ in hidden(bytes(text)):
        text[start:stop] = b" " * (stop - start)
    base = node.test.span.end
    first = _block(text, 0)
    if first is None:
        return None
    rest = bytes(text[first[1] :]).strip()
    if not rest:
        return (base + first[0], base + first[1]), None
    if not rest.startswith(b"else") or not rest[4:].lstrip().startswith(b"{"):
        return None
    second = _block(text, first[1] + bytes(text[first[1] :]).index(b"else") + 4)
    return ((base + first[0], base + first[1]), (base + second[0], base + second[1])) if second is not None else None


def _block(text: bytearray, start: int) -> tuple[int, int] | None:
    """The span of the next ``{…}``."""
    depth, begin = 0, -1
    for at in range(start, len(text)):
        if text[at : at + 1] == b"{":
            if depth == 0:
                begin = at
            depth += 1
        elif text[at : at + 1] == b"}":
            depth -= 1
            if depth == 0:
                return begin, at + 1
    return None
