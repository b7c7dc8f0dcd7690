"""``parse``: a Python file as a :class:`~cutile_lint.frontends.syntax.Module`, or why it is none."""

from __future__ import annotations

import ast
import re
import warnings

from cutile_lint.frontends import syntax
from cutile_lint.frontends.python.expressions import MAX_DEPTH, TooDeepError
from cutile_lint.frontends.python.statements import Builder
from cutile_lint.regex import regex
from cutile_lint.sources import Source, Span
from cutile_lint.sources.limits import too_long_words, too_many_marks
from cutile_lint.sources.source import BOM

#: larger files are refused before they are parsed (generated tables)
MAX_BYTES = 2_000_000

_COOKIE = regex(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = regex(rb"^[ \t\f]*(?:#[^\r\n]*)?$")
_UTF8 = regex(r"utf[-_]?8(?:[-_].*)?|u8|utf", re.IGNORECASE)
_ASCII = regex(r"(?:us[-_])?ascii", re.IGNORECASE)


def parse(source: Source, before: syntax.Module | None = None) -> syntax.Module:
    """The tree of a file. Never raises for its content.

    ``before``: a tree of the file as it was; the statements in front of the change and behind it are taken from it.

    A syntax error gives an empty body and one fault where CPython places it; a file beyond a limit (:data:`MAX_BYTES`,
    :data:`~cutile_lint.frontends.python.expressions.MAX_DEPTH`, CPython's own) or in another encoding gives ``refused``.
    """
    module = syntax.Module(source, "python", [])
    module.refused = _refusal(source)
    if module.refused:
        return module
    nul = source.data.find(b"\0")
    if nul != -1:
        module.faults.append(syntax.Fault(Span(nul, nul + 1), "source code cannot contain null bytes"))
        return module
    bom = len(BOM) if source.data.startswith(BOM) else 0
    bases = source.line_starts
    if bom:
        bases = [bom, *bases[1:]]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the linted code's own, for instance on "\d"
            known = None
            if before is not None:
                from cutile_lint.frontends.python.again import read_again

                known = read_again(source, before, lambda tree, row: Builder(source, bases[row:]).body(tree.body))
            if known is None:
                known = Builder(source, bases).body(ast.parse(source.text[1:] if bom else source.text).body)
            module.body = known
    except SyntaxError as error:
        module.faults.append(_fault(source, error))
    except (RecursionError, MemoryError):
        module.refused = "too complex for the parser of Python"
    except TooDeepError:
        module.refused = f"nested deeper than {MAX_DEPTH} levels"
    return module


def _refusal(source: Source) -> str:
    size = len(source.data)
    if size > MAX_BYTES:
        return f"{size:,} bytes, more than {MAX_BYTES:,}"
    if told := too_many_marks(source.data) or too_long_words(source.data):
        return told
    encoding = declared_encoding(source)
    if encoding and not _UTF8.fullmatch(encoding) and not (_ASCII.fullmatch(encoding) and source.data.isascii()):
        return f"declares the encoding `{encoding}`, only UTF-8 is read"
    return ""


def declared_encoding(source: Source) -> str:
    """The encoding that a PEP 263 comment in the first two lines declares; "" without one."""
    head = source.data[:1000].removeprefix(BOM)
    if b"coding" not in head:
        return ""
    for line in re.split(rb"\r\n?|\n", head, maxsplit=2)[:2]:
        if cookie := _COOKIE.match(line):
            return cookie.group(1).decode("ascii", "replace")
        if not _BLANK.match(line):
            return ""
    return ""


def _fault(source: Source, error: SyntaxError) -> syntax.Fault:
    """A syntax error's place. CPython counts in code points from 1; 0, -1 and None mean that it does not know."""
    row, column = max(error.lineno or 1, 1), max(error.offset or 1, 1)
    message = error.msg or "invalid syntax"
    if message.startswith("f-string: ") and error.text and row <= len(source.line_starts):
        column = _column_in_field(source.line(row), error.text, column)
    start = source.offset(row, column)
    end = start
    if (error.end_lineno or 0) > 0 and (error.end_offset or 0) > 0 and not message.startswith("f-string: "):
        end = source.offset(error.end_lineno or row, error.end_offset or column)
    if end <= start:  # at least the character there
        rest = source.data[start : start + 4].decode("utf-8", "ignore")
        end = start + len(rest[:1].encode())
    return syntax.Fault(Span(start, end), message)


def _column_in_field(line: str, text: str, column: int) -> int:
    """Before Python 3.12 an error in an f-string's field is counted in ``(field)``; here in its line, where that is seen."""
    text = text.rstrip("\r\n")
    if text.startswith("(") and text.endswith(")") and text not in line:
        found = line.find("{" + text[1:-1])
        if found != -1:
            return found + column
    return column
