"""Tokens of Rust text that hide others: comments, strings and characters.

Macro bodies and whole files are scanned with these, so that a ``//`` or a ``$`` inside a string counts for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cutile_lint.regex import regex

#: a comment opening, or a whole string, raw string or character literal; one that never closes goes to the end of the text
HIDING = (
    rb"(?P<line>//[^\r\n]*)"
    rb"|(?P<block>/\*)"
    rb'|\bb?c?r(?P<hashes>\#*)".*?(?:"(?P=hashes)|\Z)'
    rb'|"(?:[^"\\]|\\.)*(?:"|\\?\Z)'
    rb"|'(?:\\[^'][^'\r\n]{0,12}|\\'|[^'\\\r\n\x80-\xff]|[\xc0-\xff][\x80-\xbf]{1,3})'"
)
_HIDING = regex(HIDING, re.DOTALL)
_NESTED = regex(rb"/\*|\*/")

_OPENERS = bytes.maketrans(b"([{)]}", b"\x02\x02\x02\x00\x00\x00")
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"([{)]}")


def block_comment_end(data: bytes, start: int) -> int:
    """End of the (nested) block comment that opens at ``start``; the end of the text when it never closes."""
    depth = 0
    for token in _NESTED.finditer(data, start):
        depth += 1 if token[0] == b"/*" else -1
        if not depth:
            return token.end()
    return len(data)


def hidden(data: bytes) -> Iterator[tuple[int, int, bool]]:
    """(start, end, is a comment) of every comment, string and character literal, in order."""
    position = 0
    while token := _HIDING.search(data, position):
        kind = token.lastgroup
        position = block_comment_end(data, token.start()) if kind == "block" else token.end()
        yield token.start(), position, kind in ("line", "block")


def bracket_depth(data: bytes) -> int:
    """How deep brackets nest in the text (strings and comments included): a cheap bound, made before any parse."""
    deepest = depth = 0
    for step in data.translate(_OPENERS, _NOT_BRACKETS):
        depth += step - 1
        if depth > deepest:
            deepest = depth
    return deepest
