"""Rust sources as the nodes of ``frontends.syntax``: ``parse``, ``comments`` and the edits of ``rewrite``.

tree-sitter is imported with the first call of :func:`parse`, not before.
"""

from __future__ import annotations

from cutile_lint.frontends.rust.comments import comments
from cutile_lint.frontends.syntax import Module
from cutile_lint.sources import Source

__all__ = ["comments", "parse"]


def parse(source: Source) -> Module:
    """Read a Rust file; syntax errors are in ``Module.faults``, a file beyond the limits has ``Module.refused``."""
    from cutile_lint.frontends.rust import parser

    return parser.parse(source)
