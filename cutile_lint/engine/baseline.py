"""The baseline: findings that a project has today and lives with, so that only new ones fail.

A finding is known by code, path below the baseline's folder, symbol around it and its text without regard to blanks; among
equals their number counts. Moved lines change nothing. The file has one line per entry, sorted, so that a diff reads well.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from cutile_lint.engine.identity import text_of
from cutile_lint.errors import UserError
from cutile_lint.findings import Finding

DEFAULT_NAME = "cutile-lint-baseline.json"
_VERSION = 1


class Entry(NamedTuple):
    """One kind of finding. ``path`` has slashes; fields are in the order of the file's sorting."""

    path: str
    code: str
    symbol: str
    text: str


class Baseline:
    """The entries of one file, with how often each may be found."""

    def __init__(self, file: Path, counts: Counter[Entry] | None = None) -> None:
        self.file = file
        self.counts = counts or Counter()

    def entry(self, finding: Finding) -> Entry:
        return Entry(self.relative(finding.path), finding.code, finding.symbol, text_of(finding))

    def relative(self, path: Path) -> str:
        """``path`` seen from the baseline's folder, with slashes; a path on another drive stays whole."""
        try:
            return os.path.relpath(path, self.file.parent).replace(os.sep, "/")
        except ValueError:
            return str(path).replace(os.sep, "/")

    def new(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that are not known. Of more equal ones than are known the later ones are new."""
        left = Counter(self.counts)
        unknown = []
        for finding in findings:
            entry = self.entry(finding)
            if left[entry] > 0:
                left[entry] -= 1
            else:
                unknown.append(finding)
        return unknown

    def gone(self, findings: Iterable[Finding], looked_for: Callable[[Path, str], bool]) -> Counter[Entry]:
        """Known findings that are no longer there, of those that the run looked for (path, code) and of files that are gone."""
        rest = self.counts - Counter(map(self.entry, findings))
        return Counter({entry: count for entry, count in rest.items() if self._was_looked_for(entry, looked_for)})

    def _was_looked_for(self, entry: Entry, looked_for: Callable[[Path, str], bool]) -> bool:
        path = Path(os.path.normpath(self.file.parent / entry.path))
        return looked_for(path, entry.code) or not path.exists()

    def text(self) -> str:
        """The file's content."""
        rows = [
            json.dumps({**entry._asdict(), **({"count": count} if count > 1 else {})}, ensure_ascii=False)
            for entry, count in sorted(self.counts.items())
        ]
        body = ",\n".join(f"  {row}" for row in rows)
        return (
            f'{{"version": {_VERSION}, "findings": [\n{body}\n]}}\n' if rows else f'{{"version": {_VERSION}, "findings": []}}\n'
        )


def load_baseline(file: Path) -> Baseline:
    """Read a baseline. Raises UserError naming the file when it is not there or is none."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{file}: no such baseline; `cutile-lint baseline` writes one") from None
    except OSError as error:
        raise UserError(f"{file}: the baseline cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: not a baseline: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("findings"), list):
        raise UserError(f"{file}: not a baseline of cutile-lint")
    if data.get("version") != _VERSION:
        raise UserError(f"{file}: a baseline of version {data.get('version')}; this cutile-lint knows version {_VERSION}")
    counts: Counter[Entry] = Counter()
    for row in data["findings"]:
        counts[_entry(row, file)] += row.get("count", 1)
    return Baseline(file, counts)


def _entry(row: Any, file: Path) -> Entry:
    known = {*Entry._fields, "count"}
    texts = isinstance(row, dict) and all(isinstance(row.get(field), str) for field in Entry._fields)
    if not texts or row.keys() - known or not isinstance(row.get("count", 1), int) or row.get("count", 1) < 1:
        raise UserError(f"{file}: not an entry of a baseline: {str(row)[:80]}")
    return Entry(*(row[field] for field in Entry._fields))
