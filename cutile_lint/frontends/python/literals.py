"""Where string literals end, on bytes. One search per literal, so that long docstrings cost nothing."""

from __future__ import annotations

import re

from cutile_lint.regex import regex

#: an opening quote; the prefix before it is read backwards (:func:`prefix_before`)
QUOTE = regex(rb"""'''|\"""|'|\"""")

_CONTENT = {
    b'"""': regex(rb'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""', re.DOTALL),
    b"'''": regex(rb"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''", re.DOTALL),
    b'"': regex(rb'[^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*"?', re.DOTALL),
    b"'": regex(rb"[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'?", re.DOTALL),
}
_PREFIX = regex(rb"(?<![A-Za-z0-9_\x80-\xff])[A-Za-z]{1,2}\Z")
#: what ends the literal part of an f-string, or is to be looked at in one of its fields
_LITERAL_STOP = regex(rb"\\(?:N\{[^}\r\n]{0,120}\}|\r\n|.)|\{\{|[{}'\"\r\n]", re.DOTALL)
_SPECIFICATION_STOP = regex(rb"[{}\r\n\"']")
_FIELD_STOP = regex(rb"""#[^\r\n]*|'''|\"""|['"]|[()\[\]{}:]|!=""")
#: prefixes that make replacement fields
_FORMATTED = frozenset([b"f", b"fr", b"rf", b"t", b"tr", b"rt"])
#: f-strings in fields of f-strings, and specifications in specifications
_MAX_NESTED = 40
#: steps that may be lost in a text with what turned out to be no f-string
_MAX_LOST = 50_000


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


class Scan:
    """Literals of one text, f-strings with strings in their fields (Python 3.12) included.

    What looks like an f-string and is open is read as a plain string; so that a text full of them costs no more than others,
    there is a bound on the steps that are lost with them.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        #: comments in replacement fields, as far as they have been read
        self.comments: list[tuple[int, int]] = []
        self._depth = self._steps = self._lost = 0

    def literal_end(self, opening: re.Match[bytes]) -> int:
        """Offset behind the literal whose quote is matched; -1 for an open one in a field of another."""
        prefix = prefix_before(self.data, opening.start())
        if prefix in _FORMATTED and self._depth < _MAX_NESTED and self._lost < _MAX_LOST:
            comments, steps = len(self.comments), self._steps
            self._depth += 1
            end = self._formatted_end(opening.end(), opening.group(), b"r" in prefix)
            self._depth -= 1
            if end != -1:
                return end
            del self.comments[comments:]
            if self._depth:
                return -1
            self._lost += self._steps - steps
        return string_end(self.data, opening.end(), opening.group())

    def _formatted_end(self, position: int, quote: bytes, raw: bool) -> int:
        """Offset behind the closing quote of an f-string; -1 when it cannot be read as one."""
        while stop := _LITERAL_STOP.search(self.data, position):
            self._steps += 1
            position, text = stop.end(), stop.group()
            if self.data.startswith(quote, stop.start()):
                return stop.start() + len(quote)
            if text == b"{":
                position = self._field_end(position)
                if position == -1:
                    return -1
            elif raw and text.startswith(b"\\N{"):
                position = stop.start() + 2
            elif raw and text == b"\\{":
                position = stop.start() + 1
            elif text in (b"\r", b"\n") and len(quote) == 1:
                return -1
        return -1

    def _field_end(self, position: int) -> int:
        """Offset behind the ``}`` of a replacement field; -1 when it is open."""
        depth = 0
        while stop := _FIELD_STOP.search(self.data, position):
            self._steps += 1
            position, text = stop.end(), stop.group()
            if text[:1] in b"'\"":
                position = self.literal_end(stop)
                if position == -1:
                    return -1
            elif text[:1] == b"#":
                self.comments.append(stop.span())
            elif text in b"([{":
                depth += 1
            elif text == b"}" and not depth:
                return position
            elif text in b")]}":
                depth -= 1
            elif text == b":" and not depth:
                return self._specification_end(position)
        return -1

    def _specification_end(self, position: int) -> int:
        """Offset behind the ``}`` of a field whose format specification starts at ``position``; -1 when it is open."""
        while stop := _SPECIFICATION_STOP.search(self.data, position):
            self._steps += 1
            position = stop.end()
            if stop.group() == b"}":
                return position
            if stop.group() != b"{" or self._depth >= _MAX_NESTED:
                return -1
            self._depth += 1
            position = self._field_end(position)
            self._depth -= 1
            if position == -1:
                return -1
        return -1
