"""What commands share that check files besides ``check`` itself: options, files, and the end of a run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from cutile_lint.cli.options import Help, Parser, add_configuration, add_selection, overrides, start_folder
from cutile_lint.config import Configurations, Settings
from cutile_lint.engine import api
from cutile_lint.findings import Finding
from cutile_lint.records import dataclass, field


def command_parser(command: str, description: str) -> argparse.ArgumentParser:
    """A parser whose help fits a screen."""
    return Parser(prog=f"cutile-lint {command}", description=description, formatter_class=Help, allow_abbrev=False)


def checking_parser(command: str, description: str) -> argparse.ArgumentParser:
    """A parser with PATHS, the selection of rules and the choice of configuration."""
    made = command_parser(command, description)
    made.add_argument("paths", nargs="*", metavar="PATH", help="files or folders (default: .)")
    add_selection(made)
    add_configuration(made)
    return made


@dataclass(slots=True)
class Started:
    """Settings and files of a run. ``settings`` are those of the first path."""

    configurations: Configurations
    settings: Settings
    files: list[Path]
    unlisted: dict[Path, str]
    errors: list[str] = field(default_factory=list)

    def check(self) -> list[Finding]:
        report = api.check_files(self.files, self.configurations, unlisted=self.unlisted)
        self.errors += report.errors
        return report.findings


def started(options: argparse.Namespace) -> Started:
    """Settings and files of the paths; what is wrong with single paths is kept for the end. Raises UserError."""
    configurations = Configurations(config=options.config, overrides=overrides(options), trust_rules=options.trust_project_rules)
    found = api.find_files(options.paths, configurations)
    settings = configurations.for_folder(start_folder(options.paths))
    errors = [f"{path}: {reason}" for path, reason in found.missing.items()]
    return Started(configurations, settings, found.files, found.unlisted, errors)


def end(errors: Iterable[str]) -> int:
    """Tell the errors of a run after all other output; 2 if there were any, else 0."""
    from cutile_lint.reports.text import clean

    sys.stdout.flush()
    status = 0
    for error in errors:
        print(f"cutile-lint: error: {clean(error)}", file=sys.stderr)
        status = 2
    return status
