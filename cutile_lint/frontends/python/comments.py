"""The comments of a Python file, also of one that does not parse.

``tokenize`` would tell the same (the tests compare), but before Python 3.12 it is slower than the whole parse, and it stops at
the first error; comments are read on every run, for suppressions.
"""

from __future__ import annotations

from cutile_lint.frontends.python.literals import Scan
from cutile_lint.frontends.syntax import Comment
from cutile_lint.regex import regex
from cutile_lint.sources import Source, Span

_NEXT = regex(rb"""#[^\r\n]*|'''|\"""|['"]""")


def comments(source: Source) -> list[Comment]:
    """All comments in source order; ``#`` in strings does not count."""
    return comments_in(source.data)


def comments_in(data: bytes) -> list[Comment]:
    if b"#" not in data:
        return []
    scan = Scan(data)
    found = scan.comments
    position = 0
    while match := _NEXT.search(data, position):
        if data[match.start()] == 0x23:
            found.append(match.span())
            position = match.end()
        else:
            position = scan.literal_end(match)
    return [Comment(Span(start, end), data[start:end].decode("utf-8", "replace")) for start, end in found]


def literals(source: Source) -> list[Span]:
    """The strings of a file, each from its opening quote to behind its closing one; a comment in a replacement field is inside."""
    data = source.data
    scan = Scan(data)
    found: list[Span] = []
    position = 0
    while match := _NEXT.search(data, position):
        position = match.end() if data[match.start()] == 0x23 else scan.literal_end(match)
        if data[match.start()] != 0x23:
            found.append(Span(match.start(), position))
    return found
