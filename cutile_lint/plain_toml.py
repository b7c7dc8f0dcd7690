"""The plain part of TOML, as manifests are written: importing ``tomllib`` costs more than reading one.

Tables, bare, quoted and dotted keys, strings without escapes, whole numbers, booleans, arrays and inline tables. Whatever else a text
has, or may have wrong, is for ``tomllib`` to read and to judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.regex import regex

if TYPE_CHECKING:
    from re import Pattern

_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"\\\x00-\x1f\x7f]*"|'[^'\x00-\x1f\x7f]*')"""
_DOTTED = regex(_KEY + r"(?:[ \t]*\.[ \t]*" + _KEY + ")*")
_PART = regex(_KEY)
_STRING = regex(r"""(?!\"""|''')(?:"([^"\\\x00-\x08\x0a-\x1f\x7f]*)"|'([^'\x00-\x08\x0a-\x1f\x7f]*)')""")
_WORD = regex(r"(?:true|false|[+-]?(?:0|[1-9][0-9]{0,17}))(?=[ \t\n,\]}#]|\Z)")
_SPACE = regex(r"[ \t]*")
_BLANK = regex(r"(?:[ \t\n]|#[^\x00-\x08\x0b-\x1f\x7f\n]*(?=\n|\Z))*")
_LINE_END = regex(r"[ \t]*(?:#[^\x00-\x08\x0a-\x1f\x7f]*)?(?:\n|\Z)")
#: arrays and inline tables in each other
_DEEPEST = 16

Table = dict[str, object]


class _NotPlain(Exception):
    """The text has something that is not read here."""


def plain_toml(text: str) -> Table | None:
    """What ``tomllib.loads`` gives for the text; None where it has to be asked."""
    try:
        return _Reader(text).document()
    except _NotPlain:
        return None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        #: tables that a header may not go into: inline ones and those of dotted keys
        self.closed: set[int] = set()

    def document(self) -> Table:
        whole: Table = {}
        table, dotted, headers = whole, set[int](), set[tuple[str, ...]]()
        while True:
            self.pass_by(_BLANK)
            if self.at == len(self.text):
                return whole
            if self.takes("["):
                path = self.key()
                self.expect("]")
                if path in headers:
                    raise _NotPlain
                headers.add(path)
                table, dotted = whole, set()
                for part in path:
                    table = self.below(table, part, None)
            else:
                self.pair(table, dotted)
            self.pass_by(_LINE_END)

    def pair(self, table: Table, dotted: set[int], depth: int = _DEEPEST) -> None:
        """``dotted``: tables that dotted keys beside this one have made."""
        *path, name = self.key()
        for part in path:
            table = self.below(table, part, dotted)
        self.expect("=")
        self.pass_by(_SPACE)
        if name in table:
            raise _NotPlain
        table[name] = self.value(depth)

    def below(self, table: Table, part: str, dotted: set[int] | None) -> Table:
        found = table.get(part)
        if found is None:
            made: Table = {}
            table[part] = made
            if dotted is not None:
                dotted.add(id(made))
                self.closed.add(id(made))
            return made
        if not isinstance(found, dict) or (id(found) in self.closed if dotted is None else id(found) not in dotted):
            raise _NotPlain
        return found

    def key(self) -> tuple[str, ...]:
        self.pass_by(_SPACE)
        written = self.pass_by(_DOTTED)
        return tuple(part[1:-1] if part[0] in "\"'" else part for part in _PART.findall(written))

    def value(self, depth: int) -> object:
        if depth == 0:
            raise _NotPlain
        if self.takes("["):
            return self.array(depth)
        if self.takes("{"):
            return self.inline(depth)
        found = _STRING.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            return found[1] if found[1] is not None else found[2]
        word = self.pass_by(_WORD)
        return word == "true" if word in ("true", "false") else int(word)

    def array(self, depth: int) -> list[object]:
        items: list[object] = []
        self.pass_by(_BLANK)
        while not self.takes("]"):
            items.append(self.value(depth - 1))
            self.pass_by(_BLANK)
            if not self.takes(","):
                self.expect("]")
                break
            self.pass_by(_BLANK)
        return items

    def inline(self, depth: int) -> Table:
        table, dotted = Table(), set[int]()
        self.closed.add(id(table))
        self.pass_by(_SPACE)
        if self.takes("}"):
            return table
        while True:
            self.pair(table, dotted, depth - 1)
            self.pass_by(_SPACE)
            if self.takes("}"):
                return table
            self.expect(",")

    def takes(self, mark: str) -> bool:
        found = self.text.startswith(mark, self.at)
        self.at += found
        return found

    def expect(self, mark: str) -> None:
        self.pass_by(_SPACE)
        if not self.takes(mark):
            raise _NotPlain

    def pass_by(self, pattern: Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise _NotPlain
        self.at = found.end()
        return found.group()
