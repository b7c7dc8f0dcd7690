"""What every part of the Rust frontend shares: where a tree's bytes are in the file, and the tables of handlers.

A :class:`Reader` belongs to one tree. The file's own tree is read with offset 0; a macro's body or arguments are parsed
again from a *mended* copy (metavariables and repetitions replaced by text of equal length, a few bytes lent around it),
so an offset in that tree plus :attr:`Reader.shift` is the offset in the file. Text always comes from the file: ``$E``
stays ``$E``.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from tree_sitter import Language, Node, Parser

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust.lexer import hidden
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Span

#: expressions, patterns and blocks nested deeper than this are refused
MAX_DEPTH = 160
#: macro text inside macro text inside …
MAX_MACRO_DEPTH = 24

COMMENTS = frozenset({"line_comment", "block_comment"})
EXTRAS = COMMENTS | {"attribute_item", "inner_attribute_item"}
METAVARIABLE = regex(rb"\$\w+")

#: seconds of processor time that the parser has for a file and all that is parsed again of it: the grammar's error recovery is
#: quadratic (200 KB of Rust take 0.05 s)
MAX_SECONDS = 1.2
#: texts below are parsed without looking at the clock meanwhile, which costs; the worst of this size takes 0.1 s
_SMALL = 20_000
#: bytes handed to the parser at a time
_CHUNK = 4096


class TooDeep(Exception):
    """The file nests deeper than the frontend reads."""


class TooSlow(Exception):
    """The text is not worth the time that the parser needs for it."""


def _without_comments(data: bytes) -> str:
    """The text with a blank for each comment."""
    kept = bytearray(data)
    for start, end, comment in reversed(list(hidden(data))):
        if comment:
            kept[start:end] = b" "
    return kept.decode()


@dataclass(frozen=True, slots=True)
class Repeated:
    """A repetition ``$( inner )sep*`` of a macro body, in file offsets."""

    outer: Span
    inner: Span

    def covers(self, offset: int) -> bool:
        return self.inner.start <= offset < self.inner.end


class Reader:
    """Reads one tree. ``data`` is the whole file, ``buffer`` the text that the tree was parsed from."""

    __slots__ = ("buffer", "data", "depth", "fragments", "macros", "repetitions", "shift")

    def __init__(
        self,
        data: bytes,
        buffer: bytes,
        shift: int = 0,
        depth: int = 0,
        macros: int = 0,
        fragments: dict[str, str] | None = None,
        repetitions: tuple[Repeated, ...] = (),
    ) -> None:
        self.data = data
        self.buffer = buffer
        self.shift = shift
        self.depth = depth
        self.macros = macros
        #: ``$x`` → its fragment kind, of all macros around
        self.fragments = fragments or {}
        #: repetitions that have not been entered yet
        self.repetitions = repetitions

    def span(self, node: Node) -> Span:
        return Span(node.start_byte + self.shift, node.end_byte + self.shift)

    def span_between(self, first: Node, last: Node) -> Span:
        return Span(first.start_byte + self.shift, last.end_byte + self.shift)

    def name(self, node: Node) -> syntax.Name:
        """A path as a name, on one line."""
        start = node.start_byte + self.shift
        end = node.end_byte + self.shift
        text = self._slice(start, end)
        return syntax.Name(Span(start, end), " ".join(text.split()) if "\n" in text or "\r" in text else text)

    def text(self, node: Node | None) -> str:
        """The file's text of a node ("" for none); a mended metavariable gives the metavariable."""
        return "" if node is None else self._slice(node.start_byte + self.shift, node.end_byte + self.shift)

    def _slice(self, start: int, end: int) -> str:
        if self.buffer is not self.data and self.data[start] == 36 and (whole := METAVARIABLE.match(self.data, start)):
            end = max(end, whole.end())
        return self.data[start:end].decode("utf-8", "replace")

    def inline(self, node: Node | None) -> str:
        """As :meth:`text`, on one line and without comments."""
        text = self.text(node)
        if "/*" in text or "//" in text:
            text = " ".join(_without_comments(text.encode()).split())
        return " ".join(text.split()) if "\n" in text or "\r" in text else text

    def is_metavariable(self, node: Node) -> bool:
        """The node is a lone mended ``$x``."""
        if self.buffer is self.data:
            return False
        start = node.start_byte + self.shift
        if self.data[start] != 36:
            return False
        whole = METAVARIABLE.match(self.data, start)
        return whole is not None and node.end_byte + self.shift <= whole.end()

    def expression(self, node: Node) -> syntax.Expr:
        kind = node.type
        if kind == "identifier":  # half of all
            return self.name(node)
        handler = EXPRESSIONS.get(kind)
        if handler is None:
            return syntax.Opaque(self.span(node), kind)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep
        result = handler(self, node)
        self.depth -= 1
        return result

    def field(self, node: Node, name: str) -> syntax.Expr:
        """The expression in a field that the grammar requires."""
        value = node.child_by_field_name(name)
        return syntax.Opaque(self.span(node), "error") if value is None else self.expression(value)

    def inner(self, node: Node, position: int = 0) -> syntax.Expr:
        """The expression that is a node's child at a position (comments and attributes not counted)."""
        below = parts(node)
        return self.expression(below[position]) if below else syntax.Opaque(self.span(node), "error")

    def pattern(self, node: Node) -> syntax.Pattern:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep
        handler = PATTERNS.get(node.type, PATTERNS[""])
        result = handler(self, node)
        self.depth -= 1
        return result

    def below(
        self, buffer: bytes, shift: int, fragments: dict[str, str] | None = None, repetitions: tuple[Repeated, ...] | None = None
    ) -> Reader:
        """A reader for text of this file that is parsed again."""
        if self.macros >= MAX_MACRO_DEPTH:
            raise TooDeep
        return Reader(
            self.data,
            buffer,
            shift,
            self.depth,
            self.macros + 1,
            self.fragments if fragments is None else fragments,
            self.repetitions if repetitions is None else repetitions,
        )


