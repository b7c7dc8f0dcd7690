"""Edits for Python fixes. Each function takes the module and a node of its tree and gives a :class:`Rewrite`, or None when
the place does not allow it (a one-line suite, an ``elif``, a statement that shares its line).

Text that an operation does not mean to change keeps every byte. Line endings of new text become those of the file.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from cutile_lint.findings import Edit
from cutile_lint.frontends import syntax as s
from cutile_lint.frontends.python.arguments import add_argument, drop_argument
from cutile_lint.frontends.python.edits import Rewrite, edit
from cutile_lint.frontends.python.layout import (
    Block,
    before_line_ending,
    block_of,
    enclosing,
    has_comment,
    indentation,
    is_elif,
    line_end,
    line_start,
    own_comments,
    same_line,
    trailing,
)
from cutile_lint.regex import regex
from cutile_lint.sources import Source

#: where any expression may stand without parentheses of its own
_ROOMY = (s.Assign, s.ExprStmt, s.Return, s.Arg, s.Index, s.Sequence, s.Mapping, s.Param, s.Assert, s.If, s.While, s.Raise)
_ATOMS = (
    ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.JoinedStr,
)  # fmt: skip
_IDENTIFIER = regex(rb"[A-Za-z0-9_\x80-\xff]+")


__all__ = [
    "Rewrite",
    "add_argument",
    "delete_statement",
    "drop_argument",
    "insert_after",
    "insert_at_start",
    "insert_before",
    "move_before",
    "rename_keyword",
    "replace_argument",
    "replace_expression",
]


# ── expressions ────────────────────────────────────────────────────────────


def replace_expression(module: s.Module, node: s.Expr, text: str) -> Rewrite:
    """``text`` instead of an expression; parentheses are put around it where the place may need them."""
    source, span = module.source, node.span
    if not _is_atom(text) and not isinstance(enclosing(module, node), _ROOMY):
        text = f"({text})"
    return Rewrite((edit(source, span.start, span.end, text),), has_comment(source, span.start, span.end))


def _is_atom(text: str) -> bool:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return isinstance(tree, _ATOMS) or (isinstance(tree, ast.Tuple) and text.lstrip().startswith("(") and tree.col_offset == 0)


def rename_keyword(module: s.Module, argument: s.Arg, name: str) -> Rewrite | None:
    """``name=`` instead of a keyword argument's name; None for other arguments."""
    module.source.part(*argument.span)
    found = _IDENTIFIER.match(module.source.raw, argument.span.start)
    if argument.name is None or found is None:
        return None
    return Rewrite((edit(module.source, found.start(), found.end(), name),))


def replace_argument(module: s.Module, argument: s.Arg, text: str) -> Rewrite:
    """``text`` (``value``, ``name=value``, ``**more``) instead of a whole argument."""
    source, span = module.source, argument.span
    return Rewrite((edit(source, span.start, span.end, text),), has_comment(source, span.start, span.end))


# ── statements ─────────────────────────────────────────────────────────────


def delete_statement(module: s.Module, statement: s.Stmt) -> Rewrite | None:
    """Delete a statement with its lines and the comments that belong to it (on its lines, directly above it).

    The only statement of a block becomes ``pass`` and keeps the comments around it.
    """
    source, span = module.source, statement.span
    block = block_of(module, statement)
    if block is None or is_elif(source, statement):
        return None
    if len(block.body) == 1 and block.owner is not None:
        return Rewrite((edit(source, span.start, span.end, "pass"),), has_comment(source, span.start, span.end))
    if block.after and same_line(source, span.end, block.after.span.start):
        return Rewrite((edit(source, span.start, block.after.span.start, ""),), has_comment(source, span.start, span.end))
    if block.before and same_line(source, block.before.span.end, span.start):
        return Rewrite((edit(source, block.before.span.end, span.end, ""),), has_comment(source, span.start, span.end))
    if indentation(source, span.start) is None:
        return None
    start, end = own_comments(source, span.start)[0], line_end(source, span.end)
    drops = has_comment(source, start, end)
    end = _doubled_blank_lines(source, start, end)
    if end == len(source.raw) and not source.part(max(end - 1, 0), end).endswith(
        (b"\n", b"\r")
    ):  # the file stays without a final line ending
        start = before_line_ending(source, start)
    return Rewrite((edit(source, start, end, ""),), drops)


