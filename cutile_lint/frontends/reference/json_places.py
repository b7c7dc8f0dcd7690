"""JSON with the place of every key and value (the standard ``json`` module keeps none)."""

from __future__ import annotations

import re
from bisect import bisect_left
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # there since Python 2.6, in no stub

from cutile_lint.frontends.syntax import Fault
from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.sources import Source, Span
from cutile_lint.sources.limits import too_many_marks

#: bytes; and what of them is punctuation, the values and keys in a word
MAX_SIZE = 4 * 1024 * 1024
MAX_MARKS = 200_000
MAX_DEPTH = 100

_SPACE = regex(r"[ \t\n\r]*")
_NUMBER = regex(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None, "NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


@dataclass(slots=True, eq=False)
class JsonNode:
    """One value. ``value`` is a dict of nodes, a list of nodes, a string, number, boolean or None; ``key_span`` is its key's."""

    value: object
    span: Span
    key_span: Span | None = None

    def get(self, key: str) -> JsonNode | None:
        return self.value.get(key) if isinstance(self.value, dict) else None

    @property
    def items(self) -> list[JsonNode]:
        return self.value if isinstance(self.value, list) else []

    @property
    def fields(self) -> dict[str, JsonNode]:
        return self.value if isinstance(self.value, dict) else {}

    def plain(self) -> object:
        """The value as ``json.loads`` gives it."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


class JsonError(ValueError):
    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


def read_json(source: Source) -> tuple[JsonNode | None, Fault | None]:
    """The document's root, or the fault that makes it none."""
    if len(source.data) > MAX_SIZE:
        return None, Fault(Span(0, 0), f"{len(source.data)} bytes are more than the limit of {MAX_SIZE}")
    if told := too_many_marks(source.data, MAX_MARKS):
        return None, Fault(Span(0, 0), told)
    reader = _Reader(source.text)
    try:
        return reader.document(), None
    except JsonError as error:
        at = reader.byte(min(error.position, len(source.text)))
        return None, Fault(Span(at, min(at + 1, len(source.data))), error.message)


@dataclass(slots=True)
class _Reader:
    text: str
    #: positions of the characters that take more than one byte, and the bytes they add up to there
    wide: list[int] = field(default_factory=list)
    extra: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        total = 0
        if not self.text.isascii():
            for found in re.finditer(r"[^\x00-\x7f]", self.text):
                total += len(found.group().encode()) - 1
                self.wide.append(found.start())
                self.extra.append(total)

    def byte(self, position: int) -> int:
        before = bisect_left(self.wide, position)
        return position + (self.extra[before - 1] if before else 0)

    def span(self, start: int, end: int) -> Span:
        return Span(self.byte(start), self.byte(end))

    def space(self, position: int) -> int:
        found = _SPACE.match(self.text, position)
        return found.end() if found else position

    def document(self) -> JsonNode:
        node, end = self.value(self.space(1 if self.text.startswith("\ufeff") else 0), 0)
        end = self.space(end)
        if end != len(self.text):
            raise JsonError("text after the JSON value", end)
        return node

    def value(self, start: int, depth: int) -> tuple[JsonNode, int]:
        if depth > MAX_DEPTH:
            raise JsonError(f"JSON nests deeper than {MAX_DEPTH}", start)
        head = self.text[start : start + 1]
        if head == "{":
            return self.object(start, depth)
        if head == "[":
            return self.array(start, depth)
        if head == '"':
            text, end = self.string(start)
            return JsonNode(text, self.span(start, end)), end
        for word, value in _WORDS.items():
            if self.text.startswith(word, start):
                return JsonNode(value, self.span(start, start + len(word))), start + len(word)
        found = _NUMBER.match(self.text, start)
        if found is None:
            raise JsonError("a JSON value is missing" if head else "the JSON text ends too early", start)
        fraction, exponent = found.groups()
        # beyond any real number; int() refuses some
        whole = fraction is None and exponent is None and len(found.group()) <= 300
        number: object = int(found.group()) if whole else float(found.group())
        return JsonNode(number, self.span(*found.span())), found.end()

    def string(self, start: int) -> tuple[str, int]:
        try:
            return scanstring(self.text, start + 1, True)
        except JSONDecodeError as error:
            raise JsonError(error.msg[:1].lower() + error.msg[1:], error.pos) from None

    def object(self, start: int, depth: int) -> tuple[JsonNode, int]:
        fields: dict[str, JsonNode] = {}
        position = self.space(start + 1)
        while self.text[position : position + 1] != "}":
            if fields:
                position = self.separator(position, "}")
            if self.text[position : position + 1] != '"':
                raise JsonError("a key in double quotes is missing", position)
            key, end = self.string(position)
            colon = self.space(end)
            if self.text[colon : colon + 1] != ":":
                raise JsonError("`:` is missing after the key", colon)
            node, after = self.value(self.space(colon + 1), depth + 1)
            node.key_span = self.span(position, end)
            fields[key] = node
            position = self.space(after)
        return JsonNode(fields, self.span(start, position + 1)), position + 1

    def array(self, start: int, depth: int) -> tuple[JsonNode, int]:
        items: list[JsonNode] = []
        position = self.space(start + 1)
        while self.text[position : position + 1] != "]":
            if items:
                position = self.separator(position, "]")
            node, after = self.value(position, depth + 1)
            items.append(node)
            position = self.space(after)
        return JsonNode(items, self.span(start, position + 1)), position + 1

    def separator(self, position: int, closing: str) -> int:
        if self.text[position : position + 1] != ",":
            raise JsonError(f"`,` or `{closing}` is missing", position)
        return self.space(position + 1)
