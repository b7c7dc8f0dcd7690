"""Python files: the standard ``ast`` read into the common syntax tree, comments, and rewriting."""

from __future__ import annotations

from cutile_lint.frontends.python.comments import comments
from cutile_lint.frontends.python.parser import MAX_BYTES, parse

__all__ = ["MAX_BYTES", "comments", "parse"]
