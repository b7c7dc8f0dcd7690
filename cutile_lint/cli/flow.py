"""``cutile-lint flow``: where every value of an op goes, from the wrapper to the kernel."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from cutile_lint.cli.common import end
from cutile_lint.cli.ops import chosen_units, findings_about, ops_parser
from cutile_lint.engine.registry import builtin_rules
from cutile_lint.errors import UserError
from cutile_lint.reports.view import View, terminal_width, wants_color

FORMATS = ("text", "json", "markdown", "html")


def parser():
    made = ops_parser(
        "flow", "Show where each value of an op goes: wrapper, cdef, export, kernel; what is lost or crossed is marked."
    )
    made.add_argument("--output-format", choices=FORMATS, default="text", metavar="FORMAT", help=", ".join(FORMATS))
    made.add_argument("--output-file", type=Path, metavar="FILE", help="write the map there")
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    from cutile_lint.flow import op_map
    from cutile_lint.flow.marks import KINDS

    chosen = chosen_units(options)
    rules = [info for info in builtin_rules() if info.code in KINDS]
    maps = []
    for unit in chosen.units:
        findings, suppressed, errors = findings_about(unit, rules)
        chosen.errors += errors
        maps.append(op_map(unit, [*findings, *suppressed]))
    to_file = options.output_file is not None
    view = View(width=terminal_width(sys.stdout), color=not to_file and wants_color(sys.stdout, options.color))
    text = import_module(f"cutile_lint.reports.flow_{options.output_format}").render(maps, view)
    if to_file:
        try:
            options.output_file.write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UserError(f"{options.output_file}: {error.strerror}") from None
    else:
        sys.stdout.write(text)
    return end(chosen.errors)
