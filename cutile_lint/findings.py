"""What a rule yields: a finding with its place, the places related to it, and perhaps a fix."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place, Source


class Level(Enum):
    """Severity, weakest first."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        return ("info", "warning", "error").index(self.value)


class Applicability(Enum):
    """How far a fix may be trusted: ``safe`` is applied by ``--fix``, ``unsafe`` needs ``--unsafe-fixes``."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes ``[start, end)`` of ``source`` by ``content`` (line endings as in the source)."""

    source: Source
    start: int
    end: int
    content: str

    @property
    def path(self) -> Path:
        return self.source.path


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together: all of them are applied, or none."""

    message: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE


@dataclass(frozen=True, slots=True)
class Related:
    """A place that explains a finding: a hop of a flow, the other owner, the declaration."""

    place: Place
    message: str


@dataclass(slots=True)
class Finding:
    """One diagnostic. ``code``, ``name`` and ``level`` are filled from the rule's metadata by the engine."""

    place: Place
    message: str
    help: str = ""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    ops: tuple[str, ...] = ()
    code: str = ""
    name: str = ""
    level: Level = Level.ERROR
    #: the statement the finding stands in, for suppressions (its first and last line count); None: the place itself
    statement: Place | None = None
    #: qualified name of the function around it, for baselines
    symbol: str = ""
    url: str = field(default="", compare=False)
    #: set by a rule whose level depends on the evidence (the catalogue says when); None: the rule's own level
    level_override: Level | None = None

    @property
    def path(self) -> Path:
        return self.place.path

    def sort_key(self) -> tuple[str, int, int, str, str]:
        return (str(self.path), self.place.span.start, self.place.span.end, self.code, self.message)
