"""``--diff``: what would change, as one unified diff."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from cutile_lint.reports.text import clean
from cutile_lint.reports.view import View


def unified(originals: Mapping[Path, bytes], changed: Mapping[Path, bytes], view: View) -> str:
    """The diff of all files in order of path; line endings are those of the files, so that ``patch`` can apply it."""
    return "".join(
        "".join(_file(path, originals[path].decode("utf-8"), changed[path].decode("utf-8"), view)) for path in sorted(changed)
    )


def _file(path: Path, before: str, after: str, view: View) -> Iterable[str]:
    from difflib import unified_diff

    name = view.path(path)
    for line in unified_diff(_lines(before), _lines(after), name, name):
        style = {"+": "add", "-": "remove"}.get(line[0])
        head = line.startswith(("--- ", "+++ ")) and line.rstrip("\n")[4:] == name
        body, end = (line[:-1], "\n") if line.endswith("\n") else (line, "\n\\ No newline at end of file\n")
        if view.color:
            body = clean(body.rstrip("\r").replace("\t", "    "))
        yield (view.style("bold", body) if head else view.style(style, body) if style else body) + end


def _lines(text: str) -> list[str]:
    """Lines that end at LF only: the diff's own notion of a line."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
