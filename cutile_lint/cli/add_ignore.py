"""``cutile-lint add-ignore``: write a suppression comment for each finding."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.cli.common import Started, checking_parser, end, started
from cutile_lint.errors import UserError
from cutile_lint.findings import Finding
from cutile_lint.reports.text import clean
from cutile_lint.reports.view import View

if TYPE_CHECKING:
    from cutile_lint.fixes.suppress import Plan


def parser() -> argparse.ArgumentParser:
    made = checking_parser("add-ignore", "Write a suppression comment for each finding at or above --min-level.")
    made.add_argument("--reason", default="", metavar="TEXT", help="put this behind each comment")
    made.add_argument("--diff", action="store_true", help="show what would change, write nothing")
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    if any(char in options.reason for char in "\r\n"):
        raise UserError("--reason takes one line")
    run = started(options)
    wanted = [finding for finding in run.check() if finding.level.rank >= run.settings.min_level.rank]
    made, changed, before = _commented(run, options, wanted)
    if options.diff:
        from cutile_lint.reports.diff import unified

        sys.stdout.write(unified(before, changed, View()))
    else:
        from cutile_lint.fixes import write_changes

        for path, problem in write_changes(changed, before).items():
            run.errors.append(f"{path}: not written: {problem}")
    _tell(made, len(changed), options.diff)
    return end(run.errors) or int(bool(made.refused))


def _commented(
    run: Started, options: argparse.Namespace, wanted: list[Finding]
) -> tuple[Plan, dict[Path, bytes], dict[Path, bytes]]:
    """The plan as far as it holds, the new texts, and the old ones."""
    from cutile_lint.findings import Fix
    from cutile_lint.fixes.apply import apply
    from cutile_lint.fixes.scope import scope_of
    from cutile_lint.fixes.style import restyle
    from cutile_lint.fixes.suppress import plan
    from cutile_lint.fixes.verify import broken_by

    scope = scope_of(options.paths, run.configurations)
    barred = {finding.path: scope.refusal(finding.path) for finding in wanted}
    made = plan([finding for finding in wanted if not barred[finding.path]], options.reason)
    made.refused += [(finding, barred[finding.path]) for finding in wanted if barred[finding.path]]
    before = {edit.path: edit.source.data for edit in made.edits}
    changed = apply([Fix("", (edit,)) for edit in made.edits], before)
    for path in list(changed):
        reason = broken_by(path, before[path], changed[path])
        if reason:
            made.refused += [(finding, reason) for finding in made.silenced if finding.path == path]
            made.silenced = [finding for finding in made.silenced if finding.path != path]
            del changed[path]
        else:
            changed[path] = restyle(path, before[path], changed[path])
    return made, changed, before


def _tell(made: Plan, files: int, would: bool) -> None:
    from cutile_lint.reports.summary import plural

    view = View()
    for finding, reason in made.refused:
        row, column = finding.place.start
        print(f"not silenced: {view.path(finding.path)}:{row}:{column}: {finding.code}: {clean(reason)}", file=sys.stderr)
    verb = "Would silence" if would else "Silenced"
    print(f"{verb} {plural(len(made.silenced), 'finding')} in {plural(files, 'file')}.", file=sys.stderr)
