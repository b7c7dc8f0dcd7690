"""The options of ``check``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from cutile_lint import __version__
from cutile_lint.config import Settings
from cutile_lint.config.settings import OUTPUT_FORMATS
from cutile_lint.records import replace
from cutile_lint.reports.view import COLORS, terminal_width
from cutile_lint.sources.workspace import absolute

EPILOG = """\
commands: check (the default), rule, checklist, flow, add-ignore, baseline,
          config, clean, new-rule, test-rules, completion, server
exit status: 0 clean, 1 findings at or above --min-level, 2 an error of usage, configuration or cutile-lint"""


class Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=terminal_width(sys.stdout) - 2)


class Parser(argparse.ArgumentParser):
    """A parser that says which option a mistyped one may be."""

    def error(self, message: str) -> NoReturn:
        head, _, rest = message.partition("unrecognized arguments: ")
        word = rest.split(" ")[0].partition("=")[0]
        if not head and word.startswith("--"):
            from cutile_lint.config.keys import suggestion

            message += suggestion(word, self._option_string_actions)
        super().error(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        """As `print` does: help that could not be written is no success."""
        (file or sys.stderr).write(message)


def parser() -> argparse.ArgumentParser:
    """The parser of ``check``; ``--help`` fits a screen."""
    made = Parser(
        prog="cutile-lint",
        usage="cutile-lint [check] [PATH ...] [options]",
        description="Reads the layers of TileGym cutile-rs ops together, and finds and fixes their faults.",
        epilog=EPILOG,
        formatter_class=Help,
        allow_abbrev=False,
    )
    add = made.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or folders (default: .; -: standard input)")
    add("--fix", action="store_true", help="apply safe fixes")
    add("--unsafe-fixes", action="store_true", help="with --fix or --diff: unsafe ones too")
    add("--diff", action="store_true", help="show what --fix would change, write nothing")
    add_selection(made)
    add("--output-format", choices=OUTPUT_FORMATS, metavar="FORMAT", help="full, concise, json, json-lines, sarif, …")
    add("--output-file", type=Path, metavar="FILE", help="write the report there")
    add("-q", "--quiet", action="store_true", help="findings and errors only: no summary, no account of fixes")
    add_color(made)
    add("--statistics", action="store_true", help="count findings by rule")
    add("--exit-zero", action="store_true", help="exit 0 even with findings")
    add("--exit-non-zero-on-fix", action="store_true", help="exit 1 when a fix was applied")
    add_configuration(made)
    add("--stdin-filename", type=Path, metavar="PATH", help="the name of the text on standard input")
    add("--baseline", type=Path, metavar="FILE", help="pass over the findings in this baseline")
    add("--no-baseline", action="store_true", help="heed no baseline, not even the configured one")
    add("--watch", action="store_true", help="check again after each change of a file")
    add("--no-cache", action="store_true", help="neither read nor write cached results")
    add("--cache-dir", type=Path, metavar="DIR", help="keep cached results there")
    add("-j", "--jobs", type=_jobs, metavar="N", help="number of processes")
    add("-V", "--version", action="version", version=f"cutile-lint {__version__}")
    return made


def add_color(made: argparse.ArgumentParser) -> None:
    made.add_argument("--color", choices=COLORS, default="auto", metavar="WHEN", help="auto, always or never")


def add_selection(made: argparse.ArgumentParser) -> None:
    """The options that choose rules and the level that counts."""
    add = made.add_argument
    add("--select", action="append", type=_codes, metavar="CODES", help="rules to run: CTL101,CTL2,ALL or names")
    add("--ignore", action="append", type=_codes, metavar="CODES", help="rules to leave out")
    add("--extend-select", action="append", type=_codes, metavar="CODES", help="rules to run besides the selected ones")
    add("--min-level", type=_level, metavar="LEVEL", help="info, warning (default) or error: fails the run")


def add_configuration(made: argparse.ArgumentParser) -> None:
    """The options that choose the configuration."""
    made.add_argument("--config", type=Path, metavar="FILE", help="use this configuration file only")
    made.add_argument("--trust-project-rules", action="store_true", help="load rule-paths of discovered configuration")


def overrides(options: argparse.Namespace) -> Callable[[Settings], Settings]:
    """The command line laid over a file's settings: ``--select`` starts the selection anew, the others add or replace."""

    def apply(settings: Settings) -> Settings:
        changes: dict[str, Any] = {}
        if options.select is not None:
            changes |= {"select": _joined(options.select), "extend_select": (), "ignore": ()}
        if options.ignore is not None:
            changes["ignore"] = changes.get("ignore", settings.ignore) + _joined(options.ignore)
        if options.extend_select is not None:
            changes["extend_select"] = changes.get("extend_select", settings.extend_select) + _joined(options.extend_select)
        if options.min_level is not None:
            changes["min_level"] = options.min_level
        if getattr(options, "output_format", None) is not None:
            changes["output_format"] = options.output_format
        return replace(settings, **changes) if changes else settings

    return apply


def start_folder(paths: list[str]) -> Path:
    """The folder whose settings hold for the run as a whole: that of the first path."""
    start = Path(paths[0]) if paths and os.path.exists(paths[0]) else Path.cwd()
    return absolute(start if os.path.isdir(start) else start.parent)


def _joined(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(code for codes in lists for code in codes)


def _codes(text: str) -> tuple[str, ...]:
    from cutile_lint.config.keys import Wrong, selectors

    words = [word.strip() for word in text.split(",") if word.strip()]
    try:
        return selectors(words)
    except Wrong as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def _level(text: str) -> object:
    from cutile_lint.config.keys import Wrong, level

    try:
        return level(text)
    except Wrong as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def _jobs(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"takes a number from 1, not `{text}`")
    return int(text)
