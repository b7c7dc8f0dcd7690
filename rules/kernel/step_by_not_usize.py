"""CTL609: ``step_by`` with a number that is no ``usize``."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Fix
from cutile_lint.frontends import syntax
from cutile_lint.unit import KernelUnit

_INTEGERS = frozenset(["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128"])


def check(unit: KernelUnit) -> Iterator[Finding]:
    for device in unit.device_functions:
        for node in device.nodes:
            if not (isinstance(node, syntax.Call) and isinstance(node.func, syntax.Attr) and node.func.name == "step_by"):
                continue
            step = node.args[0].value if len(node.args) == 1 else None
            if step is None or _is_literal(step) or (kind := device.type_of(step).strip()) not in _INTEGERS:
                continue
            place = device.place(step)
            statement = device.statement(node)
            yield Finding(
                place,
                f"`step_by` takes a `usize` and gets `{place.text}`, an `{kind}`",
                help=f"write `{_cast(step, place.text)}`",
                fix=_fix(step, place),
                statement=device.place(statement) if statement is not None else None,
                symbol=device.name,
            )


def _is_literal(step: syntax.Expr) -> bool:
    while isinstance(step, syntax.Unary):
        step = step.operand
    return isinstance(step, syntax.Const)


def _cast(step: syntax.Expr, text: str) -> str:
    plain = isinstance(step, (syntax.Name, syntax.Attr, syntax.Call, syntax.Index, syntax.Cast)) or text.startswith("(")
    return f"{text} as usize" if plain else f"({text}) as usize"


def _fix(step: syntax.Expr, place) -> Fix:
    from cutile_lint.frontends.rust.rewrite import replace

    return Fix("cast it to `usize`", (replace(place.source, place.span, _cast(step, place.text)),))
