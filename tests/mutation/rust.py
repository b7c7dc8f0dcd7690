"""The rewrites of Rust, on trees of files."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence

from cutile_lint.engine.cases import Tree

from .python import Rewrite
from .rust_file import Node, RustFile
from .rust_places import DEVICE, RUST_EXPRESSIONS, Disguise, RustSite
from .rust_shapes import WHOLE
from .sources import Span

_EXPRESSIONS = {
    "call_expression", "binary_expression", "unary_expression", "reference_expression", "macro_invocation", "type_cast_expression",
    "assignment_expression", "tuple_expression", "field_expression",
}  # fmt: skip


def _files(tree: Tree) -> list[tuple[str, RustFile]]:
    chosen = [path for path in tree if path.endswith(".rs") and not path.endswith(("lib.rs", "build.rs"))]
    return [(path, RustFile(tree[path])) for path in chosen if "\r" not in tree[path] and "\ufeff" not in tree[path]]


def whole(change: Callable[[RustFile], str | None]) -> Rewrite:
    def rewrite(tree: Tree, places: Sequence[Span]) -> Tree | None:
        new = {}
        for path, file in _files(tree):
            text = None if file.root.has_error else change(file)
            if text is not None and text != file.text:
                new[path] = text
        return {**tree, **new} if new else None

    return rewrite


def disguised(name: str, disguise: Disguise) -> Rewrite:
    def rewrite(tree: Tree, places: Sequence[Span]) -> Tree | None:
        new: Tree = {}
        count = 0
        for path, file in _files(tree):
            if file.root.has_error or (file.is_device and name not in DEVICE):
                continue
            shared = _shared(tree, path)
            edits, taken = [], []
            for node in _at(file, [place for place in places if place[0] == path]) if places else _some(file):
                if any(node.start_byte < end and start < node.end_byte for start, end in taken):
                    continue
                site = RustSite(file, node, count, has_shared=shared is not None and shared != path)
                made = disguise(site)
                if not made or any(item is None for item in made):
                    continue
                count += 1
                whole_statement = made[-1][:2]
                taken.append((min(node.start_byte, whole_statement[0]), max(node.end_byte, whole_statement[1])))
                edits += made
                if site.shared and shared is not None:
                    new[shared] = new.get(shared, tree[shared]) + "".join(site.shared)
            if edits:
                try:
                    new[path] = file.edited(edits)
                except ValueError:
                    return None
        return {**tree, **new} if new else None

    return rewrite


def _shared(tree: Tree, path: str) -> str | None:
    """The `ffi_util.rs` that a crate root of the tree declares as a module."""
    declared = any(re.search(r"\bmod ffi_util\b", text) for other, text in tree.items() if other.endswith("lib.rs"))
    found = [other for other in tree if other.endswith("ffi_util.rs")]
    near = [other for other in found if path.startswith(other.removesuffix("ffi_util.rs"))]
    return near[0] if declared and near and re.search(r"ffi_util::", tree[path]) else None


def _at(file: RustFile, places: Sequence[Span]) -> list[Node]:
    found = []
    for _, start, end in places:
        node = file.root.descendant_for_byte_range(start, end)
        while node is not None and not _may_move(file, node):
            node = node.parent
        if node is not None and node not in found and node.end_byte - node.start_byte < 2000:
            found.append(node)
    return found


def _may_move(file: RustFile, node: Node) -> bool:
    if node.type not in _EXPRESSIONS or node.parent is None or not file.around(node) or re.search(r"\bself\b", file.of(node)):
        return False
    if node.type == "field_expression" and node.parent.type == "call_expression":
        return node.parent.child_by_field_name("function") != node
    parent = node.parent
    is_left = parent.type == "assignment_expression" and parent.child_by_field_name("left") == node
    return not is_left and parent.type not in ("parameter", "attribute", "const_item", "static_item", "array_type")


def _some(file: RustFile, most: int = 4) -> list[Node]:
    found = [node for node in file.walk() if node.type == "call_expression" and _may_move(file, node)]
    found = [node for node in found if node.end_byte - node.start_byte < 200]
    return sorted(found, key=lambda node: zlib.crc32(f"{node.start_byte}{file.of(node)}".encode()))[:most]


RUST: dict[str, Rewrite] = {
    **{f"rs-{name}": disguised(name, function) for name, function in RUST_EXPRESSIONS.items()},
    **{f"rs-{function.__name__.replace('_', '-')}": whole(function) for function in WHOLE},
}
