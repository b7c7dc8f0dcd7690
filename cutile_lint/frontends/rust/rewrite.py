"""Edits of Rust text that fixes are made of.

Lines get the file's own line ending, new lines the indentation of their neighbour.
"""

from __future__ import annotations

from cutile_lint.findings import Edit
from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust.lexer import hidden
from cutile_lint.records import dataclass
from cutile_lint.sources import Source, Span
from cutile_lint.sources.lines import line_end, line_start

#: what a method can be called on without parentheses around it
_POSTFIX = (syntax.Attr, syntax.Call, syntax.Name, syntax.Index, syntax.Sequence, syntax.Const, syntax.Repeat, syntax.Block)


@dataclass(frozen=True, slots=True)
class Deletion:
    """The edit, and whether a comment goes with it (then the fix is unsafe)."""

    edit: Edit
    drops_comment: bool


def replace(source: Source, span: Span, text: str) -> Edit:
    """Put ``text`` in the place of a span."""
    return Edit(source, span.start, span.end, _with_newline(source, text))


def insert_before(source: Source, statement: Span, text: str) -> Edit:
    """``text`` as a statement of its own before another, on the line(s) above when that one begins its line."""
    indent, alone = _indent(source, statement.start)
    gap = source.newline + indent if alone else " "
    return Edit(source, statement.start, statement.start, _indented(source, text, indent) + gap)


def insert_after(source: Source, statement: Span, text: str) -> Edit:
    """``text`` as a statement after another: on the next line (behind a comment of that one) when nothing else follows."""
    indent, _ = _indent(source, statement.start)
    end = _line_end(source, statement.end)
    rest = source.part(statement.end, end).strip()
    if rest and not _is_comment(rest):
        return Edit(source, statement.end, statement.end, " " + _indented(source, text, indent))
    return Edit(source, end, end, source.newline + indent + _indented(source, text, indent))


def begins_in_block(module: syntax.Module, statement: syntax.Stmt) -> bool:
    """Other statements can stand before this one: it is not the bare value of a match arm, a closure or a macro's arm."""
    around: list[syntax.Node] = [node for node in module.body if node.span.covers(statement.span)]
    if not around:
        return False
    before = module.source.part(around[0].span.start, statement.span.start)
    while around:
        node = around.pop()
        if isinstance(node, syntax.MacroArm) and not node.block and len(node.body) == 1 and node.body[0] is statement:
            return False  # its braces are the arm's, and may stand for an expression
        around += [child for child in node.children() if child.span.covers(statement.span)]
    return _without_comments(before).rstrip().endswith((b"{", b"}", b";"))


def comments_in(text: bytes) -> list[str]:
    """The comments of a piece of Rust text."""
    return [text[start:end].decode() for start, end, comment in hidden(text) if comment]


def _without_comments(text: bytes) -> bytes:
    found = bytearray(text)
    for start, end, comment in hidden(text):
        if comment:
            found[start:end] = b" " * (end - start)
    return bytes(found)


def delete(source: Source, statement: Span) -> Deletion:
    """Take a statement away: with its lines when nothing else stands on them (a comment behind it goes too), else alone."""
    inside = any(comment for _, _, comment in hidden(source.part(*statement)))
    first, last = line_start(source, statement.start), _line_end(source, statement.end)
    before, after = source.part(first, statement.start), source.part(statement.end, last)
    if not before.strip() and (not after.strip() or _is_comment(after.strip())):
        end = line_end(source, last)
        if end == last and first > 0:  # the last line of a file without a final newline
            first = _line_end(source, line_start(source, first - 1))
        return Deletion(Edit(source, first, end, ""), inside or bool(after.strip()))
    start, end = statement.start, statement.end + len(after) - len(after.lstrip(b" \t"))
    if end == last:  # last on its line: the blanks before it go
        start -= len(before) - len(before.rstrip(b" \t"))
    return Deletion(Edit(source, start, end, ""), inside)


def append_call(source: Source, value: syntax.Expr, call: str) -> list[Edit]:
    """Append ``.name(arguments)`` to an expression: on a line of its own where the chain stands one call a line, else directly.

    An expression that a method call would bind tighter than (``-x``, ``a + b``, ``x as T``) gets parentheses.
    """
    call = _with_newline(source, call)
    end = value.span.end
    if not isinstance(value, _POSTFIX) and not (isinstance(value, syntax.Unary) and value.op in ("?", "await")):
        start = value.span.start
        return [Edit(source, start, start, "("), Edit(source, end, end, ")" + call)]
    indent = _chain_indent(source, value)
    return [Edit(source, end, end, call if indent is None else source.newline + indent + call)]


def _chain_indent(source: Source, value: syntax.Expr) -> str | None:
    """Indentation of the last link when it begins its line; None for a chain on one line."""
    link = value
    while isinstance(link, syntax.Unary) and link.op in ("?", "await"):
        link = link.operand
    if isinstance(link, syntax.Call):
        link = link.func
    if not isinstance(link, syntax.Attr):
        return None
    dot = source.part(link.base.span.end, link.name_span.start).rfind(b".")
    indent, alone = _indent(source, link.base.span.end + dot)
    return indent if alone and dot != -1 else None


def _indent(source: Source, offset: int) -> tuple[str, bool]:
    """The indentation of the line of an offset, and whether only that stands before the offset."""
    start = line_start(source, offset)
    before = source.part(start, offset)
    blank = len(before) - len(before.lstrip(b" \t"))
    return before[:blank].decode(), blank == len(before)


def _indented(source: Source, text: str, indent: str) -> str:
    return _with_newline(source, text).replace(source.newline, source.newline + indent)


def _with_newline(source: Source, text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", source.newline)


def _line_end(source: Source, offset: int) -> int:
    """Offset behind the last byte of a line, its line ending not counted."""
    start = line_start(source, offset)
    return start + len(source.part(start, line_end(source, offset)).rstrip(b"\r\n"))


def _is_comment(rest: bytes) -> bool:
    """The text is one comment and nothing else."""
    found = list(hidden(rest))
    return len(found) == 1 and found[0][2] and found[0][:2] == (0, len(rest))
