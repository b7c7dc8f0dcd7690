"""A Rust file as bytes and tree. The bodies of `macro_rules!` are read as functions: the view that is parsed has the same length,
with `$x` written as `_x`, so that places in it are places of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import tree_sitter
import tree_sitter_rust

from .python_file import Edit, splice

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
Node = tree_sitter.Node
_TOKEN = re.compile(
    rb"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>b?"(?:\\.|[^"\\])*"|r\#*".*?"\#*)|(?P<char>'(?:\\.|[^'\\])')|(?P<life>'\w+)"""
    rb"""|(?P<word>\w+)|(?P<space>\s+)|(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_MACRO = re.compile(rb"macro_rules!\s*(\w+)\s*\{")
_CAPTURE = re.compile(rb"\{(\w+)(?=[:}])")


def tokens(data: bytes) -> Iterator[tuple[str, int, int]]:
    for match in _TOKEN.finditer(data):
        yield match.lastgroup or "", match.start(), match.end()


def closing(data: bytes, start: int) -> int:
    """Where the bracket that opens at `start` closes. Raises ValueError."""
    depth = 0
    for kind, begin, _ in tokens(data[start:]):
        if kind == "other":
            byte = data[start + begin : start + begin + 1]
            depth += (byte in b"([{") - (byte in b")]}")
            if depth == 0:
                return start + begin
    raise ValueError("a bracket is not closed")


class RustFile:
    def __init__(self, text: str) -> None:
        self.text = text
        self.data = text.encode()
        self.view = self._viewed()
        self.root = PARSER.parse(self.view).root_node
        if self.root.has_error:
            self.view = self.data
            self.root = PARSER.parse(self.view).root_node

    @property
    def is_device(self) -> bool:
        return b"cutile::module" in self.data

    def _viewed(self) -> bytes:
        view = bytearray(self.data)
        for match in _MACRO.finditer(self.data):
            try:
                self._view_macro(view, match.end())
            except ValueError:
                continue
        return bytes(view)

    def _view_macro(self, view: bytearray, inside: int) -> None:
        end = closing(self.data, inside - 1)
        place, begun = inside, self.data.rindex(b"macro_rules!", 0, inside)
        while (arrow := self.data.find(b"=>", place, end)) >= 0:
            pattern = self.data.find(b"(", place, arrow)
            if pattern < 0 or closing(self.data, pattern) > arrow:
                raise ValueError("a pattern that is not read")
            body = arrow + 2 + re.match(rb"\s*", self.data[arrow + 2 :]).end()
            if self.data[body : body + 1] != b"{":
                raise ValueError("a body that is not read")
            close = closing(self.data, body)
            head = b"fn m_()"
            if body - begun < len(head):
                raise ValueError("too short")
            view[begun:body] = head + re.sub(rb"[^\n]", b" ", self.data[begun + len(head) : body])
            view[body:close] = self.data[body:close].replace(b"$", b"_")
            place = begun = close + 1
        view[place : end + 1] = re.sub(rb"[^\n]", b" ", self.data[place : end + 1])

    def edited(self, edits: list[Edit]) -> str:
        return splice(self.data, edits).decode()

    def of(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode()

    def walk(self, node: Node | None = None) -> Iterator[Node]:
        stack = [node or self.root]
        while stack:
            item = stack.pop()
            yield item
            stack.extend(reversed(item.children))

    @cached_property
    def functions(self) -> list[Node]:
        return [node for node in self.walk() if node.type == "function_item"]

    def is_macro(self, function: Node) -> bool:
        return function.child_by_field_name("name").text == b"m_"

    @cached_property
    def exports(self) -> list[Node]:
        return [node for node in self.functions if re.search(r'extern\s+"C"', self.of(node).split("{", 1)[0])]

    def indent(self, offset: int) -> str:
        line = self.data[self.data.rfind(b"\n", 0, offset) + 1 : offset]
        return line.decode() if not line.strip() else ""

    def after_imports(self) -> int:
        """Behind the last `use` of the file's top; else before its first item."""
        place = next((n.start_byte for n in self.root.children if not n.type.endswith("comment")), 0)
        for node in self.root.children:
            if node.type == "use_declaration":
                place = self.data.find(b"\n", node.end_byte) + 1
            elif not node.type.endswith("comment") and node.type != "inner_attribute_item":
                break
        return place

    # ── names ──

    def bound(self, function: Node, before: int | None = None) -> list[str]:
        """Names that parameters, `let`, loops, arms and closures bind in a function, outside of its inner functions."""
        found: list[str] = []
        for node in self.walk(function):
            if node.type in ("parameter", "let_declaration", "for_expression", "match_arm", "let_condition"):
                pattern = node.child_by_field_name("pattern")
            elif node.type == "closure_parameters":
                pattern = node
            else:
                continue
            if pattern is None or (before is not None and pattern.start_byte >= before):
                continue
            for item in self.walk(pattern):
                plain = item.type == "identifier" and item.parent.type not in ("scoped_identifier", "tuple_struct_pattern")
                if item.type == "identifier" and item.parent.type == "tuple_struct_pattern":
                    plain = item.parent.child_by_field_name("type") != item
                name = item.text.decode() if plain else ""
                if plain and name[0].islower() and self.data[item.start_byte : item.start_byte + 1] != b"$":
                    found.append(name)
        return list(dict.fromkeys(found))

    def uses(self, node: Node, names: set[str]) -> list[tuple[int, int, str]]:
        """(start, end, name) of the names in a node, those in macro arguments and format texts among them."""
        found = []
        for item in self.walk(node):
            if item.type == "identifier" and item.text.decode() in names:
                if item.parent.type in ("scoped_identifier", "use_list", "macro_invocation", "scoped_use_list"):
                    continue
                if item.parent.type == "function_item" or _is_member(self.view[: item.start_byte].rstrip()):
                    continue
                found.append((item.start_byte, item.end_byte, item.text.decode()))
            elif item.type == "shorthand_field_identifier" and item.text.decode() in names:
                found.append((item.start_byte, item.end_byte, item.text.decode()))
            elif item.type == "string_literal":
                for match in _CAPTURE.finditer(item.text):
                    if match[1].decode() in names:
                        start = item.start_byte + match.start(1)
                        found.append((start, start + len(match[1]), match[1].decode()))
        return sorted(set(found))

    def around(self, node: Node) -> list[Node]:
        """The functions around a node, the nearest first."""
        found, item = [], node.parent
        while item is not None:
            if item.type == "function_item":
                found.append(item)
            item = item.parent
        return found


def _is_member(before: bytes) -> bool:
    return before.endswith((b".", b"$", b"::")) and not before.endswith(b"..")
