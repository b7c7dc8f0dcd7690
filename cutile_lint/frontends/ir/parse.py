"""A Tile IR text as typed facts."""

from __future__ import annotations

from cutile_lint.frontends.ir.facts import (
    FLOAT_OPS,
    Access,
    IrEntry,
    IrModule,
    IrOp,
    Loop,
    Mma,
    Operand,
    PartitionView,
    Reduction,
    TensorView,
)
from cutile_lint.frontends.ir.reader import Reader
from cutile_lint.frontends.ir.tokens import read_tokens
from cutile_lint.frontends.ir.types import VIEWS, IrType
from cutile_lint.sources import Source

#: where the target stands among the operands, and through what it goes
_ACCESSES = {
    "load_view_tko": ("load", "view", 0),
    "store_view_tko": ("store", "view", 1),
    "load_ptr_tko": ("load", "pointer", 0),
    "store_ptr_tko": ("store", "pointer", 0),
    "atomic_rmw_tko": ("atomic", "pointer", 0),
    "atomic_cas_tko": ("atomic", "pointer", 0),
    "atomic_red_view_tko": ("atomic", "view", 1),
}
_CUTS = frozenset({"make_partition_view", "make_strided_view", "make_gather_scatter_view"})
_MMAS = frozenset({"mmaf", "mmaf_scaled", "mmai"})
_CONTROL = frozenset({"yield", "return", "continue", "break"})


def parse_ir(source: Source) -> IrModule:
    """Read a Tile IR text as ``tileirdisasm``, ``cuda-tile-opt`` or cutile-rs prints it. Never raises."""
    tokens = read_tokens(source)
    module = IrModule(source, faults=tokens.faults, refused=tokens.refused)
    reader = Reader(tokens.items, source.data)
    for top in reader.read():
        for op in top.walk():
            if op.name == "module" and not module.name:
                module.name = op.symbol
            elif op.name == "entry" and op.symbol:
                module.entries.append(_entry(op, reader, source))
    return module


def _entry(op: IrOp, reader: Reader, source: Source) -> IrEntry:
    at = source.data.find(b"@" + op.symbol.encode(), op.span.start, op.span.end)
    name_span = type(op.span)(at + 1, at + 1 + len(op.symbol.encode())) if at != -1 else op.name_span
    entry = IrEntry(op, op.symbol, name_span, reader.params.get(id(op), []), op.hints)
    tensors: dict[int, TensorView] = {}
    cuts: dict[int, PartitionView] = {}
    for inner in op.walk():
        if inner is op:
            continue
        entry.ops.append(inner)
        name = inner.name
        if name == "make_tensor_view":
            tensors[id(inner)] = _tensor_view(inner)
            entry.tensor_views.append(tensors[id(inner)])
        elif name in _CUTS:
            cuts[id(inner)] = _cut(inner, tensors)
            entry.partition_views.append(cuts[id(inner)])
        elif name in _ACCESSES:
            entry.accesses.append(_access(inner, cuts))
        elif name in _MMAS:
            entry.mmas.append(Mma(inner, *_first_types(inner, 3)))
        elif name in ("reduce", "scan"):
            entry.reductions.append(_reduction(inner))
        elif name == "permute":
            entry.permutes.append(inner)
        elif name in ("for", "loop"):
            entry.loops.append(Loop(inner, *_operands(inner, 3)) if name == "for" else Loop(inner))
        if name in FLOAT_OPS:
            entry.float_ops.append(inner)
    return entry


def _operands(op: IrOp, count: int) -> list[Operand | None]:
    return [op.operands[index] if index < len(op.operands) else None for index in range(count)]


def _first_types(op: IrOp, count: int) -> list[IrType | None]:
    return [op.operand_types[index] if index < len(op.operand_types) else None for index in range(count)]


def _of_kind(types: tuple[IrType, ...], *kinds: str) -> IrType | None:
    return next((found for found in types if found.kind in kinds), None)


def _tensor_view(op: IrOp) -> TensorView:
    (base,) = _operands(op, 1)
    shape, strides = (_tuple(op.attributes.get(name)) for name in ("shape", "strides"))
    return TensorView(op, base, shape, strides, _of_kind(op.result_types, "tensor_view"))


def _tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else ()


def _cut(op: IrOp, tensors: dict[int, TensorView]) -> PartitionView:
    (source,) = _operands(op, 1)
    tensor = tensors.get(id(source.producer)) if source is not None and source.producer is not None else None
    found = _of_kind(op.result_types, *VIEWS)
    if found is None:
        return PartitionView(op, tensor, (), None, "", None)
    return PartitionView(op, tensor, found.shape, found.dim_map, found.padding, found)


def _access(op: IrOp, cuts: dict[int, PartitionView]) -> Access:
    kind, through, position = _ACCESSES[op.name]
    target = _operands(op, position + 1)[position]
    view = cuts.get(id(target.producer)) if target is not None and target.producer is not None else None
    loaded = _of_kind(op.result_types, "tile") if kind != "store" else None
    # a store's first tile type is the value's with a view, the addresses' with a pointer
    stored = [found for found in op.operand_types if found.kind == "tile" and not found.pointer]
    tile = loaded or (stored[0] if stored else None)
    return Access(op, kind, through, target, view, tile, tile.element if tile else "")


def _reduction(op: IrOp) -> Reduction:
    dim = op.attributes.get("dim")
    combiners = tuple(inner.name for inner in op.walk() if inner is not op and inner.name not in _CONTROL)
    return Reduction(op, dim if type(dim) is int else None, combiners, op.operand_types, op.result_types)
