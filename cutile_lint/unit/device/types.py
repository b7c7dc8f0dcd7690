"""Functions of device modules, and what type an expression in them has by the declarations around it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source, Span
from cutile_lint.sources.nested import Nested

if TYPE_CHECKING:
    from cutile_lint.unit.linking.crate import Crate
    from cutile_lint.unit.model import KernelUnit

TILES = frozenset(["Tile", "PointerTile"])
_HEAD = regex(r"^(?:&\s*)?(?:mut\s+)?(?:\w+\s*::\s*)*(\w+)\s*(?:<\s*([^,<>]+?)\s*,|$|<)")
_BLOCK_NUMBERS = frozenset(["get_tile_block_id", "get_num_tile_blocks"])
#: Calls and methods that give a tile of the same element type as their first operand.
_SAME_ELEMENT = frozenset(
    "reshape broadcast permute exp exp2 log log2 sqrt rsqrt sin cos tan tanh negf absf absi floor ceil addf subf mulf divf fma maxf minf "
    "addi subi muli divi true_div select reduce_sum reduce_max reduce_min reduce_prod max_tile min_tile pow remf mmaf mmai".split()
)
_TILE_MAKERS = frozenset(
    "convert_tile exti trunci itof ftoi load_view_tko load_tile cmpi cmpf andi ori xori iota bitcast ftof".split()
)


@dataclass(frozen=True, eq=False)
class Declaration:
    """A name with its type's text or its value, and the bytes in which it can be read."""

    name: str
    annotation: str
    value: syntax.Expr | None
    mutable: bool
    start: int
    end: int


