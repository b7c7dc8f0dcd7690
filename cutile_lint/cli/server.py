"""``cutile-lint server``: the language server."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from cutile_lint.cli.common import command_parser
from cutile_lint.cli.options import add_configuration
from cutile_lint.errors import UserError


def parser() -> argparse.ArgumentParser:
    made = command_parser("server", "Speak the language server protocol (3.17) over standard input and output.")
    add_configuration(made)
    made.add_argument("--stdio", action="store_true", help="accepted for clients that pass it; there is no other way")
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    try:
        from cutile_lint.server.app import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UserError("the server needs pygls: pip install 'cutile-lint[lsp]'") from None
    return serve(options.trust_project_rules, options.config)