ExpressionHandler: TypeAlias = Callable[[Reader, Node], syntax.Expr]
PatternHandler: TypeAlias = Callable[[Reader, Node], syntax.Pattern]
ItemHandler: TypeAlias = Callable[[Reader, Node, "list[syntax.Attribute]"], "syntax.Stmt | None"]

StatementHandler: TypeAlias = Callable[[Reader, Node, Span], syntax.Stmt]

EXPRESSIONS: dict[str, ExpressionHandler] = {}
STATEMENTS: dict[str, StatementHandler] = {}
PATTERNS: dict[str, PatternHandler] = {}
ITEMS: dict[str, ItemHandler] = {}


def expression(*types: str) -> Callable[[ExpressionHandler], ExpressionHandler]:
    """Register a handler for node types in value position."""

    def register(handler: ExpressionHandler) -> ExpressionHandler:
        EXPRESSIONS.update(dict.fromkeys(types, handler))
        return handler

    return register


def statement(*types: str) -> Callable[[StatementHandler], StatementHandler]:
    """Register a handler for node types in statement position; any other is an expression statement."""

    def register(handler: StatementHandler) -> StatementHandler:
        STATEMENTS.update(dict.fromkeys(types, handler))
        return handler

    return register


def pattern(*types: str) -> Callable[[PatternHandler], PatternHandler]:
    def register(handler: PatternHandler) -> PatternHandler:
        PATTERNS.update(dict.fromkeys(types, handler))
        return handler

    return register


def item(*types: str) -> Callable[[ItemHandler], ItemHandler]:
    def register(handler: ItemHandler) -> ItemHandler:
        ITEMS.update(dict.fromkeys(types, handler))
        return handler

    return register


def parts(node: Node) -> list[Node]:
    """Named children without comments and attributes."""
    return [child for child in node.named_children if child.type not in EXTRAS]


@cache
def language() -> Language:
    return Language(grammar())


def grammar() -> object:
    """``tree_sitter_rust.language()`` without the module around it, which prepares for reading query files and costs ten times as much."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    name = "tree_sitter_rust._binding"
    package = PathFinder.find_spec("tree_sitter_rust")
    found = PathFinder.find_spec(name, package.submodule_search_locations) if package is not None else None
    if name not in sys.modules and found is not None and found.loader is not None:
        module = sys.modules[name] = module_from_spec(found)
        found.loader.exec_module(module)
        return module.language()
    import tree_sitter_rust

    return tree_sitter_rust.language()


class _Local(threading.local):
    def __init__(self) -> None:
        self.parser = Parser(language())
        #: what is left for the file that is being read
        self.seconds = 0.0


_LOCAL = _Local()


def start_clock() -> None:
    """A file begins to be read: the parser has :data:`MAX_SECONDS` for all of its texts."""
    _LOCAL.seconds = MAX_SECONDS


def tree(text: bytes) -> Node:
    """The root of the text's tree (a parser per thread, made once). Raises :class:`TooSlow` when the file's time is up."""
    started = time.thread_time()
    deadline = started + _LOCAL.seconds
    if _LOCAL.seconds <= 0:
        raise TooSlow
    if len(text) <= _SMALL:
        found = _LOCAL.parser.parse(text)
    else:
        try:
            found = _LOCAL.parser.parse(
                lambda offset, _: text[offset : offset + _CHUNK], progress_callback=lambda *_: time.thread_time() > deadline
            )
        except ValueError:
            found = None
    _LOCAL.seconds -= time.thread_time() - started
    if found is None:
        _LOCAL.parser.reset()
        raise TooSlow
    return found.root_node
