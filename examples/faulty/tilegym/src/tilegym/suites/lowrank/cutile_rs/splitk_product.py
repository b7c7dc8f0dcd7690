"""splitk_product of the lowrank suite on the cutile-rs backend (forward only).

``C[m, n] = A[m, k] @ B[k, n]`` for thin outputs and a long ``k``. The inner dimension is cut into ``SPLIT_K`` slices;
every slice adds its part to ``C`` with atomics. So ``C`` has to be zero before each launch, timed ones included, and
it is f32 whatever the operands are: adding rounded parts would lose the precision that the split is meant to keep.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch
from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.autotuner import autotune_launch
from tilegym.backend.cutile_rs.utils import bind_kernel_function_cffi, check_rc, make_tensor_desc

_HERE = os.path.dirname(os.path.abspath(__file__))
_CRATE_DIR = os.path.join(_HERE, "lowrank_kernels")
_SRC_ROOTS = (_HERE, os.path.join(_HERE, "..", "..", "..", "ops", "cutile_rs"))
_SO_NAME = "liblowrank_kernels.so"

_KERNEL = "lowrank_splitk_product"
_FFI_NAME = "cutile_splitk_product"
# keep in step with `cutile_splitk_product` in rust/splitk_export.rs
_FFI_CDEF = """
int32_t cutile_splitk_product(
    const TensorDesc* c, const TensorDesc* a, const TensorDesc* b,
    int32_t bm, int32_t bn, int32_t bk, int32_t split_k,
    int32_t num_cta_in_cga, int32_t occupancy,
    int32_t device_id, uint64_t raw_stream);
"""

_AUTO = -1
_DEFAULT_OCCUPANCY = -1
_DTYPES = (torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class _Config:
    BM: int
    BN: int
    BK: int
    SPLIT_K: int
    OCCUPANCY: int | None = None


def _configs(k: int) -> list[_Config]:
    """Tile shapes against slices; a slice is never shorter than one step of the loop."""
    space = [_Config(bm, 64, 64, split, occ) for bm, split, occ in product((32, 64), (4, 8, 16), (1, 2))]
    return [cfg for cfg in space if cfg.SPLIT_K * cfg.BK <= k] or [_Config(32, 64, 64, 1)]


def _launch(c, a, b, cfg: _Config):
    ffi, lib = bind_kernel_function_cffi(_KERNEL, _FFI_CDEF, crate_dir=_CRATE_DIR, src_roots=_SRC_ROOTS, so_name=_SO_NAME)
    device = a.device
    device_id = device.index if device.index is not None else torch.cuda.current_device()
    stream = torch.cuda.current_stream(device=device).cuda_stream
    descs = [make_tensor_desc(ffi, tensor) for tensor in (c, a, b)]
    rc = lib.cutile_splitk_product(
        *descs,
        cfg.BM,
        cfg.BN,
        cfg.BK,
        cfg.SPLIT_K,
        _AUTO,
        _DEFAULT_OCCUPANCY,
        device_id,
        stream,
    )
    check_rc(rc, _FFI_NAME)


def _trial(a, b, m, n, cfg):
    """One launch into a zeroed output: the kernel adds to what it finds."""
    lhs = a.clone()
    c = torch.zeros((m, n), device=a.device, dtype=torch.float32)
    _launch(c, lhs, b, cfg)
    return c


@register_impl("splitk_product", backend="cutile-rs")
def splitk_product(a, b, **kwargs):
    """The f32 product ``[m, n]`` of two half precision matrices."""
    if a.dtype not in _DTYPES:
        raise NotImplementedError(f"cutile-rs splitk_product: dtype {a.dtype} not supported")
    if b.dtype != a.dtype:
        raise NotImplementedError("cutile-rs splitk_product: a and b must share a dtype")
    if not a.is_cuda or b.device != a.device:
        raise ValueError("cutile-rs splitk_product: a and b must be CUDA tensors on one device")
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or a.shape[1] == 0:
        raise ValueError(f"cutile-rs splitk_product: cannot multiply {tuple(a.shape)} by {tuple(b.shape)}")
    assert not a.requires_grad, "splitk_product has no backward"
    m, k = a.shape
    n = b.shape[1]
    a = a.contiguous()
    # B is read by columns
    b = b.detach().contiguous().t()
    if m == 0 or n == 0:
        return torch.empty((m, n), device=a.device, dtype=torch.float32)

    _launch(torch.empty((m, n), device=a.device, dtype=torch.float32), a, b, _Config(32, 64, 64, 1))
    tuned = autotune_launch(
        kernel_fn=partial(_trial, a, b, m, n),
        configs=_configs(k),
        key=(m, n, k, a.dtype, str(a.device)),
        kernel_name=_KERNEL,
    )
    c = torch.zeros((m, n), device=a.device, dtype=torch.float32)
    _launch(c, a, b, tuned.best_config)
    return c
