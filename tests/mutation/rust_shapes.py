"""Rewrites of a whole Rust file."""

from __future__ import annotations

import re

from .python_file import Edit
from .rust_file import Node, RustFile, tokens


def rename_locals(file: RustFile) -> str | None:
    """Parameters and locals of every function, those of exports too."""
    edits: set[Edit] = set()
    for function in file.functions:
        if any(other.start_byte < function.start_byte and function.end_byte <= other.end_byte for other in file.functions):
            continue
        names = {name for name in file.bound(function) if name not in ("self", "_")}
        for start, end, name in file.uses(function, names):
            short = any(n.type == "shorthand_field_identifier" for n in _at(file, start, end))
            edits.add((start, end, f"{name}: {name}_val" if short else f"{name}_val"))
    return file.edited(sorted(edits)) if edits else None


def _at(file: RustFile, start: int, end: int) -> list[Node]:
    node = file.root.descendant_for_byte_range(start, end)
    return [node] if node is not None else []


def one_line(file: RustFile) -> str:
    """Every run of blanks is one blank, as far as line comments allow."""
    return _respaced(file, " ")


def word_by_line(file: RustFile) -> str:
    return _respaced(file, "\n")


def _respaced(file: RustFile, blank: str) -> str:
    parts, after_comment = [], False
    for kind, start, end in tokens(file.data):
        text = file.data[start:end].decode()
        if kind == "space":
            text = "\n" if after_comment else blank
        after_comment = kind == "comment" and text.startswith("//")
        parts.append(text)
    return "".join(parts)


def comments_everywhere(file: RustFile) -> str:
    """A comment behind every opening bracket and comma."""
    parts = []
    for _, start, end in tokens(file.data):
        text = file.data[start:end].decode()
        parts.append(text)
        if text in (",", "(", "{"):
            parts.append(" /* .occupancy(x) */ ")
    return "".join(parts)


def body_in_a_function(file: RustFile) -> str | None:
    """The export hands its parameters to a function that has its body."""
    edits: list[Edit] = []
    for export in file.exports:
        name = file.of(export.child_by_field_name("name"))
        params, body = export.child_by_field_name("parameters"), export.child_by_field_name("body")
        given = [file.of(n.child_by_field_name("pattern")) for n in params.children if n.type == "parameter"]
        result = export.child_by_field_name("return_type")
        text = f"{{\n    unsafe {{ {name}_body({', '.join(given)}) }}\n}}\n\nunsafe fn {name}_body{file.of(params)}"
        text += f" -> {file.of(result)} " if result is not None else " "
        edits.append((body.start_byte, body.start_byte, text))
    return file.edited(edits) if edits else None


def body_in_a_block(file: RustFile) -> str | None:
    return _around_bodies(file, "{\n    unsafe ", "\n}")


def body_under_if(file: RustFile) -> str | None:
    return _around_bodies(file, "{\n    if true ", " else {\n        -1\n    }\n}")


def _around_bodies(file: RustFile, head: str, tail: str) -> str | None:
    edits: list[Edit] = []
    for export in file.exports:
        body = export.child_by_field_name("body")
        edits += [(body.start_byte, body.start_byte, head), (body.end_byte, body.end_byte, tail)]
    return file.edited(edits) if edits else None


def body_in_a_macro(file: RustFile) -> str | None:
    """The body is the expansion of a macro that is defined where it is used."""
    edits: list[Edit] = []
    for export in file.exports:
        body = export.child_by_field_name("body")
        if b"$" in file.data[body.start_byte : body.end_byte]:
            continue
        head = "{\n    macro_rules! whole_body {\n        () => {"
        edits += [(body.start_byte, body.start_byte, head), (body.end_byte, body.end_byte, "};\n    }\n    whole_body!()\n}")]
    return file.edited(edits) if edits else None


def export_by_macro(file: RustFile) -> str | None:
    """A macro makes the export under the name that it is given."""
    edits: list[Edit] = []
    for export in file.exports:
        name, start = export.child_by_field_name("name"), _with_attributes(export).start_byte
        if b"$(" in file.data[start : export.end_byte]:
            continue  # of a macro inside: the outer one would take it for its own
        word = file.of(name)
        edits.append((start, start, f"macro_rules! export_{word} {{\n    ($name:ident) => {{\n"))
        edits.append((name.start_byte, name.end_byte, "$name"))
        edits.append((export.end_byte, export.end_byte, f"\n    }};\n}}\n\nexport_{word}!({word});"))
    return file.edited(edits) if edits else None


