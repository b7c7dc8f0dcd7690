"""Tile IR text (``reference/*.mlir``, ``generated/*.mlir``) as typed facts, by tree-sitter-mlir."""

from cutile_lint.frontends.ir.facts import (
    DEFAULT_ARCH,
    FLOAT_OPS,
    LOW_PRECISION,
    Access,
    Hints,
    HintValue,
    IrEntry,
    IrModule,
    IrOp,
    IrParam,
    Loop,
    Mma,
    Operand,
    PartitionView,
    Reduction,
    TensorView,
)
from cutile_lint.frontends.ir.parse import parse_ir
from cutile_lint.frontends.ir.types import IrType

__all__ = [
    "DEFAULT_ARCH",
    "FLOAT_OPS",
    "LOW_PRECISION",
    "Access",
    "HintValue",
    "Hints",
    "IrEntry",
    "IrModule",
    "IrOp",
    "IrParam",
    "IrType",
    "Loop",
    "Mma",
    "Operand",
    "PartitionView",
    "Reduction",
    "TensorView",
    "parse_ir",
]
