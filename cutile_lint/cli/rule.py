"""``cutile-lint rule``: what a rule says, why, and how to mend it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from cutile_lint.cli.options import Parser, add_color
from cutile_lint.config import Configurations
from cutile_lint.engine.registry import registry
from cutile_lint.errors import UserError
from cutile_lint.reports.view import View, terminal_width, wants_color


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="cutile-lint rule", description="Explain rules: by code, start of a code (CTL1) or name.", allow_abbrev=False
    )
    made.add_argument("codes", nargs="*", metavar="CODE", help="a code, the start of one, or a rule's name")
    made.add_argument("--all", action="store_true", help="list all rules")
    add_color(made)
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    if options.all == bool(options.codes):
        raise UserError("`rule` takes a CODE, or --all")
    settings = Configurations().for_folder(View().cwd)
    # pages are read, no rule is run: that needs no trust
    rules = registry((*settings.rule_paths, *settings.untrusted_rule_paths))
    view = View(width=min(100, terminal_width(sys.stdout)), color=wants_color(sys.stdout, options.color))
    if options.all:
        from cutile_lint.reports.rules import listing

        sys.stdout.write(listing(rules.rules, view))
        return 0
    from cutile_lint.engine.rule_docs import load_doc
    from cutile_lint.reports.rules import page

    found = {info.code: info for code in options.codes for info in rules.matching(code)}
    sys.stdout.write("\n".join(page(load_doc(info), view) for info in found.values()))
    return 0
