"""Disguises of one Rust expression; as those of Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from .python_file import Edit
from .rust_file import Node, RustFile


@dataclass
class RustSite:
    file: RustFile
    node: Node
    number: int = 0
    #: text for the end of the suite's `ffi_util.rs`
    shared: list[str] = field(default_factory=list)
    has_shared: bool = False

    @property
    def name(self) -> str:
        return f"disguised{self.number or ''}"

    @property
    def text(self) -> str:
        return self.file.of(self.node)

    @cached_property
    def statement(self) -> Node | None:
        """The nearest statement in a block, on a line of its own."""
        item = self.node
        while item is not None and item.parent is not None:
            if item.parent.type == "block" and item.is_named:
                line = self.file.data[self.file.data.rfind(b"\n", 0, item.start_byte) + 1 : item.start_byte]
                return item if not line.strip() else None
            if item.type in ("closure_expression", "match_arm", "let_chain"):
                return None
            item = item.parent
        return None

    @cached_property
    def free(self) -> list[str]:
        """Values that the site uses and does not bind: parameters and locals, also those that a macro has bound."""
        inside = set(self.file.bound(self.node))
        names = {
            node.text.decode()
            for node in self.file.walk(self.node)
            if node.type == "identifier" and not (node.parent.type == "call_expression" and node.parent.children[0] == node)
        }
        names = {name for name in names - inside if name[0].islower()}
        return list(dict.fromkeys(name for _, _, name in self.file.uses(self.node, names)))

    @cached_property
    def metas(self) -> dict[str, str]:
        """Metavariables in the site and their kinds."""
        kinds = dict(re.findall(r"\$(\w+):(\w+)", self.file.text))
        return {name: kinds.get(name, "tt") for name in dict.fromkeys(re.findall(r"\$(\w+)", self.text))}

    def replaced(self, new: str) -> Edit:
        return self.node.start_byte, self.node.end_byte, new

    def before(self, text: str) -> Edit | None:
        if self.statement is None:
            return None
        start = self.statement.start_byte
        return start, start, f"{text}\n{self.file.indent(start)}"

    def at_top(self, text: str) -> Edit:
        place = self.file.after_imports()
        return place, place, f"\n{text}\n"

    @property
    def is_value(self) -> bool:
        """Nothing in it leaves a function or loop."""
        return not re.search(r"\breturn\b|\?\s*$|\?\.|\bbreak\b|\bcontinue\b", self.text)


Disguise = Callable[[RustSite], "list[Edit] | None"]


def _macro(site: RustSite) -> tuple[str, str]:
    """A macro that gets the site's locals and metavariables, and its call."""
    start = site.node.start_byte
    data = site.node.text and site.file.data[site.node.start_byte : site.node.end_byte]
    edits = [(s - start, e - start, f"${n}") for s, e, n in site.file.uses(site.node, set(site.free))]
    for s, e, new in sorted(edits, reverse=True):
        if data[:s].endswith(b"{") and data[e : e + 1] in b":}":
            continue
        data = data[:s] + new.encode() + data[e:]
    pattern = [f"${name}:ident" for name in site.free] + [f"${name}:{kind}" for name, kind in site.metas.items()]
    given = [*site.free, *(f"${name}" for name in site.metas)]
    text = f"macro_rules! {site.name} {{\n    ({', '.join(pattern)}) => {{\n        {data.decode()}\n    }};\n}}"
    return text, f"{site.name}!({', '.join(given)})"


def _has_captures(site: RustSite) -> bool:
    return bool(re.search(r'"[^"]*\{\w+[:}]', site.text))


def helper_macro(site: RustSite) -> list[Edit] | None:
    if _has_captures(site):
        return None
    text, call = _macro(site)
    return [site.at_top(text), site.replaced(call)]


def macro_of_shared_file(site: RustSite) -> list[Edit] | None:
    if not site.has_shared or _has_captures(site):
        return None
    text, call = _macro(site)
    site.shared.append(f"\n{text}\npub(crate) use {site.name};\n")
    return [site.replaced(f"crate::ffi_util::{call}")]


def imported_macro(site: RustSite) -> list[Edit] | None:
    if not site.has_shared or _has_captures(site):
        return None
    text, call = _macro(site)
    site.shared.append(f"\n{text}\npub(crate) use {site.name};\n")
    return [site.at_top(f"use crate::ffi_util::{site.name};"), site.replaced(call)]


def local_macro(site: RustSite) -> list[Edit] | None:
    if "$" in site.text:  # of a macro already: what it repeats cannot stand in another one
        return None
    place = site.before(f"macro_rules! {site.name} {{\n    () => {{\n        {site.text}\n    }};\n}}")
    return place and [place, site.replaced(f"{site.name}!()")]


def called_closure(site: RustSite) -> list[Edit] | None:
    return [site.replaced(f"(|| {{ {site.text} }})()")] if site.is_value else None


def named_closure(site: RustSite) -> list[Edit] | None:
    if not site.is_value or site.node.type == "assignment_expression" or site.text.startswith("$("):
        return None
    place = site.before(f"let {site.name} = || {{ {site.text} }};")
    return place and [place, site.replaced(f"{site.name}()")]


def closure_with_parameters(site: RustSite) -> list[Edit] | None:
    types = _types(site)
    if types is None or not site.is_value:
        return None
    place = site.before(f"let {site.name} = |{', '.join(types)}| {site.text};")
    return place and [place, site.replaced(f"{site.name}({', '.join(site.free)})")]


