"""The end of a run with ``--fix``: changed texts to disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cutile_lint.sources.files import write_atomically


def write_changes(changed: Mapping[Path, bytes], originals: Mapping[Path, bytes]) -> dict[Path, str]:
    """Write each file whole, in order of path. Returns what went wrong, by path; the other files are written all the same."""
    failures = {}
    for path in sorted(changed):
        try:
            write_atomically(path, changed[path], expected=originals[path])
        except OSError as error:
            failures[path] = error.strerror or str(error)
    return failures