@dataclass(eq=False)
class DeviceFunction:
    """A function inside a ``#[cutile::module]``."""

    crate: Crate
    function: syntax.Function
    source: Source
    module: syntax.ModuleDef

    @property
    def name(self) -> str:
        return self.function.name

    @cached_property
    def nodes(self) -> list[syntax.Node]:
        """All nodes of the function, parents first."""
        return list(self.function.walk())

    def place(self, node: syntax.Node) -> Place:
        return Place(self.source, node.span)

    @cached_property
    def statements(self) -> list[tuple[syntax.Stmt, Span]]:
        """All statements with the span of the block they stand in."""
        return list(_statements(self.function.body, self.function.span))

    def statement(self, node: syntax.Node) -> syntax.Stmt | None:
        """The innermost statement around a node."""
        return self._blocks.around(node.span.start, node.span.end)

    @cached_property
    def _blocks(self) -> Nested[syntax.Stmt]:
        return Nested((one.span.start, one.span.end, one) for one, _ in self.statements)

    @cached_property
    def declarations(self) -> dict[str, list[Declaration]]:
        found: dict[str, list[Declaration]] = {}
        span = self.function.span
        for param in self.function.params:
            found.setdefault(param.name, []).append(Declaration(param.name, param.annotation, None, False, span.start, span.end))
        for generic in self.function.generics:
            if generic.kind == "const":
                one = Declaration(generic.name, generic.bound, None, False, span.start, span.end)
                found.setdefault(generic.name, []).append(one)
        for node, block in self.statements:
            if isinstance(node, syntax.Assign) and node.declares:
                for one in _declared(node, block):
                    found.setdefault(one.name, []).append(one)
            elif isinstance(node, syntax.For) and isinstance(node.target, syntax.Name):
                start = node.iter
                while isinstance(start, syntax.Call) and isinstance(start.func, syntax.Attr):
                    start = start.func.base
                first = start.start if isinstance(start, syntax.Range) else None
                body = node.body[0].span.start if node.body else node.span.end
                one = Declaration(node.target.id, "", first, False, body, node.span.end)
                found.setdefault(node.target.id, []).append(one)
        return found

    def declaration(self, name: str, at: int) -> Declaration | None:
        """The declaration that a name means at an offset."""
        if name not in self._reaches:
            self._reaches[name] = Nested((one.start, one.end, one) for one in self.declarations.get(name, ()))
        return self._reaches[name].around(at, at + 1)

    @cached_property
    def _reaches(self) -> dict[str, Nested[Declaration]]:
        return {}

    # ── types ──

    def type_of(self, node: syntax.Expr | None, depth: int = 0) -> str:
        """The type's text (``Tile<f32, { [BM] }>``; ``Tile<_, _>`` when only that is known); "" when it is not known."""
        if node is None or depth > 12:
            return ""
        inner = lambda one: self.type_of(one, depth + 1)  # noqa: E731
        if isinstance(node, syntax.Name):
            found = self.declaration(node.id, node.span.start)
            if found is None:
                return self._constant(node.id)
            return found.annotation or inner(found.value)
        if isinstance(node, syntax.Const):
            return node.suffix or ("bool" if isinstance(node.value, bool) else "")
        if isinstance(node, syntax.Cast):
            return node.type
        if isinstance(node, syntax.Unary):
            return inner(node.operand)
        if isinstance(node, (syntax.Compare, syntax.Logic)):
            return "bool"
        if isinstance(node, syntax.Binary):
            types = [inner(node.left), inner(node.right)]
            return next((one for one in types if head(one) in TILES), "") or types[0] or types[1]
        if isinstance(node, syntax.Cond):
            return inner(node.then) or inner(node.orelse)
        if isinstance(node, syntax.Block):
            return inner(node.value)
        if isinstance(node, syntax.Attr):
            return "i32" if node.name.isdigit() and inner(node.base) == "(i32, i32, i32)" else ""
        if isinstance(node, syntax.Index):
            base = inner(node.base)
            return "i32" if head(base) == "Shape" or base.replace(" ", "").startswith("[i32") else ""
        return self._call(node, inner) if isinstance(node, syntax.Call) else ""

    def _constant(self, name: str) -> str:
        item = self.crate.find(name, self.source)
        return item.node.annotation if item is not None and isinstance(item.node, syntax.Assign) else ""

    def _call(self, node: syntax.Call, inner) -> str:
        name = callee(node)
        operands = arguments(node)
        first = operands[0] if operands else None
        if name in _BLOCK_NUMBERS:
            return "(i32, i32, i32)"
        if name in ("scalar_to_tile", "constant", "broadcast_scalar"):
            return f"Tile<{inner(first) or '_'}, _>"
        if name == "pointer_to_tile":
            return f"PointerTile<{inner(first) or '_'}, _>"
        if name == "tile_to_scalar":
            return element(inner(first))
        if name in ("shape", "get_tensor_shape") and isinstance(node.func, (syntax.Attr, syntax.Name)):
            return "Shape<_>"
        if name == "get_index_space_shape":
            return "[i32; _]"
        if name in ("max", "min", "clone") or name.startswith("assume_"):
            return inner(first)
        if name in _SAME_ELEMENT:
            kind = inner(
                operands[1] if name == "select" and len(operands) > 1 else operands[-1] if name.startswith("mma") else first
            )
            return f"{head(kind)}<{element(kind) or '_'}, _>" if head(kind) in TILES else "" if name == "pow" else "Tile<_, _>"
        if name in _TILE_MAKERS:
            return "Tile<_, _>"
        item = self.crate.find(node.func.id, self.source) if isinstance(node.func, syntax.Name) else None
        return item.node.function.returns if item is not None and isinstance(item.node, syntax.FunctionDef) else ""

    def is_tile(self, node: syntax.Expr | None) -> bool:
        return head(self.type_of(node)) in TILES


def head(type_: str) -> str:
    """``Tile`` of ``Tile<f32, { [BM] }>``."""
    match = _HEAD.match(type_.strip())
    return match.group(1) if match is not None else ""


def element(type_: str) -> str:
    """The element type of a tile's type; "" when it is not known."""
    match = _HEAD.match(type_.strip())
    found = (match.group(2) or "") if match is not None else ""
    return "" if found == "_" else found


