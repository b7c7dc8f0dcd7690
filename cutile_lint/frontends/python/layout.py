"""Where statements and arguments stand in the text: lines, indentation, blocks, the comments that belong to them.

Between two neighbouring nodes there are only blanks, punctuation, continuations and comments, never strings; that makes the
small searches here exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cutile_lint.frontends import syntax as s
from cutile_lint.frontends.python.comments import comments_in
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Source
from cutile_lint.sources.lines import line_end, line_start
from cutile_lint.sources.source import BOM

_CONTINUED = regex(rb"\\(?:\r\n|\r|\n)")
_COMMENT = regex(rb"#[^\r\n]*")
_REST_OF_LINE = regex(rb"[ \t\f]*(#[^\r\n]*)?(\r\n|\r|\n|\Z)")
_COMMENT_LINE = regex(rb"([ \t\f]*)#[^\r\n]*(?:\r\n|\r|\n)?\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """The statement list that a statement stands in, its index there, and what owns the list (None: the module)."""

    body: list[s.Stmt]
    index: int
    owner: s.Node | None

    @property
    def before(self) -> s.Stmt | None:
        return self.body[self.index - 1] if self.index else None

    @property
    def after(self) -> s.Stmt | None:
        return self.body[self.index + 1] if self.index + 1 < len(self.body) else None


def block_of(module: s.Module, statement: s.Stmt) -> Block | None:
    """The block of a statement; None when the statement is not one of the module's (a lambda's value, for instance)."""
    pending: list[tuple[list[s.Stmt], s.Node | None]] = [(module.body, None)]
    while pending:
        body, owner = pending.pop()
        for index, item in enumerate(body):
            if item is statement:
                return Block(body, index, owner)
            if item.span.covers(statement.span):
                pending.extend(blocks_in(item))
    return None


def blocks_in(statement: s.Stmt) -> Iterator[tuple[list[s.Stmt], s.Node]]:
    """The statement lists directly in a statement, in source order, each with its owner."""
    owner: s.Node = statement.function if isinstance(statement, s.FunctionDef) else statement
    for name in owner.NODE_FIELDS:
        value = getattr(owner, name)
        if not isinstance(value, list) or not value:
            continue
        if isinstance(value[0], s.Stmt):
            yield value, owner
        elif isinstance(value[0], (s.Handler, s.Arm)):
            yield from ((part.body, part) for part in value)


def statements(body: list[s.Stmt]) -> Iterator[s.Stmt]:
    """All statements in source order, outer ones first."""
    for item in body:
        yield item
        for inner, _ in blocks_in(item):
            yield from statements(inner)


def enclosing(module: s.Module, node: s.Node) -> s.Node | None:
    """The node directly around ``node``; None for a statement of the module."""
    stack: list[tuple[s.Node, s.Node | None]] = [(item, None) for item in module.body if item.span.covers(node.span)]
    while stack:
        item, parent = stack.pop()
        if item is node:
            return parent
        stack.extend((child, item) for child in item.children())
    return None


def is_spread(module: s.Module, node: s.Node) -> bool:
    """``*`` or ``**`` before a node spreads it: it stands for several values."""
    outer = enclosing(module, node)
    if isinstance(outer, s.Mapping):
        return any(key is None and value is node for key, value in outer.items)
    return (isinstance(outer, s.Arg) and outer.spread != "") or (isinstance(outer, s.Unary) and outer.op == "*splat")


def trailing(source: Source, offset: int) -> re.Match[bytes] | None:
    """The rest of a line when only blanks and perhaps a comment (group 1) are left of it; group 2 is the line ending."""
    source.part(offset, line_end(source, offset))
    return _REST_OF_LINE.match(source.raw, offset)


def without_comments(text: bytes) -> bytes:
    """``text`` between two nodes with its comments blanked, so that offsets stay."""
    return _COMMENT.sub(lambda match: b" " * len(match.group()), text)


def has_comment(source: Source, start: int, end: int) -> bool:
    """Whether a comment stands in ``[start, end)``, which may hold whole nodes."""
    if b"#" not in source.part(start, end):
        return False
    return any(start <= item.span.start < end for item in comments_in(source.raw))


def same_line(source: Source, left: int, right: int) -> bool:
    """Whether no line ends between two neighbouring nodes (``\\`` continues it)."""
    between = _CONTINUED.sub(b"", without_comments(source.part(left, right)))
    return b"\n" not in between and b"\r" not in between


def indentation(source: Source, offset: int) -> str | None:
    """The blanks before ``offset`` when nothing else is before it on its logical line; None otherwise."""
    start = line_start(source, offset)
    before = source.part(start, offset)
    if before.strip(b" \t\f"):
        return None
    above = source.part(line_start(source, max(start - 1, 0)), start)
    if start > len(BOM) and above.rstrip(b"\r\n").endswith(b"\\") and not above.lstrip().startswith(b"#"):
        return None
    return before.rpartition(b"\f")[2].decode()


def own_comments(source: Source, offset: int) -> tuple[int, int]:
    """Start of the comment lines directly above the line of ``offset``, indented like it, and how many they are.

    Comments that a file starts with (licence, encoding) belong to the file.
    """
    first = start = line_start(source, offset)
    begin, count = line_start(source, 0), 0
    known = {item.span.start for item in comments_in(source.raw)}
    while start > begin:
        above = line_start(source, start - 1)
        found = _COMMENT_LINE.match(source.part(above, start))
        if not found or found.group(1) != source.part(first, offset) or above + found.end(1) not in known:
            return start, count
        start, count = above, count + 1
    return first, 0


def before_line_ending(source: Source, offset: int) -> int:
    """``offset``, a line's start, moved before the line ending above it."""
    if source.part(max(offset - 2, 0), offset) == b"\r\n":
        return offset - 2
    return offset - 1 if offset > line_start(source, 0) else offset


def is_elif(source: Source, statement: s.Stmt) -> bool:
    return isinstance(statement, s.If) and source.part(statement.span.start, statement.span.start + 4) == b"elif"
