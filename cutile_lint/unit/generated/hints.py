"""``optimization_hints`` of generated entries beside those of the reference IR."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass
from cutile_lint.sources import Source, Span
from cutile_lint.unit.generated.ir import GeneratedEntry

if TYPE_CHECKING:
    from cutile_lint.frontends.ir import Hints, IrEntry

#: the table of hints for every architecture
DEFAULT_ARCH = "default"
_NAMES = ("num_cta_in_cga", "occupancy")


@dataclass(frozen=True, slots=True)
class HintMismatch:
    """A hint with its two values; None: there is no such hint. ``span`` is in the generated text, ``reference_span`` in ``source``."""

    name: str
    arch: str
    generated: object
    reference: object
    span: Span
    reference_span: Span
    source: Source


def hint_mismatches(one: GeneratedEntry) -> Iterator[HintMismatch]:
    """Hints that fit no entry of the reference, each option once."""
    for name in _NAMES:
        against = [(ir, source, _differences(one.ir.hints, ir.hints, name)) for ir, source in one.references]
        if not against or not all(differences for _, _, differences in against):
            continue
        ir, source, differences = against[0]
        arch = differences[0]
        own, other = one.ir.hints.get(name, arch), ir.hints.get(name, arch)
        yield HintMismatch(
            name, arch, own.value if own else None, other.value if other else None,
            own.span if own else one.ir.name_span, other.span if other else _where(ir), source,
        )  # fmt: skip


def _where(ir: IrEntry) -> Span:
    return ir.hints.span or ir.name_span


def _differences(own: Hints, other: Hints, name: str) -> list[str]:
    """Architectures for which the two give another value; those that only one of them was compiled for say nothing."""
    archs = {arch for arch in {*own.by_arch, *other.by_arch} if _covers(own, arch) and _covers(other, arch)}
    if len(archs) > 1:
        archs.discard(DEFAULT_ARCH)
    return [arch for arch in sorted(archs) if _value(own, name, arch) != _value(other, name, arch)]


def _covers(hints: Hints, arch: str) -> bool:
    """The text was compiled for the architecture: it has a table for it or for any, or no table at all."""
    return not hints.by_arch or arch in hints.by_arch or DEFAULT_ARCH in hints.by_arch


def _value(hints: Hints, name: str, arch: str) -> object:
    found = hints.get(name, arch)
    return found.value if found is not None else None
