"""``cutile-lint clean``: remove cached results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from cutile_lint.cache.store import clean, folder_of
from cutile_lint.cli.common import command_parser
from cutile_lint.cli.options import start_folder
from cutile_lint.config import Configurations
from cutile_lint.reports.summary import plural
from cutile_lint.reports.view import View


def parser() -> argparse.ArgumentParser:
    made = command_parser("clean", "Remove the cached results of the current folder, or of the one that PATH is in.")
    made.add_argument("path", nargs="?", metavar="PATH", help="file or folder (default: .)")
    made.add_argument("--cache-dir", type=Path, metavar="DIR", help="where they are kept")
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    start = start_folder([options.path] if options.path else [])
    folder = folder_of(options.cache_dir, Configurations().for_folder(start), start)
    removed = clean(str(folder))
    sys.stdout.write(f"Removed {plural(removed, 'file')} from {View().path(folder)}.\n")
    return 0
