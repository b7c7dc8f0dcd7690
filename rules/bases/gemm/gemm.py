"""gemm through cutile-rs: c = a @ b (forward only), a tile per program or a persistent loop over the tiles."""

from types import SimpleNamespace

import torch
from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.autotuner import autotune_launch
from tilegym.backend.cutile_rs.utils import bind_kernel_function_cffi, check_rc, get_num_sm, make_tensor_desc

_KERNEL = "gemm"
_FFI_NAME = "cutile_gemm"
_FFI_CDEF = """
int32_t cutile_gemm(
    const TensorDesc* c, const TensorDesc* a, const TensorDesc* b,
    int32_t bm, int32_t bn, int32_t bk,
    int32_t num_programs, int32_t num_cta_in_cga, int32_t occupancy,
    int32_t persistent, int32_t device_id, uint64_t raw_stream);
"""

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def _cdiv(a: int, b: int) -> int:
    return (a + b - 1) // b


def _direct_configs():
    return [
        SimpleNamespace(BM=128, BN=128, BK=32, NUM_CTAS=1, OCCUPANCY=1),
        SimpleNamespace(BM=256, BN=128, BK=64, NUM_CTAS=2, OCCUPANCY=1),
        SimpleNamespace(BM=256, BN=256, BK=64, NUM_CTAS=4, OCCUPANCY=1),
    ]


def _persistent_configs():
    return [
        SimpleNamespace(BM=256, BN=256, BK=64, NUM_CTAS=2, OCCUPANCY=1),
        SimpleNamespace(BM=128, BN=256, BK=64, NUM_CTAS=1, OCCUPANCY=2),
    ]


def _num_programs(device, m, n, cfg, persistent):
    tiles = _cdiv(m, cfg.BM) * _cdiv(n, cfg.BN)
    if not persistent:
        return tiles
    with torch.cuda.device(device):
        resident = get_num_sm() * cfg.OCCUPANCY // cfg.NUM_CTAS
    return max(min(resident, tiles), 1)


def _run_ffi(c, a, b, bm, bn, bk, num_programs, num_cta_in_cga, occupancy, persistent):
    ffi, lib = bind_kernel_function_cffi(_KERNEL, _FFI_CDEF)
    device_id = a.device.index if a.device.index is not None else torch.cuda.current_device()
    raw_stream = torch.cuda.current_stream(device=a.device).cuda_stream
    c_desc = make_tensor_desc(ffi, c)
    a_desc = make_tensor_desc(ffi, a)
    b_desc = make_tensor_desc(ffi, b)
    rc = lib.cutile_gemm(
        c_desc,
        a_desc,
        b_desc,
        int(bm),
        int(bn),
        int(bk),
        int(num_programs),
        int(num_cta_in_cga),
        int(occupancy),
        int(persistent),
        int(device_id),
        int(raw_stream),
    )
    check_rc(rc, _FFI_NAME)


@register_impl("gemm", backend="cutile-rs")
def gemm(a, b, trans_a=False, trans_b=False, static_persistent=False, **kwargs):
    """Matrix product: a [m, k], b [k, n], both of one dtype and on one device."""
    if trans_a or trans_b:
        raise NotImplementedError("gemm: transposed operands are not supported")
    if not a.is_cuda or a.device != b.device:
        raise ValueError("gemm: a and b must be CUDA tensors on the same device")
    if a.dtype not in _DTYPES or b.dtype != a.dtype:
        raise NotImplementedError(f"gemm: dtypes {a.dtype} and {b.dtype} are not supported")
    if a.requires_grad:
        a = a.detach()
    if b.requires_grad:
        b = b.detach()
    a = a.contiguous()
    b = b.contiguous()
    m, k = a.shape
    inner, n = b.shape
    if k != inner:
        raise ValueError(f"gemm: a has {k} columns and b has {inner} rows")
    if m == 0 or n == 0 or k == 0:
        return torch.zeros((m, n), device=a.device, dtype=a.dtype)

    persistent = 1 if static_persistent else 0
    configs = _persistent_configs() if persistent else _direct_configs()

    def kernel_fn(cfg):
        c = torch.empty((m, n), device=a.device, dtype=a.dtype)
        num_programs = _num_programs(a.device, m, n, cfg, persistent)
        _run_ffi(c, a, b, cfg.BM, cfg.BN, cfg.BK, num_programs, cfg.NUM_CTAS, cfg.OCCUPANCY, persistent)
        return c

    result = autotune_launch(
        kernel_fn=kernel_fn,
        configs=configs,
        key=(m, n, k, a.dtype, persistent),
        kernel_name=_KERNEL,
    )
    return result.output
