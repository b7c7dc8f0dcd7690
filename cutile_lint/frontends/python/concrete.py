"""The LibCST side of a rewrite: a statement's text at another indentation.

LibCST knows which blanks of a statement are the indentation of its block (also in continuation lines) and which belong to it
or to a string, so it can print the statement elsewhere. It is imported only here, when a fix needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cutile_lint.frontends import syntax as s
from cutile_lint.frontends.python.layout import line_end, own_comments, statements
from cutile_lint.sources import Span


def moved_text(module: s.Module, statement: s.Stmt, indent: str, comment_lines: int, alone: bool) -> str | None:
    """The lines of a simple statement at another indentation, with the last ``comment_lines`` comment lines above it.

    ``alone`` keeps a comment behind the statement as well. None for a statement with a body, and where LibCST cannot read the
    text or not give it back byte for byte.
    """
    import libcst as cst

    source = module.source
    around = next(one for one in module.body if one.span.covers(statement.span))
    start, end = own_comments(source, around.span.start)[0], line_end(source, around.span.end)
    # comments at the start of a text belong to the text, not to its first statement
    text = f"pass{source.newline}{source.slice(Span(start, end))}"
    try:
        tree = cst.parse_module(text)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    if tree.code != text:
        return None
    beside = [one for one in module.body if start <= one.span.start and one.span.end <= end]
    theirs, ours = list(_statements(tree, cst))[1:], list(statements(beside))
    if len(theirs) != len(ours):
        return None
    node, line = next(pair for pair, own in zip(theirs, ours, strict=True) if own is statement)
    if line is None:
        return None
    leading = list(getattr(line, "leading_lines", ()))
    kept = leading[len(leading) - comment_lines :] if comment_lines else []
    if len(kept) != comment_lines or any(item.comment is None for item in kept):
        return None
    moved = cst.SimpleStatementLine(
        body=[node.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)],
        leading_lines=kept,
        trailing_whitespace=line.trailing_whitespace if alone else cst.TrailingWhitespace(),
    )
    if not indent:
        return tree.with_changes(header=[], footer=[], body=[moved], has_trailing_newline=True).code
    head = "if x:" + tree.default_newline
    block = cst.If(cst.Name("x"), cst.IndentedBlock([moved], indent=indent))
    code = tree.with_changes(header=[], footer=[], body=[block], has_trailing_newline=True).code
    return code.removeprefix(head)


def _statements(node: Any, cst: Any) -> Iterator[tuple[Any, Any]]:
    """Statements in source order, outer ones first, each with its line when it is a simple one, else None."""
    for item in node.body:
        if isinstance(item, cst.SimpleStatementLine):
            yield from ((small, item) for small in item.body)
        elif isinstance(item, cst.BaseSmallStatement):  # in a one-line suite
            yield item, node
        else:
            yield item, None
            yield from _inside(item, cst)


def _inside(item: Any, cst: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(item, cst.Match):
        for case in item.cases:
            yield from _statements(case.body, cst)
        return
    yield from _statements(item.body, cst)
    for handler in getattr(item, "handlers", ()):
        yield from _statements(handler.body, cst)
    orelse = getattr(item, "orelse", None)
    if isinstance(orelse, cst.If):  # `elif` is a statement in both trees
        yield orelse, None
        yield from _inside(orelse, cst)
    elif orelse is not None:
        yield from _statements(orelse.body, cst)
    final = getattr(item, "finalbody", None)
    if final is not None:
        yield from _statements(final.body, cst)
