"""What a run says about its baseline: the entries that have become needless."""

from __future__ import annotations

from collections import Counter

from cutile_lint.engine.baseline import Baseline, Entry
from cutile_lint.reports.summary import plural
from cutile_lint.reports.text import clean
from cutile_lint.reports.view import View


def gone_report(gone: Counter[Entry], baseline: Baseline, view: View) -> str:
    """One line per entry that is no longer found, and how to take them out; empty when there is none."""
    if not gone:
        return ""
    lines = [f"  {clean(f'{entry.path}: {entry.code}' + _where(entry, count))}" for entry, count in sorted(gone.items())]
    head = f"{plural(gone.total(), 'known finding')} no longer there; `cutile-lint baseline` takes them out of {view.path(baseline.file)}:"
    return "".join(f"{line}\n" for line in (head, *lines))


def _where(entry: Entry, count: int) -> str:
    symbol = f" in `{entry.symbol}`" if entry.symbol else ""
    return f"{symbol}: {entry.text}" + (f" ({count} times)" if count > 1 else "")
