"""batched_product on the cutile-rs backend: ``C[q] = op(A[q]) @ op(B[q])`` (forward only).

``op`` is the identity or a transpose, per operand. The transposes belong to the kernel: the tensors cross the boundary
as they lie in memory, and the persistent entry permutes a tile after loading it under ``TRANSPOSE_A``/``TRANSPOSE_B``.
The direct variant has no such flags and refuses both.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch
from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.autotuner import autotune_launch
from tilegym.backend.cutile_rs.utils import bind_kernel_function_cffi, check_rc, get_num_sm, make_tensor_desc

from ._host import ceil_div, compile_option, device_and_stream

_KERNEL = "batched_product"
_FFI_NAME = "cutile_batched_product"
# keep in step with `cutile_batched_product` in kernel_out/batched_product/ffi.rs
_FFI_CDEF = """
int32_t cutile_batched_product(
    const TensorDesc* c, const TensorDesc* a, const TensorDesc* b,
    int32_t bm, int32_t bn, int32_t bk,
    int32_t transpose_a, int32_t transpose_b,
    int32_t variant, int32_t num_programs,
    int32_t num_cta_in_cga, int32_t occupancy,
    int32_t device_id, uint64_t raw_stream);
"""

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
_DIRECT, _PERSISTENT = 0, 1


def _persistent_configs():
    # for sm100, as in analysis.json
    for bm, bn in ((256, 256), (128, 256)):
        yield SimpleNamespace(BM=bm, BN=bn, BK=64, NUM_CTAS=2, OCCUPANCY=1)


def _direct_configs():
    # for sm100, as in analysis.json: one tile shape, everything else the compiler's choice
    yield SimpleNamespace(BM=128, BN=128, BK=32, NUM_CTAS=None, OCCUPANCY=None)


def _sizes(a, b, transpose_a, transpose_b):
    """Logical ``(q, m, n, k)`` and the inner dimension of ``b``."""
    m, k = (a.shape[2], a.shape[1]) if transpose_a else (a.shape[1], a.shape[2])
    k_of_b, n = (b.shape[2], b.shape[1]) if transpose_b else (b.shape[1], b.shape[2])
    return int(a.shape[0]), int(m), int(n), int(k), int(k_of_b)


def _programs(variant, q, m, n, cfg, num_sms):
    tiles = q * ceil_div(m, cfg.BM) * ceil_div(n, cfg.BN)
    if variant == _DIRECT:
        return tiles
    return min(max(num_sms // cfg.NUM_CTAS, 1) * cfg.OCCUPANCY, tiles)


def _run_ffi(c, a, b, cfg, *, variant, transpose_a, transpose_b, num_programs):
    ffi, lib = bind_kernel_function_cffi(_KERNEL, _FFI_CDEF)
    device_id, raw_stream = device_and_stream(a)
    c_desc, a_desc, b_desc = make_tensor_desc(ffi, c), make_tensor_desc(ffi, a), make_tensor_desc(ffi, b)
    rc = lib.cutile_batched_product(
        c_desc,
        a_desc,
        b_desc,
        int(cfg.BM),
        int(cfg.BN),
        int(cfg.BK),
        int(transpose_a),
        int(transpose_b),
        int(variant),
        int(num_programs),
        compile_option(cfg.OCCUPANCY),
        compile_option(cfg.NUM_CTAS),
        device_id,
        raw_stream,
    )
    check_rc(rc, _FFI_NAME)
    torch.cuda.current_stream(device=c.device).synchronize()


@register_impl("batched_product", backend="cutile-rs")
def batched_product(a, b, transpose_a=False, transpose_b=False, static_persistent=True, **kwargs):
    """``[q, m, n]`` from ``a`` ``[q, m, k]`` (``[q, k, m]`` if transposed) and ``b`` ``[q, k, n]`` (``[q, n, k]``)."""
    if a.dtype not in _DTYPES:
        raise NotImplementedError(f"cutile-rs batched_product: dtype {a.dtype} not supported")
    if b.dtype != a.dtype:
        raise NotImplementedError("cutile-rs batched_product: a and b must share a dtype")
    if not a.is_cuda or b.device != a.device:
        raise ValueError("cutile-rs batched_product: a and b must be CUDA tensors on one device")
    if a.ndim != 3 or b.ndim != 3 or a.shape[0] != b.shape[0]:
        raise ValueError("cutile-rs batched_product: a and b must be batches of matrices of one length")
    variant = _PERSISTENT if static_persistent else _DIRECT
    if variant == _DIRECT and transpose_b:
        raise NotImplementedError("cutile-rs batched_product: the direct variant does not transpose")
    q, m, n, k, k_of_b = _sizes(a, b, transpose_a, transpose_b)
    if k != k_of_b or k == 0:
        raise ValueError(f"cutile-rs batched_product: inner dimensions {k} and {k_of_b}")

    if a.requires_grad:
        a = a.detach()
    if q * m * n == 0:
        return torch.empty((q, m, n), device=a.device, dtype=a.dtype)
    b = b.transpose(1, 2) if transpose_b else b.contiguous()

    configs = list(_persistent_configs() if variant == _PERSISTENT else _direct_configs())

    with torch.cuda.device(a.device):
        num_sms = get_num_sm()

        try:
            # a config that does not compile must not end the search
            _run_ffi(
                torch.empty((q, m, n), device=a.device, dtype=a.dtype),
                a,
                b,
                configs[0],
                variant=variant,
                transpose_a=transpose_a,
                transpose_b=transpose_b,
                num_programs=_programs(variant, q, m, n, configs[0], num_sms),
            )
        except RuntimeError:
            configs = configs[1:]

        def kernel_fn(cfg):
            left = a.contiguous()
            c = a.new_zeros((q, m, n))
            _run_ffi(
                c,
                left,
                b,
                cfg,
                variant=variant,
                transpose_a=transpose_a,
                transpose_b=transpose_b,
                num_programs=_programs(variant, q, m, n, cfg, num_sms),
            )
            return c

        result = autotune_launch(
            kernel_fn=kernel_fn,
            configs=configs,
            key=(q, m, n, k, a.dtype, str(a.device), variant, bool(transpose_a), bool(transpose_b)),
            kernel_name=_KERNEL,
        )
    return result.output
