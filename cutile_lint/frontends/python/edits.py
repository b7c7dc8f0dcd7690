"""What the rewriting operations give."""

from __future__ import annotations

from cutile_lint.findings import Edit
from cutile_lint.records import dataclass
from cutile_lint.sources import Source


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Edits that belong together (sorted, disjoint); ``drops_comment``: a comment of the user's would be lost with them."""

    edits: tuple[Edit, ...]
    drops_comment: bool = False


def edit(source: Source, start: int, end: int, content: str) -> Edit:
    """An edit whose content gets the line endings of the file."""
    return Edit(source, start, end, content.replace("\n", source.newline) if source.newline != "\n" else content)
