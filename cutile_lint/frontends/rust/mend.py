"""Macro text made parseable without moving a byte.

Metavariables become identifiers of equal length (or what their fragment kind asks for). The marks of a repetition,
``$( … )sep*``, become blanks; the separator stays where a list or a statement needs it.
"""

from __future__ import annotations

import re

from cutile_lint.frontends.rust.lexer import HIDING, block_comment_end
from cutile_lint.frontends.rust.reader import Repeated
from cutile_lint.regex import regex
from cutile_lint.sources import Span

_TOKEN = regex(HIDING + rb"|(?P<open>\$?[(\[{])|(?P<close>[)\]}])|(?P<variable>\$\w+)", re.DOTALL)
_REPEATS = regex(rb"\s{0,200}(?P<separator>[^\s\w()\[\]{}$\"']{1,3}?|\w+)??\s{0,200}(?P<operator>[*+?])")
_LIST_FOLLOWS = regex(rb"\s*(?:,|\$\(\s*,)")


def mend(text: bytes, offset: int, fragments: dict[str, str]) -> tuple[bytes, list[Repeated]]:
    """The mended text and its repetitions, outer before inner, with file offsets (``offset``: of the text's first byte)."""
    if b"$" not in text:
        return text, []
    buffer = bytearray(text)
    repetitions: list[Repeated] = []
    brackets: list[tuple[int, bool]] = []
    position = 0
    while token := _TOKEN.search(text, position):
        start, position = token.span()
        kind = token.lastgroup
        if kind == "block":
            position = block_comment_end(text, start)
        elif kind == "variable":
            buffer[start:position] = _substitute(token[0], fragments)
        elif kind == "open":
            brackets.append((start, token[0] == b"$("))
        elif kind == "close" and brackets:
            opened, repeats = brackets.pop()
            if repeats:
                position = _blank(text, buffer, opened, start)
                outer, inner = Span(opened + offset, position + offset), Span(opened + 2 + offset, start + offset)
                repetitions.append(Repeated(outer, inner))
    repetitions.sort(key=lambda repeated: repeated.outer.start)
    return bytes(buffer), repetitions


def _blank(text: bytes, buffer: bytearray, opened: int, closed: int) -> int:
    """Blank the marks of a repetition; returns the offset behind its operator."""
    buffer[opened : opened + 2] = b"  "
    buffer[closed : closed + 1] = b" "
    marks = _REPEATS.match(text, closed + 1)
    if marks is None:
        return closed + 1
    buffer[closed + 1 : marks.end()] = b" " * (marks.end() - closed - 1)
    separator = marks["separator"]
    if separator == b";" or (separator == b"," and not _LIST_FOLLOWS.match(text, marks.end())):
        buffer[marks.start("separator") : marks.end("separator")] = separator
    return marks.end()


def _substitute(variable: bytes, fragments: dict[str, str]) -> bytes:
    """Text of the variable's length that stands for it in the grammar."""
    length = len(variable)
    fragment = fragments.get(variable.decode("utf-8", "replace"))
    if fragment == "vis":
        return b" " * length
    if fragment == "lifetime":
        return b"'" + variable[1:]
    if fragment == "block":
        return b"{" + b" " * (length - 2) + b"}"
    if fragment in ("item", "stmt"):
        return b"_" * (length - 2) + b"x;"
    return b"_" + variable[1:]