def export_as_item(file: RustFile) -> str | None:
    """A macro gets the export as a whole and hands it on."""
    edits: list[Edit] = []
    for export in file.exports:
        word, start = file.of(export.child_by_field_name("name")), _with_attributes(export).start_byte
        head = f"macro_rules! as_it_is_{word} {{\n    ($item:item) => {{\n        $item\n    }};\n}}\n\nas_it_is_{word}! {{\n"
        edits += [(start, start, head), (export.end_byte, export.end_byte, "\n}")]
    return file.edited(edits) if edits else None


def export_body_in_a_guard(file: RustFile) -> str | None:
    """A macro makes an export that catches panics of a function's parameters and body."""
    edits: list[Edit] = []
    for export in file.exports:
        word, result = file.of(export.child_by_field_name("name")), export.child_by_field_name("return_type")
        if result is None or file.of(result) != "i32":
            continue
        start = _with_attributes(export).start_byte
        head = f"macro_rules! guarded_{word} {{{_GUARDED}}}\n\nguarded_{word}! {{\nfn "
        edits += [(start, export.child_by_field_name("name").start_byte, head), (export.end_byte, export.end_byte, "\n}")]
    return file.edited(edits) if edits else None


_GUARDED = """
    (fn $name:ident($($p:ident : $t:ty),* $(,)?) -> i32 $body:block) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($p: $t),*) -> i32 {
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| $body)) {
                Ok(code) => code,
                Err(_) => -9,
            }
        }
    };
"""


def _with_attributes(function: Node) -> Node:
    """The first of a function's attributes, or the function."""
    first, node = function, function.prev_sibling
    while node is not None and node.type in ("attribute_item", "line_comment", "block_comment"):
        first, node = node if node.type == "attribute_item" else first, node.prev_sibling
    return first


def shadow_parameters(file: RustFile) -> str | None:
    edits: list[Edit] = []
    for export in file.exports:
        params, body = export.child_by_field_name("parameters"), export.child_by_field_name("body")
        given = [file.of(n.child_by_field_name("pattern")) for n in params.children if n.type == "parameter"]
        place = body.start_byte + 1
        edits.append((place, place, "".join(f"\n    let {name} = {name};" for name in given)))
    return file.edited(edits) if edits else None


def reorder_items(file: RustFile) -> str | None:
    """The functions of the file's top, with what stands on them, in the opposite order."""
    spans = []
    for node in file.root.children:
        if node.type == "function_item" and not file.is_macro(node):
            first = node
            while first.prev_sibling is not None and first.prev_sibling.type in ("attribute_item", "line_comment"):
                first = first.prev_sibling
            if first is file.root.children[0]:
                return None
            spans.append((first.start_byte, node.end_byte))
    if len(spans) < 2:
        return None
    texts = [file.data[slice(*span)].decode() for span in reversed(spans)]
    return file.edited([(*span, text) for span, text in zip(spans, texts, strict=True)])


_FLIPPED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "==": "==", "!=": "!="}


def flip_comparisons(file: RustFile) -> str | None:
    edits: list[Edit] = []
    for node in file.walk():
        if node.type == "binary_expression" and (sign := file.of(node.child_by_field_name("operator"))) in _FLIPPED:
            left, right = (file.of(node.child_by_field_name(side)) for side in ("left", "right"))
            if not re.fullmatch(r"[\w.]+", left) or not re.fullmatch(r"[\w.\"]+", right):
                continue
            edits.append((node.start_byte, node.end_byte, f"{right} {_FLIPPED[sign]} {left}"))
    return file.edited(edits) if edits else None


def invert_ifs(file: RustFile) -> str | None:
    return _ifs(file, lambda test, body: f"if !({test}) {{\n}} else {body}")


def match_for_if(file: RustFile) -> str | None:
    return _ifs(file, lambda test, body: f"match {test} {{\n    true => {body}\n    false => {{}}\n}}")


def _ifs(file: RustFile, form) -> str | None:
    """`if` statements without `else`, outside of device code."""
    if file.is_device:
        return None
    edits: list[Edit] = []
    for node in file.walk():
        if node.type != "if_expression" or node.child_by_field_name("alternative") is not None:
            continue
        test, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if test.type.startswith("let_") or any(s <= node.start_byte < e for s, e, _ in edits):
            continue
        edits.append((node.start_byte, node.end_byte, form(file.of(test), file.of(body))))
    return file.edited(edits) if edits else None


def name_numbers(file: RustFile) -> str | None:
    """Numbers of host functions become constants of the file, as far as their type is that of `i32`."""
    if file.is_device:
        return None
    edits: list[Edit] = []
    for node in file.walk():
        if node.type == "unary_expression" and re.fullmatch(r"-\d", file.of(node)) and file.around(node):
            if node.parent.type in ("return_expression", "match_arm", "block"):
                edits.append((node.start_byte, node.end_byte, f"CODE_{file.of(node)[1:]}"))
        elif node.type == "integer_literal" and node.parent.type == "binary_expression" and file.of(node) == "0":
            edits.append((node.start_byte, node.end_byte, "CODE_0"))
    if not edits or any(b"size_of" in file.data for _ in edits[:1]):
        return None
    place = file.after_imports()
    text = "\n" + "".join(f"const CODE_{n}: i32 = {-n};\n" for n in range(10) if any(new == f"CODE_{n}" for _, _, new in edits))
    return file.edited([(place, place, text), *edits])


