"""What is said about an item: its status, and each piece of evidence with the place where it was seen."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place

if TYPE_CHECKING:
    from cutile_lint.checklist.items import Item


class Status(Enum):
    PASS = "pass"
    FAIL = "fail"
    UNVERIFIED = "unverified"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One sentence with code in backticks; ``place`` is where it was seen, ``path`` the file when there is no place in it."""

    text: str
    place: Place | None = None
    path: Path | None = None
    #: the rule that says it; "" for what was verified beside the rules
    code: str = ""

    @property
    def file(self) -> Path | None:
        return self.place.path if self.place is not None else self.path

    @property
    def row(self) -> int | None:
        return self.place.start[0] if self.place is not None else None


class Shown(Evidence):
    """It is as the item wants it, here."""

    __slots__ = ()


class Open(Evidence):
    """It could not be told, and why."""

    __slots__ = ()


class Failed(Evidence):
    """It is not as the item wants it."""

    __slots__ = ()


class Absent(Evidence):
    """The item has nothing to say about this op, and why."""

    __slots__ = ()


@dataclass(slots=True)
class Verdict:
    """The status of one item, and what it stands on: what decided it first."""

    item: Item
    status: Status
    evidence: list[Evidence] = field(default_factory=list)


@dataclass(slots=True)
class OpChecklist:
    op: str
    wrapper: Path | None
    verdicts: list[Verdict]
    #: rules that failed on the op: their items are not verified
    errors: list[str] = field(default_factory=list)

    def having(self, status: Status) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.status is status]
