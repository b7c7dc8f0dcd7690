"""``cutile-lint checklist``: the pre-submit checklist of ports, item by item, with evidence."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from cutile_lint.cli.common import end
from cutile_lint.cli.ops import chosen_units, findings_about, ops_parser
from cutile_lint.engine.registry import builtin_rules
from cutile_lint.errors import UserError
from cutile_lint.reports.view import View, terminal_width, wants_color

FORMATS = ("text", "json", "markdown")


def parser() -> argparse.ArgumentParser:
    made = ops_parser(
        "checklist", "Go through the pre-submit checklist of ports: each item passes, fails or is not verified, with evidence."
    )
    made.epilog = "exit status: 0, 1 for a failed item (or an unverified one with --require-verified), 2 for an error"
    made.add_argument("--require-verified", action="store_true", help="exit 1 for unverified items too")
    made.add_argument("--output-format", choices=FORMATS, default="text", metavar="FORMAT", help=", ".join(FORMATS))
    made.add_argument("--output-file", type=Path, metavar="FILE", help="write the checklist there")
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    from cutile_lint.checklist import ITEMS, Status, judge

    chosen = chosen_units(options)
    codes = {code for item in ITEMS for code in item.rules}
    rules = [info for info in builtin_rules() if info.code in codes]
    lists = []
    for unit in chosen.units:
        findings, suppressed, errors = findings_about(unit, rules)
        chosen.errors += errors
        lists.append(judge(unit, findings, suppressed, errors, {info.code for info in rules}))
    to_file = options.output_file is not None
    view = View(width=terminal_width(sys.stdout), color=not to_file and wants_color(sys.stdout, options.color))
    text = import_module(f"cutile_lint.reports.checklist_{options.output_format}").render(lists, view)
    if to_file:
        try:
            options.output_file.write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UserError(f"{options.output_file}: {error.strerror}") from None
    else:
        sys.stdout.write(text)
    bad = {Status.FAIL, Status.UNVERIFIED} if options.require_verified else {Status.FAIL}
    failed = any(verdict.status in bad for one in lists for verdict in one.verdicts)
    return end(chosen.errors) or int(failed)
