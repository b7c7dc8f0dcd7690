"""Where the keys and values of a TOML text stand (``tomllib`` keeps no places; it is what judges the syntax)."""

from __future__ import annotations

import re

from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import BOM, Source, Span

_PART = rb'(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
_KEY = regex(_PART + rb"(?:[ \t]*\.[ \t]*" + _PART + rb")*")
_HEADER = regex(rb"\[\[?[ \t]*(" + _KEY.pattern + rb")[ \t]*\]\]?")
_PARTS = regex(_PART)
_BLANK = regex(rb"(?:[ \t\r\n]|#[^\r\n]*)*")
_STRINGS = regex(
    rb'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\r\n]*|[\[\]{},\r\n]|[^\[\]{},\r\n"\'#]+|.',
    re.DOTALL,
)

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """The spans of a key as written (``cutile.version`` may be one) and of its value; of a table, its header."""

    key: Span
    value: Span


def key_places(source: Source) -> dict[Path, KeyPlace]:
    """Full path → place. Elements of an array of tables count under their index (``("bin", "0", "name")``)."""
    return _Scan(source.data).run()


class _Scan:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.places: dict[Path, KeyPlace] = {}
        self.counts: dict[Path, int] = {}

    def run(self) -> dict[Path, KeyPlace]:
        position = len(BOM) if self.data.startswith(BOM) else 0
        table: Path = ()
        while True:
            position = self.blank(position)
            if position >= len(self.data):
                return self.places
            header = _HEADER.match(self.data, position)
            if header:
                table = self.header(header)
                position = header.end()
                continue
            after = self.pair(position, table)
            position = after if after is not None else self.line_end(position)

    def header(self, found: re.Match[bytes]) -> Path:
        table = _parts(found.group(1))
        if found.group().startswith(b"[["):
            index = self.counts.get(table, 0)
            self.counts[table] = index + 1
            table = (*table, str(index))
        self.places.setdefault(table, KeyPlace(Span(*found.span(1)), Span(*found.span())))
        return table

    def pair(self, position: int, table: Path) -> int | None:
        """The end of ``key = value`` here; None if there is none."""
        key = _KEY.match(self.data, position)
        if key is None:
            return None
        equals = (
            key.end() + len(self.data[key.end() : key.end() + 80]) - len(self.data[key.end() : key.end() + 80].lstrip(b" \t"))
        )
        if self.data[equals : equals + 1] != b"=":
            return None
        start = equals + 1
        while self.data[start : start + 1] in (b" ", b"\t"):
            start += 1
        end = self.value_end(start)
        path = (*table, *_parts(key.group()))
        self.places.setdefault(path, KeyPlace(Span(*key.span()), Span(start, end)))
        if self.data[start : start + 1] == b"{":
            self.inline(start, end, path)
        return end

    def inline(self, start: int, end: int, table: Path) -> None:
        position = start + 1
        while position < end - 1:
            position = self.blank(position)
            after = self.pair(position, table) if position < end - 1 else None
            position = self.blank(after) + 1 if after is not None else position + 1

    def value_end(self, start: int) -> int:
        """Behind the value that starts here: at a line's end, a comment, or a comma or bracket of what is around it."""
        depth, end = 0, start
        for found in _STRINGS.finditer(self.data, start):
            piece = found.group()
            if depth == 0 and (piece[:1] in (b"\r", b"\n", b"#", b",", b"]", b"}")):
                break
            depth += (piece in (b"[", b"{")) - (piece in (b"]", b"}"))
            if piece.strip() and not piece.startswith(b"#"):
                end = found.start() + len(piece.rstrip())
            if depth == 0 and piece in (b"]", b"}"):
                break
        return end

    def blank(self, position: int) -> int:
        found = _BLANK.match(self.data, position)
        return found.end() if found else position

    def line_end(self, position: int) -> int:
        found = self.data.find(b"\n", position)
        return len(self.data) if found == -1 else found + 1


def _parts(key: bytes) -> Path:
    return tuple(part.decode("utf-8", "replace").strip("\"'") for part in _PARTS.findall(key))
