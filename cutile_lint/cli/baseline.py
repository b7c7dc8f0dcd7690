"""``cutile-lint baseline``: write down what is found today, so that only new findings fail."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from cutile_lint.cli.common import Started, checking_parser, end, started
from cutile_lint.engine.baseline import DEFAULT_NAME, Baseline, Entry, load_baseline
from cutile_lint.errors import UserError
from cutile_lint.reports.summary import plural
from cutile_lint.reports.view import View
from cutile_lint.sources.workspace import absolute


def parser() -> argparse.ArgumentParser:
    made = checking_parser(
        "baseline", "Write the findings of today to a baseline file; `check --baseline FILE` then passes over them."
    )
    made.add_argument("--output-file", type=Path, metavar="FILE", help=f"the baseline (default: configured, else {DEFAULT_NAME})")
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    run = started(options)
    if options.output_file is None and run.settings.baseline is not None and run.settings.leads_out(run.settings.baseline):
        raise UserError(
            f"{run.settings.file}: `baseline` leads out of the project; name it with --output-file to have it written"
        )
    file = absolute(options.output_file or run.settings.baseline or DEFAULT_NAME)
    is_new = not file.exists()
    old = Baseline(file) if is_new else load_baseline(file)
    findings = run.check()
    if run.errors:
        return end(run.errors)  # a run that failed may have found too little
    found = Counter(map(old.entry, findings))
    checked = {old.relative(path) for path in run.files}
    narrowed = options.select is not None or options.ignore is not None
    kept = Counter({entry: count for entry, count in old.counts.items() if _stays(entry, old, checked, narrowed, run)})
    fresh = Baseline(file, found | kept)
    if fresh.counts != old.counts or is_new:
        try:
            file.write_text(fresh.text(), encoding="utf-8", errors="backslashreplace", newline="\n")  # \udcff is JSON
        except OSError as error:
            raise UserError(f"{file}: the baseline cannot be written: {error.strerror or error}") from None
    added, removed = (fresh.counts - old.counts).total(), (old.counts - fresh.counts).total()
    print(f"{View().path(file)}: {plural(fresh.counts.total(), 'known finding')} ({added} added, {removed} removed).")
    if is_new and run.settings.baseline != file:
        print(f'`baseline = "{file.name}"` in the configuration, or `--baseline {View().path(file)}`, passes over them.')
    return 0


def _stays(entry: Entry, old: Baseline, checked: set[str], narrowed: bool, run: Started) -> bool:
    """Whether an old entry is outside of what this run looked at."""
    if not os.path.exists(os.path.join(old.file.parent, entry.path)):
        return False
    return entry.path not in checked or (narrowed and not run.settings.selects(entry.code))