def callee(node: syntax.Call) -> str:
    """The last name of what is called."""
    return node.func.name if isinstance(node.func, syntax.Attr) else node.func.last if isinstance(node.func, syntax.Name) else ""


def arguments(node: syntax.Call) -> list[syntax.Expr]:
    """The operands of a call, the object of a method first."""
    base = [node.func.base] if isinstance(node.func, syntax.Attr) else []
    return base + [arg.value for arg in node.args]


def device_functions(crate: Crate) -> Iterator[DeviceFunction]:
    """The functions of a crate's ``#[cutile::module]``s, in text order."""
    for module in crate.modules:
        for node in module.body:
            yield from _in_module(crate, node, module.source)


def device_modules(unit: KernelUnit) -> Iterator[tuple[syntax.ModuleDef, Source]]:
    for module in unit.rust_modules:
        for node in module.nodes(syntax.ModuleDef):
            if _is_device(node):
                yield node, module.source


def _is_device(node: syntax.ModuleDef) -> bool:
    return any(attribute.path.rsplit("::", 1)[-1] == "module" for attribute in node.attributes)


def _in_module(crate: Crate, node: syntax.Node, source: Source) -> Iterator[DeviceFunction]:
    if not isinstance(node, syntax.ModuleDef) or node.body is None:
        return
    if _is_device(node):
        for inner in node.walk():
            if isinstance(inner, syntax.FunctionDef):
                yield DeviceFunction(crate, inner.function, source, node)
    else:
        for inner in node.body:
            yield from _in_module(crate, inner, source)


def _declared(node: syntax.Assign, block: Span) -> Iterator[Declaration]:
    types = [node.annotation]
    values: list[syntax.Expr | None] = [node.value]
    targets = node.targets
    if len(targets) == 1 and isinstance(targets[0], syntax.Sequence):
        targets = targets[0].items
        types = split_types(node.annotation.strip()) if node.annotation.strip().startswith("(") else [""] * len(targets)
        if isinstance(node.value, syntax.Call) and callee(node.value) in _BLOCK_NUMBERS:
            types = ["i32"] * len(targets)
        values = list(node.value.items) if isinstance(node.value, syntax.Sequence) else [None] * len(targets)
    for at, target in enumerate(targets):
        if isinstance(target, syntax.Name):
            type_ = types[at] if at < len(types) else ""
            value = values[at] if at < len(values) else None
            yield Declaration(target.id, "" if type_ == "_" else type_, value, node.mutable, node.span.end, block.end)


def split_types(text: str) -> list[str]:
    """``(Tile<E, { [B] }>, Token)`` in its parts."""
    parts, depth, begin = [], 0, 1
    for at, char in enumerate(text):
        if char in "(<[{":
            depth += 1
        elif char in ")>]}":
            depth -= 1
        elif char == "," and depth == 1:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [*parts, text[begin : text.rfind(")")].strip()]


def _statements(body: list[syntax.Stmt], block: Span) -> Iterator[tuple[syntax.Stmt, Span]]:
    for node in body:
        yield node, block
        yield from _inside(node)


def _inside(node: syntax.Node) -> Iterator[tuple[syntax.Stmt, Span]]:
    for child in node.children():
        if isinstance(child, syntax.Stmt):
            yield child, _block_of(node, child)
        yield from _inside(child)


def _block_of(node: syntax.Node, child: syntax.Stmt) -> Span:
    """The span of the statement list that a child belongs to."""
    for name in ("body", "orelse"):
        found = getattr(node, name, None)
        if isinstance(found, list) and any(one is child for one in found):
            end = found[-1].span.end
            value = getattr(node, "value", None)
            if isinstance(node, syntax.Block) and value is not None:
                end = max(end, value.span.end)
            return Span(found[0].span.start, end)
    return node.span
