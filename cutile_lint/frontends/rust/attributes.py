"""Attributes and their settings: ``#[cutile::entry(print_ir = false, optimization_hints = (sm_100 = (occupancy = 1,),))]``."""

from __future__ import annotations

import re

from tree_sitter import Node

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust.reader import Reader
from cutile_lint.regex import regex

_TOKEN = regex(
    r"""\s+|//[^\n]*|/\*.*?\*/|(?P<string>"(?:[^"\\]|\\.)*")|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)|(?P<equals>=(?![=>]))"""
    r"""|(?P<other>[^\s"()\[\]{},=]+|=[=>]?)""",
    re.DOTALL,
)
_NUMBER = regex(r"-?\d[\d_]*(?:[iu](?:8|16|32|64|128|size))?")
_MAX_NESTING = 32


def read(reader: Reader, node: Node) -> list[syntax.Attribute]:
    """The attribute of an ``attribute_item`` (an empty list when it doesn't parse)."""
    inner = next((child for child in node.named_children if child.type == "attribute"), None)
    if inner is None or not inner.named_children:
        return []
    path = reader.inline(inner.named_children[0]).replace(" ", "")
    arguments = inner.child_by_field_name("arguments")
    if arguments is not None:
        text = reader.text(arguments)[1:-1].strip()
        return [syntax.Attribute(reader.span(node), path, False, text, settings(text))]
    return [syntax.Attribute(reader.span(node), path, True, reader.text(inner.child_by_field_name("value")))]


def settings(text: str) -> dict[str, object]:
    """``a = 1, b = (c = true,), d`` as ``{"a": 1, "b": {"c": True}, "d": True}``; anything else is a value as text."""
    tokens = [found for found in _TOKEN.finditer(text) if found.lastgroup]
    return _Settings(text, tokens).group(0)


class _Settings:
    def __init__(self, text: str, tokens: list[re.Match[str]]) -> None:
        self.text = text
        self.tokens = tokens
        self.position = 0

    def kind(self) -> str:
        return self.tokens[self.position].lastgroup or "" if self.position < len(self.tokens) else "close"

    def group(self, depth: int) -> dict[str, object]:
        """Settings up to the closing bracket, which is left in place."""
        result: dict[str, object] = {}
        while self.kind() != "close":
            if self.kind() == "comma":
                self.position += 1
                continue
            key = self.run()
            if self.kind() == "equals":
                self.position += 1
                result[key] = self.value(depth)
            elif key:
                result[key] = True
        return result

    def value(self, depth: int) -> object:
        opening = self.position < len(self.tokens) and self.tokens[self.position]["open"] == "("
        if opening and self.is_settings() and depth < _MAX_NESTING:
            self.position += 1
            result = self.group(depth + 1)
            self.position += 1
            return result
        return _literal(self.run())

    def is_settings(self) -> bool:
        """The parenthesis holds ``key = …`` (or nothing): a group, not a tuple."""
        after = self.tokens[self.position + 1 : self.position + 3]
        return bool(after) and (after[0].lastgroup == "close" or (len(after) > 1 and after[1].lastgroup == "equals"))

    def run(self) -> str:
        """The text up to the next comma or ``=`` or closing bracket of this level."""
        first = self.position
        depth = 0
        while self.position < len(self.tokens):
            kind = self.kind()
            if not depth and kind in ("comma", "equals", "close"):
                break
            depth += (kind == "open") - (kind == "close")
            self.position += 1
        if first == self.position:
            return ""
        return self.text[self.tokens[first].start() : self.tokens[self.position - 1].end()]


def _literal(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.fullmatch(text):
        return int(re.sub(r"[iu]\w*$|_", "", text))
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return text
