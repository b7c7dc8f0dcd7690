"""Where the replacement fields of an f-string stand (before Python 3.12 neither ``ast`` nor ``tokenize`` tells)."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.frontends.python.literals import QUOTE, string_end
from cutile_lint.regex import regex
from cutile_lint.sources import Span

_LITERAL = regex(rb"""([A-Za-z]*)('''|\"""|'|")""")


def field_spans(data: bytes, span: Span) -> Iterator[Span]:
    """The expressions of an f-string's fields in order, without ``=``, ``!r`` and format specifications.

    ``span`` covers the whole literal, implicit concatenations included; its syntax is known to be right.
    """
    position = span.start
    while position < span.end:
        if data[position] == 0x23:  # a comment between two parts
            while position < span.end and data[position] not in b"\r\n":
                position += 1
        opening = _LITERAL.match(data, position, span.end)
        if opening is None:
            position += 1
            continue
        prefix, quote = opening.group(1).lower(), opening.group(2)
        end = string_end(data, opening.end(), quote)
        if b"f" in prefix:
            yield from _fields(data, opening.end(), end - len(quote), b"r" in prefix, nested=False)[0]
        position = end


def _fields(data: bytes, position: int, limit: int, raw: bool, nested: bool) -> tuple[list[Span], int]:
    """Fields up to ``limit``, or, ``nested`` in a format specification, up to its ``}``; and where the scan ended."""
    found: list[Span] = []
    while position < limit:
        byte = data[position]
        if byte == 0x5C and not raw:
            named = data.startswith(b"N{", position + 1)
            position = data.find(b"}", position) + 1 if named else position + 2
        elif byte == 0x7B and not nested and data[position + 1] == 0x7B:
            position += 2
        elif byte == 0x7B:
            start, end = position + 1, _expression_end(data, position + 1, limit)
            found.append(Span(start, end))
            position = end
            while data[position] not in b":}":  # `=`, blanks, `!r`
                position += 1
            if data[position] == 0x3A:
                position = _fields(data, position + 1, limit, raw, nested=True)[1]
            position += 1
        elif byte == 0x7D and nested:
            return found, position
        else:
            position += 1
    return found, position


def _expression_end(data: bytes, position: int, limit: int) -> int:
    depth = 0
    while position < limit:
        byte = data[position : position + 1]
        if quote := QUOTE.match(data, position):
            position = string_end(data, quote.end(), quote.group())
            continue
        if byte in b"([{":
            depth += 1
        elif depth and byte in b")]}":
            depth -= 1
        elif not depth and byte in b"!=<>" and data[position + 1] == 0x3D:  # `!=`, `==`, `<=`, `>=`
            position += 1
        elif not depth and byte in b"!:=}":
            return position
        position += 1
    return limit
