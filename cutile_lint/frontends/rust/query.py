"""tree-sitter queries over Rust text, inside macro bodies and macro arguments too."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node, Query, QueryCursor, QueryError

from cutile_lint.frontends.rust.mend import mend
from cutile_lint.frontends.rust.reader import TooSlow, language, start_clock, tree
from cutile_lint.sources import Source, Span

#: macro text inside macro text
_DEEPEST = 6
_STATEMENTS = (b"fn f(){", b"}")
_ARGUMENTS = (b"fn f(){f(", b");}")


class BadQuery(ValueError):
    """The query does not compile; the text says where."""


@lru_cache(maxsize=64)
def compiled(query: str) -> Query:
    """Raises :class:`BadQuery`."""
    try:
        return Query(language(), query)
    except (QueryError, ValueError, SyntaxError) as error:
        raise BadQuery(str(error)) from None


def captures(source: Source, query: str) -> list[dict[str, Span]]:
    """The captures of each match, by name (the first node of each), in source order. Raises :class:`BadQuery`."""
    found: dict[tuple[tuple[str, Span], ...], dict[str, Span]] = {}
    wanted = compiled(query)
    start_clock()
    try:
        for match in _matches(source.data, 0, wanted, 0):
            found.setdefault(tuple(sorted(match.items())), match)
    except TooSlow:  # reading the file says so
        return []
    return sorted(found.values(), key=lambda match: sorted(match.values()))


def _matches(buffer: bytes, shift: int, query: Query, depth: int) -> Iterator[dict[str, Span]]:
    root = tree(buffer)
    for _, nodes in QueryCursor(query).matches(root):
        yield {name: Span(found[0].start_byte + shift, found[0].end_byte + shift) for name, found in nodes.items() if found}
    if depth < _DEEPEST:
        for node in _macro_texts(root):
            yield from _inside(buffer, node, shift, query, depth)


def _macro_texts(root: Node) -> Iterator[Node]:
    """Arms' bodies and invocations' arguments, the outermost only: what is in them is parsed again."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "macro_rule":
            right = node.child_by_field_name("right")
            if right is not None:
                yield right
        elif node.type == "macro_invocation":
            yield from (child for child in node.named_children if child.type == "token_tree")
        else:
            waiting += node.named_children


def _inside(buffer: bytes, node: Node, shift: int, query: Query, depth: int) -> Iterator[dict[str, Span]]:
    start, end = node.start_byte + 1, node.end_byte - 1
    mended, _ = mend(buffer[start:end], start, {})
    braces = buffer[node.start_byte : start] == b"{" or (
        node.type == "token_tree" and node.parent is not None and node.parent.type == "macro_rule"
    )
    before, behind = _STATEMENTS if braces else _ARGUMENTS
    offset = start + shift - len(before)
    inside = Span(start + shift, end + shift)
    for match in _matches(before + mended + behind, offset, query, depth + 1):
        if all(inside.covers(span) for span in match.values()):
            yield match