def _doubled_blank_lines(source: Source, start: int, end: int) -> int:
    """Where to end when lines go: of the blank lines above and below as many stay as there are on the side with more."""
    above = 0
    for line in reversed(source.raw[:start].splitlines(keepends=True)):
        source.part(start - len(line), start)
        if line.strip():
            break
        start -= len(line)
        above += 1
    while above and end < len(source.raw):
        behind = line_end(source, end)
        if source.part(end, behind).strip():
            break
        end, above = behind, above - 1
    return end


def insert_before(module: s.Module, statement: s.Stmt, lines: Sequence[str]) -> Rewrite | None:
    """Statement lines, indented like ``statement``, before it and its own comments."""
    source = module.source
    indent = _indent_of(module, statement)
    if indent is None:
        return None
    start = own_comments(source, statement.span.start)[0]
    return Rewrite((edit(source, start, start, _indented(lines, indent) + "\n"),))


def insert_after(module: s.Module, statement: s.Stmt, lines: Sequence[str]) -> Rewrite | None:
    """Statement lines, indented like ``statement``, behind its last line."""
    source, block = module.source, block_of(module, statement)
    indent = _indent_of(module, statement)
    if indent is None or block is None or (block.after and same_line(source, statement.span.end, block.after.span.start)):
        return None
    end = line_end(source, statement.span.end)
    text = _indented(lines, indent)
    if not source.part(max(end - 1, 0), end).endswith((b"\n", b"\r")):  # the last line of a file without a final line ending
        return Rewrite((edit(source, end, end, "\n" + text),))
    return Rewrite((edit(source, end, end, text + "\n"),))


def insert_at_start(module: s.Module, function: s.Function, lines: Sequence[str]) -> Rewrite | None:
    """Statement lines at the start of a function's body, behind its docstring."""
    if not function.body:
        return None
    first = function.body[0]
    return insert_after(module, first, lines) if function.docstring else insert_before(module, first, lines)


def move_before(module: s.Module, statement: s.Stmt, target: s.Stmt) -> Rewrite | None:
    """Move a simple statement, with its comments, before another one, taking over the other's indentation.

    Continuation lines keep their place relative to the statement, strings of several lines every byte. None when the
    statement has a body of its own.
    """
    from cutile_lint.frontends.python.concrete import moved_text

    source, span = module.source, statement.span
    block, indent = block_of(module, statement), _indent_of(module, target)
    if block is None or indent is None or statement is target or span.covers(target.span):
        return None
    alone = _stands_alone(source, block, statement)
    comment_lines = own_comments(source, span.start)[1] if alone else 0
    text = moved_text(module, statement, indent, comment_lines, alone)
    removal = delete_statement(module, statement)
    if text is None or removal is None:
        return None
    if alone and len(block.body) == 1 and block.owner is not None:  # `pass` stays, the comments go
        line = trailing(source, span.end)
        removal = Rewrite(
            (
                edit(source, own_comments(source, span.start)[0], line_start(source, span.start), ""),
                edit(source, span.start, line.end(1) if line and line.group(1) else span.end, "pass"),
            )
        )
    start = own_comments(source, target.span.start)[0]
    insertion = Edit(source, start, start, text)
    return Rewrite(tuple(sorted((insertion, *removal.edits), key=lambda item: (item.start, item.end))))


def _stands_alone(source: Source, block: Block, statement: s.Stmt) -> bool:
    """Whether a statement has its lines for itself."""
    if indentation(source, statement.span.start) is None:
        return False
    return not (block.after and same_line(source, statement.span.end, block.after.span.start))


def _indent_of(module: s.Module, statement: s.Stmt) -> str | None:
    """Indentation of a statement before or behind which lines can be put; None when it has none of its own."""
    if is_elif(module.source, statement) or block_of(module, statement) is None:
        return None
    return indentation(module.source, statement.span.start)


def _indented(lines: Sequence[str], indent: str) -> str:
    return "\n".join(indent + line if line.strip() else "" for line in with_tabs(lines, indent))


def with_tabs(lines: Sequence[str], indent: str) -> list[str]:
    """Statement lines whose own steps of four blanks are tabs, if they go where tabs indent."""
    if not indent.startswith("\t"):
        return list(lines)
    stripped = [line.lstrip(" ") for line in lines]
    widths = [len(line) - len(bare) for line, bare in zip(lines, stripped, strict=True)]
    return ["\t" * (width // 4) + " " * (width % 4) + bare for width, bare in zip(widths, stripped, strict=True)]
