"""Where string literals end, on bytes. One search per literal, so that long docstrings cost nothing."""

from __future__ import annotations

import re

#: an opening quote; the prefix before it is read backwards (:func:`prefix_before`)
QUOTE = re.compile(rb"""'''|\"""|'|\"""")

_CONTENT = {
    b'"""': re.compile(rb'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""', re.DOTALL),
    b"'''": re.compile(rb"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''", re.DOTALL),
    b'"': re.compile(rb'[^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*"?', re.DOTALL),
    b"'": re.compile(rb"[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'?", re.DOTALL),
}
_PREFIX = re.compile(rb"(?<![A-Za-z0-9_\x80-\xff])[A-Za-z]{1,2}\Z")
#: what ends the literal part of an f-string, or is to be looked at in one of its fields
_LITERAL_STOP = re.compile(rb"\\(?:N\{[^}\r\n]*\}|\r\n|.)|\{\{|[{}'\"\r\n]", re.DOTALL)
_FIELD_STOP = re.compile(rb"""#[^\r\n]*|'''|\"""|['"]|[()\[\]{}:]|!=""")


def prefix_before(data: bytes, quote: int) -> bytes:
    """The lower-case prefix (``rb``, ``f``, …) of the literal whose quote stands at ``quote``."""
    found = _PREFIX.search(data, max(0, quote - 3), quote)
    return found.group().lower() if found else b""


def string_end(data: bytes, position: int, quote: bytes) -> int:
    """Offset behind the closing ``quote`` of a plain string whose content starts at ``position``.

    An open literal ends with its line (the last that it is continued on), one with three quotes with the file.
    """
    found = _CONTENT[quote].match(data, position)
    return found.end() if found else len(data)


def literal_end(data: bytes, opening: re.Match[bytes], comments: list[tuple[int, int]] | None = None) -> int:
    """Offset behind a literal of any kind, f-strings with strings in their fields (Python 3.12) included.

    ``comments`` collects the comments in such fields.
    """
    prefix = prefix_before(data, opening.start())
    if b"f" in prefix or b"t" in prefix:
        inner: list[tuple[int, int]] = []
        end = _formatted_end(data, opening.end(), opening.group(), b"r" in prefix, inner)
        if end != -1:
            if comments is not None:
                comments.extend(inner)
            return end
    return string_end(data, opening.end(), opening.group())


def _formatted_end(data: bytes, position: int, quote: bytes, raw: bool, comments: list[tuple[int, int]]) -> int:
    """Offset behind the closing quote of an f-string; -1 when it cannot be read as one."""
    while stop := _LITERAL_STOP.search(data, position):
        position, text = stop.end(), stop.group()
        if data.startswith(quote, stop.start()):
            return stop.start() + len(quote)
        if text == b"{":
            position = _field_end(data, position, comments)
            if position == -1:
                return -1
        elif raw and text.startswith(b"\\N{"):
            position = stop.start() + 2
        elif raw and text == b"\\{":
            position = stop.start() + 1
        elif text in (b"\r", b"\n") and len(quote) == 1:
            return -1
    return -1


def _field_end(data: bytes, position: int, comments: list[tuple[int, int]]) -> int:
    """Offset behind the ``}`` of a replacement field; -1 when it is open."""
    depth = 0
    while stop := _FIELD_STOP.search(data, position):
        position, text = stop.end(), stop.group()
        if text[:1] in b"'\"":
            position = literal_end(data, stop, comments)
        elif text[:1] == b"#":
            comments.append(stop.span())
        elif text in b"([{":
            depth += 1
        elif text == b"}" and not depth:
            return position
        elif text in b")]}":
            depth -= 1
        elif text == b":" and not depth:
            return _specification_end(data, position, comments)
    return -1


def _specification_end(data: bytes, position: int, comments: list[tuple[int, int]]) -> int:
    """Offset behind the ``}`` of a field whose format specification starts at ``position``; -1 when it is open."""
    while position < len(data):
        byte = data[position]
        if byte == 0x7D:
            return position + 1
        if byte == 0x7B:
            position = _field_end(data, position + 1, comments)
            if position == -1:
                return -1
        elif byte in b"\r\n\"'":
            return -1
        else:
            position += 1
    return -1
