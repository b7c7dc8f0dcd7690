"""What the flow map of an op consists of. Everything is text with places: reports lay it out, nothing else is known of the unit."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place

#: Marks of a row, the worst first: the value arrives elsewhere, it does not arrive, it arrives and something about it is wrong.
MARKS = ("crossed", "lost", "wrong")


@dataclass(frozen=True, slots=True)
class Mark:
    """A finding about a slot. ``kind`` is one of :data:`MARKS`."""

    kind: str
    code: str
    message: str
    place: Place


@dataclass(frozen=True, slots=True)
class Given:
    """What one Python call passes in a slot: the expression, and in ``value`` what it stands for (``cfg.NUM_CTAS: 1, 2, 4``)."""

    text: str
    place: Place
    value: str
    #: where the value comes from, the same text for the same source: ``cfg.NUM_CTAS``, ``a``, ``torch.empty``; "" when it is computed
    source: str
    #: "config", "input", "new", "constant", "computed"
    kind: str
    #: the call is timed by the tuner
    timed: bool


@dataclass(frozen=True, slots=True)
class Target:
    """What a slot becomes in a kernel launch. ``role`` as :class:`cutile_lint.unit.boundary.slots.Use`; ``text``: ``BM``, ``.occupancy(…)``."""

    role: str
    text: str
    order: int
    place: Place | None = None


def worst(marks: Iterable[Mark]) -> str:
    """The worst kind among marks; "" without any."""
    kinds = {mark.kind for mark in marks}
    return next((kind for kind in MARKS if kind in kinds), "")


@dataclass(slots=True, eq=False)
class Variant:
    """One kernel that the export launches, and when."""

    entry: str
    condition: str
    place: Place


@dataclass(slots=True, eq=False)
class SlotRow:
    """One slot of the boundary. ``becomes``: for each variant (by its position) what it is there."""

    index: int
    name: str
    type: str
    place: Place
    declared: tuple[str, str] | None
    declared_place: Place | None
    given: list[Given] = field(default_factory=list)
    becomes: list[list[Target]] = field(default_factory=list)
    option: str | None = None
    marks: list[Mark] = field(default_factory=list)

    @property
    def mark(self) -> str:
        """The worst mark; "" without any."""
        return worst(self.marks)

    def mark_in(self, entry: str, entries: Iterable[str]) -> str:
        """The worst mark for one of the kernels: a finding that names others of them is not about it."""
        named = [f"`{one}`" for one in entries]
        return worst(
            mark for mark in self.marks if f"`{entry}`" in mark.message or not any(name in mark.message for name in named)
        )


@dataclass(frozen=True, slots=True)
class Hop:
    """One station on the way of an option's value. ``mark`` as on rows: the way ends or turns here."""

    text: str
    place: Place
    mark: str = ""


@dataclass(slots=True, eq=False)
class OptionWay:
    """The way of one compile option in one Python call.

    ``status``: "arrives" (a value of a config or a constant), "auto" (left to the compiler in every call), one of :data:`MARKS`, or
    "unknown" with the reason in ``note``.
    """

    option: str
    slot: str
    #: what the configs give, in order; None where one leaves it open
    configs: list[int | None]
    hops: list[Hop]
    status: str
    note: str
    timed: bool
    #: entries that the setter reaches, and those that it does not
    reaches: list[str] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class ExportMap:
    """The boundary of one exported symbol."""

    symbol: str
    place: Place
    variants: list[Variant]
    rows: list[SlotRow]
    options: list[OptionWay]
    #: why the map has holes
    gaps: list[str] = field(default_factory=list)

    @property
    def marks(self) -> list[Mark]:
        return list({(mark.code, mark.place): mark for row in self.rows for mark in row.marks}.values())


@dataclass(slots=True, eq=False)
class OpMap:
    op: str
    wrapper: Path | None
    reference: str
    exports: list[ExportMap]
    gaps: list[str] = field(default_factory=list)

    @property
    def is_marked(self) -> bool:
        """A value is lost, crossed or wrong somewhere."""
        return any(export.marks for export in self.exports)
