"""batched through cutile-rs: c[q] = op(a[q]) @ op(b[q]) (forward only); the persistent variant owns the transposes."""

from types import SimpleNamespace

import torch
from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.autotuner import autotune_launch
from tilegym.backend.cutile_rs.utils import bind_kernel_function_cffi, check_rc, get_num_sm, make_tensor_desc

_KERNEL = "batched"
_FFI_NAME = "cutile_batched"
_FFI_CDEF = """
int32_t cutile_batched(
    const TensorDesc* c, const TensorDesc* a, const TensorDesc* b,
    int32_t bm, int32_t bn, int32_t bk,
    int32_t trans_a, int32_t trans_b, int32_t persistent, int32_t num_programs,
    int32_t num_cta_in_cga, int32_t occupancy, int32_t device_id, uint64_t raw_stream);
"""

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def _cdiv(a, b):
    return (a + b - 1) // b


def _configs(persistent):
    if persistent:
        return [SimpleNamespace(BM=bm, BN=256, BK=64, NUM_CTAS=2, OCCUPANCY=1) for bm in (128, 256)]
    return [SimpleNamespace(BM=128, BN=128, BK=32, NUM_CTAS=1, OCCUPANCY=1)]


def _num_programs(device, q, m, n, cfg, persistent):
    tiles = q * _cdiv(m, cfg.BM) * _cdiv(n, cfg.BN)
    if not persistent:
        return tiles
    with torch.cuda.device(device):
        return max(min(get_num_sm() * cfg.OCCUPANCY // cfg.NUM_CTAS, tiles), 1)


def _run_ffi(c, a, b, cfg, trans_a, trans_b, persistent, num_programs):
    ffi, lib = bind_kernel_function_cffi(_KERNEL, _FFI_CDEF)
    device_id = a.device.index if a.device.index is not None else torch.cuda.current_device()
    raw_stream = torch.cuda.current_stream(device=a.device).cuda_stream
    c_desc = make_tensor_desc(ffi, c)
    a_desc = make_tensor_desc(ffi, a)
    b_desc = make_tensor_desc(ffi, b)
    rc = lib.cutile_batched(
        c_desc,
        a_desc,
        b_desc,
        int(cfg.BM),
        int(cfg.BN),
        int(cfg.BK),
        int(trans_a),
        int(trans_b),
        int(persistent),
        int(num_programs),
        int(cfg.NUM_CTAS),
        int(cfg.OCCUPANCY),
        int(device_id),
        int(raw_stream),
    )
    check_rc(rc, _FFI_NAME)


@register_impl("batched", backend="cutile-rs")
def batched(a, b, transpose_a=False, transpose_b=False, static_persistent=True, **kwargs):
    """Batched product: a [q, m, k] ([q, k, m] if transposed), b [q, k, n] ([q, n, k] if transposed)."""
    if a.dtype not in _DTYPES or b.dtype != a.dtype:
        raise NotImplementedError(f"batched: dtypes {a.dtype} and {b.dtype} are not supported")
    if not a.is_cuda or a.device != b.device:
        raise ValueError("batched: a and b must be CUDA tensors on the same device")
    if a.ndim != 3 or b.ndim != 3:
        raise ValueError("batched: a and b must be batches of matrices")
    persistent = bool(static_persistent)
    if not persistent and (transpose_a or transpose_b):
        raise NotImplementedError("batched: the direct variant does not transpose")
    if a.requires_grad:
        a = a.detach()
    if b.requires_grad:
        b = b.detach()
    a = a.contiguous()
    b = b.contiguous()
    q = a.shape[0]
    m = a.shape[2] if transpose_a else a.shape[1]
    n = b.shape[1] if transpose_b else b.shape[2]
    if q == 0 or m == 0 or n == 0:
        return torch.empty((q, m, n), device=a.device, dtype=a.dtype)

    def kernel_fn(cfg):
        c = torch.empty((q, m, n), device=a.device, dtype=a.dtype)
        num_programs = _num_programs(a.device, q, m, n, cfg, persistent)
        _run_ffi(c, a, b, cfg, transpose_a, transpose_b, persistent, num_programs)
        return c

    result = autotune_launch(
        kernel_fn=kernel_fn,
        configs=_configs(persistent),
        key=(q, m, n, a.shape, b.shape, a.dtype, persistent, transpose_a, transpose_b),
        kernel_name=_KERNEL,
    )
    return result.output
