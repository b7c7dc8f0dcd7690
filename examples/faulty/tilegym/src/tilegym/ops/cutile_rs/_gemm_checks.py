"""What the GEMM family refuses, said before anything is allocated."""

from __future__ import annotations

import torch

DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def check_operands(op: str, a: torch.Tensor, b: torch.Tensor) -> None:
    """Raise unless ``a`` and ``b`` are CUDA tensors of one supported dtype on one device."""
    if a.dtype not in DTYPES:
        raise NotImplementedError(f"cutile-rs {op}: dtype {a.dtype} not supported")
    if b.dtype != a.dtype:
        raise NotImplementedError(f"cutile-rs {op}: operands must share a dtype, got {a.dtype} and {b.dtype}")
    if not a.is_cuda or b.device != a.device:
        raise ValueError(f"cutile-rs {op}: operands must be CUDA tensors on one device")


def check_matrices(op: str, a: torch.Tensor, b: torch.Tensor) -> None:
    """Raise unless ``a @ b`` is a product of two matrices that fit."""
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError(f"cutile-rs {op}: expected two matrices, got ranks {a.ndim} and {b.ndim}")
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"cutile-rs {op}: inner dimensions differ: {a.shape[1]} and {b.shape[0]}")
    if a.shape[1] == 0:
        raise ValueError(f"cutile-rs {op}: the inner dimension is empty")


def refuse_transposes(op: str, trans_a: bool | None, trans_b: bool | None) -> None:
    """The kernel has no transposed variant, and a copy per call would hide that."""
    if trans_a:
        raise NotImplementedError(f"cutile-rs {op}: trans_a is not supported")