def block(site: RustSite) -> list[Edit]:
    return [site.replaced(f"{{ {site.text} }}")] if _is_operand(site) else [site.replaced(f"({{ {site.text} }})")]


def _is_operand(site: RustSite) -> bool:
    return site.node.parent.type in ("let_declaration", "arguments", "assignment_expression")


def first_local(site: RustSite) -> list[Edit] | None:
    """A `let` of its own, where the statement begins with the site."""
    whole = site.statement
    if whole is None or site.node.type == "assignment_expression" or not site.is_value:
        return None
    value = whole.child_by_field_name("value") if whole.type == "let_declaration" else whole
    if value is None or value != site.node:
        return None
    place = site.before(f"let {site.name} = {site.text};")
    return place and [place, site.replaced(site.name)]


def in_a_match(site: RustSite) -> list[Edit]:
    text = f"match () {{ () => {site.text} }}"
    return [site.replaced(text if _is_operand(site) else f"({text})")]


def in_a_tuple(site: RustSite) -> list[Edit] | None:
    return None if site.node.type == "assignment_expression" else [site.replaced(f"({site.text}, 0).0")]


def _unit_statement(site: RustSite) -> Node | None:
    """The statement around the site if it has no value."""
    whole = site.statement
    if whole is None or whole.type != "expression_statement":
        return None
    return whole if site.file.of(whole).endswith(";") or whole.parent.named_children[-1] != whole else None


def under_if_true(site: RustSite) -> list[Edit] | None:
    """The whole statement under a condition that holds."""
    whole = _unit_statement(site)
    if whole is None or site.file.of(whole).startswith("return"):
        return None
    return [(whole.start_byte, whole.end_byte, f"if true {{ {site.file.of(whole)} }}")]


def in_a_loop(site: RustSite) -> list[Edit] | None:
    whole = _unit_statement(site)
    if whole is None or not site.is_value:
        return None
    return [(whole.start_byte, whole.end_byte, f"for _ in 0..1 {{ {site.file.of(whole)} }}")]


def in_a_function(site: RustSite) -> list[Edit] | None:
    types = _types(site)
    if types is None or not site.is_value or site.metas:
        return None
    node, result = site.node, _type_of(site, site.node)
    if node.type == "assignment_expression":
        node = node.child_by_field_name("right")
        result = _type_of(site, node)
        site = RustSite(site.file, node, site.number)
        types = _types(site)
    if result is None or types is None:
        return None
    text = f"fn {site.name}({', '.join(types)}) -> {result} {{\n    {site.text}\n}}"
    if site.file.is_device:
        top = node
        while top.parent is not None and not (top.parent.type == "declaration_list" and top.parent.parent.type == "mod_item"):
            top = top.parent
        if top.parent is None:
            return None
        while top.prev_sibling is not None and top.prev_sibling.type in ("attribute_item", "line_comment"):
            top = top.prev_sibling
        return [(top.start_byte, top.start_byte, text + "\n\n"), site.replaced(f"{site.name}({', '.join(site.free)})")]
    return [site.at_top(text), site.replaced(f"{site.name}({', '.join(site.free)})")]


_KNOWN = {"opts": "CompileOptions", "options": "CompileOptions", "dty": "&'static str", "device_id": "i32"}
_NUMBERS = re.compile(r"[iuf](?:8|16|32|64|size)|bool")


def _types(site: RustSite) -> list[str] | None:
    """`name: type` of the site's locals; None if one's is not written down. Const generics are parameters too."""
    found = []
    for name in site.free:
        text = _type_of_name(site, name)
        if text is None:
            return None
        found.append(f"{name}: {text}")
    return found


def _type_of_name(site: RustSite, name: str) -> str | None:
    for function in site.file.around(site.node):
        for node in site.file.walk(function):
            if node.type in ("parameter", "let_declaration") and node.start_byte < site.node.start_byte:
                pattern, kind = node.child_by_field_name("pattern"), node.child_by_field_name("type")
                if pattern is not None and pattern.text.decode() == name and kind is not None:
                    text = site.file.of(kind)
                    plain = _NUMBERS.fullmatch(text) or text.startswith("*const") or text in ("CompileOptions", "&TensorDesc")
                    return text if plain else None
    return _KNOWN.get(name, "&TensorDesc" if name.endswith("_d") else None)


def _type_of(site: RustSite, node: Node) -> str | None:
    text = site.file.of(node)
    if node.parent.type == "let_declaration" and node.parent.child_by_field_name("type") is not None:
        kind = site.file.of(node.parent.child_by_field_name("type"))
        return kind if _NUMBERS.fullmatch(kind) or kind == "CompileOptions" else None
    if node.parent.type == "assignment_expression":
        return _type_of_name(site, site.file.of(node.parent.child_by_field_name("left")))
    if re.match(r"(CompileOptions::default\(\)|opts|options)(\.\w+\([^()]*\))*$", text):
        return "CompileOptions"
    cast = re.search(r"\bas (\w+)$", text)
    return cast[1] if cast and node.type == "type_cast_expression" else None


RUST_EXPRESSIONS: dict[str, Disguise] = {
    function.__name__.replace("_", "-"): function
    for function in (
        helper_macro, macro_of_shared_file, imported_macro, local_macro, called_closure, named_closure, closure_with_parameters,
        block, first_local, in_a_match, in_a_tuple, under_if_true, in_a_loop, in_a_function,
    )
}  # fmt: skip
#: what the language of device kernels has, too
DEVICE = {"block", "first-local", "in-a-function"}