def full_paths(file: RustFile) -> str | None:
    """What is imported by name from `cutile` and `cuda_core` is written out where it is used."""
    return _imports(file, lambda path: path, keep=False)


def glob_imports(file: RustFile) -> str | None:
    """`use a::*` for imports of names as they are."""
    wanted = r"use ((?:cutile|cuda_core|crate)(?:::\w+)*)::(?:\{(?:(?!\bas\b)[^}])*\}|\w+);"
    changed = re.sub(wanted, r"use \1::*;", file.text)
    return changed if changed != file.text and not file.is_device else None


def import_renamed(file: RustFile) -> str | None:
    """`use a::X` becomes `use a::X as XAlias`."""
    return _imports(file, lambda path: path.rpartition("::")[2] + "Alias", keep=True)


def type_aliases(file: RustFile) -> str | None:
    """`use a::X as XOrigin; type XAlias = XOrigin;` for the types of the API."""
    if file.is_device:
        return None
    text = file.text
    for name in ("CompileOptions", "Device", "Stream"):
        if not re.search(rf"use [^;]*\b{name}\b", text):
            continue
        head, _, tail = text.rpartition("\nuse ")
        line, _, rest = tail.partition("\n")
        rest = re.sub(rf"(?<![\w:]){name}\b", f"{name}Alias", rest)
        text = f"{head}\nuse {line}\n\ntype {name}Alias = {name};\n{rest}"
    return text if text != file.text else None


def _imports(file: RustFile, named, keep: bool) -> str | None:
    if file.is_device:
        return None
    wanted: dict[str, str] = {}
    for match in re.finditer(r"(?m)^use ((?:cutile|cuda_core)(?:::\w+)*)::(?:\{([^{}]*)\}|(\w+));", file.text):
        for name in (match[2] or match[3]).split(","):
            if re.fullmatch(r"\s*\w+\s*", name) and name.strip() != "self" and not name.strip().endswith("Kernel"):
                wanted[name.strip()] = f"{match[1]}::{name.strip()}"
    wanted = {name: path for name, path in wanted.items() if name[0].isupper()}
    if not wanted:
        return None
    local = {"eprintln", "vec", "format", "panic", "matches", *re.findall(r"macro_rules!\s*(\w+)", file.text)}
    foreign = set(re.findall(r"\b(\w+)!\s*[({[]", file.text)) - local  # a macro's body finds its types where it is used
    start = max(file.text.find(f"use {path.split('::')[0]}") for path in wanted.values())
    last = [match.end() for match in re.finditer(r"(?m)^use [^;]*;", file.text)][-1]
    head, body = file.text[:last], file.text[last:]
    for name, path in wanted.items():
        body = re.sub(rf"(?<![\w:$]){name}\b", named(path), body)
        if keep:
            both = f"{name}, {name} as {named(path)}" if foreign else f"{name} as {named(path)}"
            head = re.sub(rf"::{name};", f"::{{{both}}};", head)
            head = re.sub(rf"(?<=[{{, ]){name}\b(?! as)", both, head) if "{" in head else head
    return head + body if start >= 0 else None


_UNRELATED = """
/// Names only: `.occupancy(7)`, `CompileOptions::default()`.
#[allow(dead_code)]
pub struct UnrelatedOptions {
    level: i32,
}

#[allow(dead_code)]
impl UnrelatedOptions {
    pub(crate) fn occupancy(mut self, level: i32) -> Self {
        self.level = level;
        self
    }

    pub(crate) fn compile_options(&self) -> i32 {
        self.level
    }
}

#[cfg(test)]
mod unrelated_tests {
    #[test]
    fn adds() {
        assert_eq!(1 + 1, 2);
    }
}
"""


def unrelated_code(file: RustFile) -> str | None:
    if file.is_device:
        return None
    return file.text.rstrip("\n") + "\n" + _UNRELATED


WHOLE = (
    rename_locals, one_line, word_by_line, comments_everywhere, body_in_a_function, body_in_a_block, body_under_if,
    body_in_a_macro, export_by_macro, export_as_item, export_body_in_a_guard, shadow_parameters, reorder_items, flip_comparisons,
    invert_ifs, match_for_if, name_numbers, full_paths, glob_imports, import_renamed, type_aliases, unrelated_code,
)  # fmt: skip
