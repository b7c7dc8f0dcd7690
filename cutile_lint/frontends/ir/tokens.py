"""Tile IR text as tokens, by tree-sitter-mlir, with the places it cannot read.

The grammar knows no Tile IR operation, so its tree is flat and joins neighbouring operations: what it gives is the words,
strings, values and brackets, and the errors. :mod:`reader` makes operations of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cutile_lint.frontends.syntax import Fault
from cutile_lint.sources import BOM, Source, Span

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: bytes; the largest text seen from the compiler has 0.3 MB
MAX_SIZE = 2 * 1024 * 1024
#: nested brackets of all kinds
MAX_DEPTH = 200
MAX_FAULTS = 50

_WHOLE = frozenset({"value_use", "symbol_ref_id", "caret_id", "string_literal"})
_PUNCTUATION = frozenset({"<", ">", "(", ")", "[", "]", "{", "}", ",", ":", "=", "->", "::"})
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
# the grammar wants standard types in a block's arguments and calls Tile IR's short ones an error: it does not get to see them
_BLOCK_ARGUMENTS = re.compile(rb"(?<=\^)(\w+\s*)(\([^()\n]*\))(?=\s*:)")
# cutile-rs's stand-in for a constant's bytes
_DENSE_BYTES = re.compile(rb"(?<=dense<)[\d?]+ bytes(?=>)")
_PIECE = re.compile(r"->|\"[^\"\n]*\"|%[\w.$-]+(?:[:#]\d+)?|[@^][\w.$-]+|[\w.!#?$+-]+|\S")


@dataclass(frozen=True, slots=True)
class Token:
    """``kind``: "word" (names, numbers, dimension lists), "value" (``%x``), "symbol" (``@x``), "label" (``^bb0``), "string",
    or the punctuation itself. ``first``: nothing but space stands before it on its line."""

    kind: str
    text: str
    start: int
    end: int
    first: bool


@dataclass(slots=True)
class Tokens:
    """``items`` of the whole text; ``refused`` says why there are none."""

    items: list[Token]
    faults: list[Fault]
    refused: str = ""


def read_tokens(source: Source) -> Tokens:
    data = source.data
    if len(data) > MAX_SIZE:
        return Tokens([], [], f"{len(data)} bytes are more than the limit of {MAX_SIZE}")
    if b"\0" in data:
        at = data.index(b"\0")
        return Tokens([], [Fault(Span(at, at + 1), "a NUL byte")])
    if _depth(data) > MAX_DEPTH:
        return Tokens([], [], f"brackets nest deeper than {MAX_DEPTH}")
    if data.startswith(BOM):
        data = b"   " + data[len(BOM) :]
    # a lone CR is a line end too, and the grammar's comments end at LF only
    data = re.sub(rb"\r(?!\n)", b"\n", data)
    shown = _BLOCK_ARGUMENTS.sub(lambda found: found.group(1) + b" " * len(found.group(2)), data)
    shown = _DENSE_BYTES.sub(lambda found: b"0" + b" " * (len(found.group()) - 1), shown)
    root = _parser().parse(shown).root_node
    items = _joined(data, _leaves(data, root))
    faults = list(_errors(root)) if root.has_error else []
    unbalanced = _unbalanced(items)
    if unbalanced:
        faults = [unbalanced, *(fault for fault in faults if fault.span.start < unbalanced.span.start)]
    faults.sort(key=lambda fault: (fault.span.start, fault.span.end))
    return Tokens(items, faults[:MAX_FAULTS])


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_mlir

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_mlir.language()))


def _depth(data: bytes) -> int:
    """Deepest nesting of brackets, wherever they stand (a bound, not a count)."""
    depth = deepest = 0
    for bracket in re.findall(rb"->|[<>(){}\[\]]", data):
        if bracket in b"<({[":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket != b"->":
            depth = max(0, depth - 1)
    return deepest


def _leaves(data: bytes, root: Node) -> Iterator[tuple[str, int, int]]:
    """(type, start, end) of each leaf in order; what the parser skipped comes in pieces, so that no byte is lost."""
    cursor = root.walk()
    position = 0
    while True:
        node = cursor.node
        assert node is not None
        if node.type in _WHOLE or not cursor.goto_first_child():
            start, end = node.start_byte, node.end_byte
            yield from _pieces(data, position, start)
            if node.type in _WHOLE:
                yield node.type, start, end
            elif node.type != "comment":
                yield from _pieces(data, start, end)
            position = max(position, end)
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    yield from _pieces(data, position, len(data))
                    return


def _pieces(data: bytes, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    text = data[start:end].decode("utf-8", "replace")
    if not text.strip():
        return
    for found in _PIECE.finditer(text):
        at = start + len(text[: found.start()].encode())
        yield _kind(found.group()), at, at + len(found.group().encode())


def _kind(text: str) -> str:
    if text in _PUNCTUATION:
        return text
    sorts = {"%": "value_use", "@": "symbol_ref_id", "^": "caret_id", '"': "string_literal"}
    return sorts.get(text[0], "word") if len(text) > 1 else "word"


def _joined(data: bytes, leaves: Iterator[tuple[str, int, int]]) -> list[Token]:
    """Tokens; words that touch are one (``!cuda_tile.tile``, ``64x32xf16``, ``-1``)."""
    names = {"value_use": "value", "symbol_ref_id": "symbol", "caret_id": "label", "string_literal": "string"}
    runs: list[tuple[str, int, int]] = []
    for kind, start, end in leaves:
        if kind == "word" and runs and runs[-1][0] == "word" and runs[-1][2] == start:
            runs[-1] = ("word", runs[-1][1], end)
        else:
            runs.append((names.get(kind, kind), start, end))
    result: list[Token] = []
    last_end = 0
    for kind, start, end in runs:
        first = not result or b"\n" in data[last_end:start]
        result.append(Token(kind, data[start:end].decode("utf-8", "replace"), start, end, first))
        last_end = end
    return result


def _errors(root: Node) -> Iterator[Fault]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_missing:
            yield Fault(Span(node.start_byte, node.end_byte), f"`{node.type}` is missing")
        elif node.is_error:
            text = (node.text or b"").decode("utf-8", "replace").strip().split("\n")[0][:40]
            yield Fault(Span(node.start_byte, node.end_byte), f"not Tile IR: `{text}`")
        elif node.has_error:
            stack.extend(reversed(node.children))


def _unbalanced(items: list[Token]) -> Fault | None:
    """The first bracket without its partner."""
    stack: list[Token] = []
    for token in items:
        if token.kind in _CLOSING:
            stack.append(token)
        elif token.kind in _CLOSING.values():
            if not stack or _CLOSING[stack[-1].kind] != token.kind:
                return Fault(Span(token.start, token.end), f"`{token.kind}` closes nothing that is open here")
            stack.pop()
    if stack:
        return Fault(Span(stack[-1].start, stack[-1].end), f"`{stack[-1].kind}` is never closed")
    return None
