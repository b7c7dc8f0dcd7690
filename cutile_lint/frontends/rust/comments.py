"""The comments of a Rust file, those inside macro bodies and macro arguments included.

Read from the text alone: a macro's tokens are opaque to the grammar, and no tree is needed to know a comment.
"""

from __future__ import annotations

from cutile_lint.frontends.rust.lexer import hidden
from cutile_lint.frontends.syntax import Comment
from cutile_lint.sources import Source, Span


def comments(source: Source) -> list[Comment]:
    """All ``//…`` and ``/*…*/`` comments (documentation comments too) in order."""
    data = source.data
    if b"//" not in data and b"/*" not in data:
        return []
    return [
        Comment(Span(start, end), data[start:end].decode("utf-8", "replace")) for start, end, comment in hidden(data) if comment
    ]
