"""Quotients of the shape of a sigmoid on f32 tiles: ``1 / (1 + exp(-x))``, ``x / (1 + exp(-x))``, ``e / (1 + e)``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Span
from cutile_lint.unit.device.numbers import plain
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Known, Term, Value, alternatives

if TYPE_CHECKING:
    from cutile_lint.unit.device.kernel import Kernel

_COMMENT = regex(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_EXPONENTIALS = frozenset(["exp", "exp2", "ex2"])


@dataclass(frozen=True, slots=True)
class SigmoidDivision:
    place: Place
    event: Event
    fix: Fix | None


def sigmoid_divisions(kernel: Kernel) -> Iterator[SigmoidDivision]:
    """``/`` whose divisor is one plus an exponential of an f32 tile."""
    seen: set[Place] = set()
    for event in kernel.run.trace.events:
        value, node = event.value, event.node
        if event.kind != "operator" or event.name.removesuffix("=") != "/" or event.place in seen:
            continue
        if (
            not isinstance(value, Term)
            or len(value.args) != 2
            or not any(_one_plus(one) for _, one in alternatives(value.args[1]))
        ):
            continue
        if _is_other_type(kernel, event, node):
            continue
        seen.add(event.place)
        yield SigmoidDivision(event.place, event, _fix(event, node))


def _one_plus(value: Value) -> bool:
    value = plain(value)
    if not isinstance(value, Term):
        return False
    last = value.name.rsplit("::", 1)[-1]
    if not ((value.op == "binary" and value.name == "+") or last == "addf") or len(value.args) < 2:
        return False
    parts = [plain(part) for part in value.args[:2]]
    ones = [part for part in parts if isinstance(part, Known) and part.value == 1]
    powers = [part for part in parts if isinstance(part, Term) and part.name.rsplit("::", 1)[-1] in _EXPONENTIALS]
    return bool(ones and powers)


def _is_other_type(kernel: Kernel, event: Event, node: syntax.Node | None) -> bool:
    """An operand is declared as a tile of another type than f32."""
    operands = [node.left, node.right] if isinstance(node, syntax.Binary) else []
    found = {kernel.element_type(operand) for operand in operands}
    if isinstance(node, syntax.Assign):
        found = {kernel.element_type(one) for one in (*node.targets, node.value)}
    return bool(found - {None, "f32"})


def _fix(event: Event, node: syntax.Node | None) -> Fix | None:
    source = event.place.source
    if isinstance(node, syntax.Binary) and node.op == "/":
        text = source.slice(node.span)
        at = _blanked(text).find("/", len(source.slice(Span(node.span.start, node.left.span.end))))
        left, right = (_stripped(part.strip()) for part in (text[:at], text[at + 1 :]))
        left += "\n" if "//" in left else ""
        edit = Edit(source, node.span.start, node.span.end, f"true_div({left}, {right})")
        return Fix("use `true_div`", (edit,), Applicability.UNSAFE)
    return None


def _blanked(text: str) -> str:
    """The text with blanks for its comments."""
    return _COMMENT.sub(lambda comment: " " * len(comment.group()), text)


def _stripped(text: str) -> str:
    """The text without one pair of parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and at < len(text) - 1:
            return text
    return text[1:-1]
