"""Tile IR text as tokens, and by tree-sitter-mlir the places that are no MLIR.

The grammar knows no Tile IR operation: its tree is flat and joins neighbouring operations, so that words, values and brackets are
all it could give. Those are read here in one pass; the grammar judges the syntax, and :mod:`reader` makes operations.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from cutile_lint.frontends.syntax import Fault
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import BOM, Source, Span

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: bytes; a text from the compiler has some 10 KB
MAX_SIZE = 1024 * 1024
#: nested brackets of all kinds
MAX_DEPTH = 200
MAX_FAULTS = 50
#: a text from the compiler has some thousand
MAX_TOKENS = 100_000

#: seconds of processor time: the grammar's error recovery is quadratic on text that is no MLIR (1 MB of Tile IR takes 0.6 s)
MAX_SECONDS = 1.2
#: bytes handed to the parser at a time: it asks anew for each token that it looks at again
_CHUNK = 512

_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_PUNCTUATION = frozenset({"<", ">", "(", ")", "[", "]", "{", "}", ",", ":", "=", "->"})
_KINDS = {"%": "value", "@": "symbol", "^": "label", '"': "string"}
_PIECE = regex(rb"//[^\n]*|->|\"(?:[^\"\\\n]|\\.)*\"?|[%@^][\w.$-]+(?:[:#]\d+)?|[\w.!#?$+\x80-\xff-]+|[^\s]")
# the grammar wants standard types in a block's arguments and calls Tile IR's short ones an error: it does not get to see them
_BLOCK_ARGUMENTS = regex(rb"(?<=\^)(\w+\s*)(\([^()\n]*\))(?=\s*:)")
# cutile-rs's stand-in for a constant's bytes
_DENSE_BYTES = regex(rb"(?<=dense<)[\d?]+ bytes(?=>)")


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
    items = _tokens(data)
    if len(items) > MAX_TOKENS:
        return Tokens([], [], f"more than {MAX_TOKENS:,} tokens")
    unbalanced = _unbalanced(items)
    if unbalanced:  # what the grammar says behind it is noise, and slow
        return Tokens(items, [unbalanced])
    root = _parse(data)
    if root is None:
        return Tokens([], [], "not Tile IR: the parser gave up")
    faults = sorted(_errors(root), key=lambda fault: (fault.span.start, fault.span.end)) if root.has_error else []
    return Tokens(items, faults[:MAX_FAULTS])


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_mlir

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_mlir.language()))


def _parse(data: bytes) -> Node | None:
    """The tree's root, in the text's offsets; None when the time is up."""
    shown = _BLOCK_ARGUMENTS.sub(lambda found: found.group(1) + b" " * len(found.group(2)), data)
    shown = _DENSE_BYTES.sub(lambda found: b"0" + b" " * (len(found.group()) - 1), shown)
    deadline = time.thread_time() + MAX_SECONDS
    parser = _parser()
    try:
        tree = parser.parse(
            lambda offset, _: shown[offset : offset + _CHUNK],
            progress_callback=lambda *_: time.thread_time() > deadline,
        )
    except ValueError:
        tree = None
    if tree is None:
        parser.reset()
    return tree.root_node if tree else None


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


def _tokens(data: bytes) -> list[Token]:
    result: list[Token] = []
    last_end = 0
    for found in _PIECE.finditer(data):
        piece = found.group()
        if piece.startswith(b"//"):
            continue
        start, end = found.span()
        text = piece.decode("utf-8", "replace")
        kind = _KINDS.get(text[0], "word") if len(text) > 1 else "word"
        if text in _PUNCTUATION:
            kind = text
        result.append(Token(kind, text, start, end, not result or b"\n" in data[last_end:start]))
        last_end = end
        if len(result) > MAX_TOKENS:
            break
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
