"""How a report is shown: where paths start, how wide lines are, and whether there is colour."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from cutile_lint.findings import Level
from cutile_lint.records import dataclass, field
from cutile_lint.reports.text import clean

_STYLES = {
    "bold": "1",
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "dim": "2",
    "help": "1;32",
    "add": "32",
    "remove": "31",
}


@dataclass(frozen=True, slots=True)
class View:
    """``root``: what machine formats take paths relative to; ``cwd``: the same for people; ``width``: columns of a line."""

    cwd: Path = field(default_factory=Path.cwd)
    root: Path | None = None
    width: int = 80
    color: bool = False
    #: errors of the run, for formats that have a place for them
    errors: tuple[str, ...] = ()

    def path(self, path: Path) -> str:
        """A path for people: below the current folder relative to it, else whole; always one harmless line."""
        name = clean(_below(path, self.cwd) or str(path))
        # at the start of a line it would be a command to the runner of GitHub or Azure
        return f"./{name}" if name.lstrip().startswith(("::", "##[", "##vso[")) else name

    def relative(self, path: Path) -> str:
        """A path for machines: with slashes, relative to the root where it is below it."""
        return (_below(path, self.root or self.cwd) or str(path)).replace(os.sep, "/")

    def style(self, name: str, text: str) -> str:
        return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if self.color and text else text

    def level(self, level: Level, text: str) -> str:
        return self.style(level.value, text)


def _below(path: Path, folder: Path) -> str:
    text, prefix = str(path), str(folder).rstrip(os.sep) + os.sep
    return text[len(prefix) :] if text.startswith(prefix) else ""


COLORS = ("auto", "always", "never")


def wants_color(stream: TextIO, choice: str = "auto", environment: Mapping[str, str] = os.environ) -> bool:
    """Colour on a terminal only; ``NO_COLOR`` takes it away, ``FORCE_COLOR`` brings it; a ``choice`` of :data:`COLORS` decides."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return environment.get("TERM") != "dumb" and stream.isatty()


def terminal_width(stream: TextIO, environment: Mapping[str, str] = os.environ) -> int:
    """Columns: ``COLUMNS``, else the terminal's, else 80; between 40 and 160."""
    given = environment.get("COLUMNS", "")
    if given.isdigit() and int(given):
        width = int(given)
    else:
        try:
            width = os.get_terminal_size(stream.fileno()).columns or 80
        except (OSError, ValueError, AttributeError):
            width = 80
    return max(40, min(width, 160))
