"""Constants in device code that are not plain decimals: scientific notation, ``f32::…`` and ``consts::…``, associated constants."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.device.types import device_modules
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Known, Term, Value, subterms

if TYPE_CHECKING:
    from cutile_lint.unit.device.kernel import Kernel
    from cutile_lint.unit.model import KernelUnit

_SCIENTIFIC = regex(r"-?\s*(\d[\d_]*(?:\.[\d_]*)?[eE][+-]?[\d_]+)(?:_?(f16|f32|f64|bf16))?")
_QUALIFIED = regex(r"(?:^|::)(f32|f64)::(?:consts::)?([A-Z][A-Z0-9_]*)$|(?:^|::)(consts)::([A-Z][A-Z0-9_]*)$")
_ASSOCIATED = regex(r"^(?:<.+>|[A-Za-z_][\w:]*)::([A-Z][A-Z0-9_]*)$")
#: Calls that take no device value: conversions of Rust itself, panics.
_NOT_DEVICE = frozenset(["Some", "Ok", "Err", "assert!", "panic!", "debug_assert!"])
_CONSTANTS = {
    "PI": math.pi,
    "TAU": math.tau,
    "E": math.e,
    "LN_2": math.log(2),
    "LN_10": math.log(10),
    "LOG2_E": 1 / math.log(2),
    "LOG10_E": 1 / math.log(10),
    "LOG2_10": math.log2(10),
    "LOG10_2": math.log10(2),
    "SQRT_2": math.sqrt(2),
    "FRAC_1_SQRT_2": math.sqrt(0.5),
    "FRAC_1_PI": 1 / math.pi,
    "FRAC_2_PI": 2 / math.pi,
    "FRAC_2_SQRT_PI": 2 / math.sqrt(math.pi),
    **{f"FRAC_PI_{n}": math.pi / n for n in (2, 3, 4, 6, 8)},
}
_LIMITS = {
    "f32": {"MAX": (2 - 2**-23) * 2.0**127, "MIN_POSITIVE": 2.0**-126, "EPSILON": 2.0**-23},
    "f64": {"MAX": (2 - 2**-52) * 2.0**1023, "MIN_POSITIVE": 2.0**-1022, "EPSILON": 2.0**-52},
}


@dataclass(frozen=True, slots=True)
class OddConstant:
    """A constant as it is written, and the same as a decimal ("" when there is none)."""

    place: Place
    statement: Place | None
    decimal: str
    call: str


def odd_constants(unit: KernelUnit, kernel: Kernel) -> list[OddConstant]:
    """Scientific literals and qualified float constants that reach a call of the device language, each place once."""
    return unit.crate.once((odd_constants, kernel.entry.name), lambda: list(_odd_constants(unit, kernel)))


def _odd_constants(unit: KernelUnit, kernel: Kernel) -> Iterator[OddConstant]:
    spans = [(source, module.span) for module, source in device_modules(unit)]
    seen: set[Place] = set()
    for event in kernel.calls:
        if event.arguments is None or event.name in _NOT_DEVICE:
            continue
        for place, decimal in _in_event(event):
            inside = any(source is place.source and span.covers(place.span) for source, span in spans)
            if inside and not any(one.source is place.source and one.span.covers(place.span) for one in seen):
                seen.add(place)
                near = event.statement if event.statement is not None and event.statement.span.covers(place.span) else None
                yield OddConstant(place, near, decimal, event.name.rsplit("::", 1)[-1])


def _in_event(event: Event) -> Iterator[tuple[Place, str]]:
    assert event.arguments is not None
    for value in event.arguments.positional:
        for one in subterms(value):
            if isinstance(one, Known) and isinstance(one.value, float) and one.place is not None:
                if (decimal := _plain(one.place.text)) is not None:
                    yield one.place, decimal
            elif isinstance(one, Term) and one.op == "external" and one.place is not None:
                if (decimal := _qualified(one.name)) is not None:
                    yield one.place, decimal
    node = event.node
    for arg in node.args if isinstance(node, syntax.Call) else ():
        for part in arg.walk():
            if isinstance(part, syntax.Const) and isinstance(part.value, float):
                place = Place(event.stop.source, part.span)
                if (decimal := _plain(place.text)) is not None:
                    yield place, decimal


def _plain(text: str) -> str | None:
    """The same number without an exponent; None for another text."""
    match = _SCIENTIFIC.fullmatch(text.strip())
    if match is None:
        return None
    from decimal import Decimal

    digits = format(Decimal(match.group(1).replace("_", "")).normalize(), "f")
    sign = "-" if text.lstrip().startswith("-") else ""
    return sign + (digits if "." in digits else digits + ".0") + (match.group(2) or "")


def _qualified(name: str) -> str | None:
    """The exact decimal of ``f32::consts::PI``; "" for one that has none (an infinity); None for other names."""
    match = _QUALIFIED.search(name)
    if match is None:
        return None
    kind = match.group(1) or "f32"
    constant = match.group(2) or match.group(4)
    limits = _LIMITS[kind]
    value = _CONSTANTS.get(constant, limits.get(constant, -limits["MAX"] if constant == "MIN" else None))
    if value is None:
        return ""
    from decimal import Decimal

    if kind == "f32":
        import struct

        value = struct.unpack("f", struct.pack("f", value))[0]
    digits = format(Decimal(value), "f")
    return (digits if "." in digits else digits + ".0") + kind


@dataclass(frozen=True, slots=True)
class AssociatedPadding:
    """``Some(E::ZERO)`` as it is written."""

    place: Place
    constant: str
    event: Event


def associated_paddings(unit: KernelUnit, kernel: Kernel) -> list[AssociatedPadding]:
    """Options with an associated constant that reach a call of the device language; f32's and f64's own are constants like others."""
    return unit.crate.once((associated_paddings, kernel.entry.name), lambda: list(_associated_paddings(kernel)))


def _associated_paddings(kernel: Kernel) -> Iterator[AssociatedPadding]:
    seen: set[Place] = set()
    for event in kernel.calls:
        for value in event.arguments.positional if event.arguments is not None and event.name not in _NOT_DEVICE else ():
            for one in subterms(value):
                name = _wrapped(one)
                if name and one.place is not None and one.place not in seen:
                    seen.add(one.place)
                    yield AssociatedPadding(one.place, name, event)


def _wrapped(value: Value) -> str:
    if not (isinstance(value, Term) and value.op == "call" and value.name == "Some" and value.args):
        return ""
    for inner in subterms(value.args[0]):
        # what is imported by its name alone belongs to no type
        if isinstance(inner, Term) and inner.op == "external" and (inner.place is None or "::" in inner.place.text):
            if _ASSOCIATED.match(inner.name) and _QUALIFIED.search(inner.name) is None:
                return inner.place.text if inner.place is not None else inner.name
    return ""
