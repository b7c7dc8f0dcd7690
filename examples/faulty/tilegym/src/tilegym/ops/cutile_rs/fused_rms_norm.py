"""fused_rms_norm on the cutile-rs backend: add the residual, then normalise (forward only).

``hidden = x + residual`` and ``out = hidden / sqrt(mean(hidden**2) + eps) * weight`` over the last dimension, in one
kernel. A block takes ``BLOCK_M`` whole rows; how many rows, and how many blocks share an SM, is tuned. The cluster size
is the compiler's choice, as in the reference.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch
from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.autotuner import autotune_launch
from tilegym.backend.cutile_rs.utils import bind_kernel_function_cffi, check_rc, make_tensor_desc, next_power_of_2

_KERNEL = "fused_rms_norm"
_FFI_NAME = "cutile_fused_rms_norm"
# keep in step with `cutile_fused_rms_norm` in fused_rms_norm_kernel/ffi.rs
_FFI_CDEF = """
int32_t cutile_fused_rms_norm(
    const TensorDesc* out, const TensorDesc* hidden, const TensorDesc* x,
    const TensorDesc* residual, const TensorDesc* weight,
    float eps, int32_t bm, int32_t bn,
    int32_t num_cta_in_cga, int32_t occupancy,
    int32_t device_id, uint64_t raw_stream);
"""

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
_AUTO_COMPILE_OPTION = -1
_MAX_BLOCK_N = 16384
_GRID_CLUSTERS = 2  # row groups that are scheduled together

_scratch = torch.zeros_like


def _configs() -> list[SimpleNamespace]:
    """Rows per block against resident blocks per SM."""
    # for sm100
    return [SimpleNamespace(BLOCK_M=rows, OCCUPANCY=blocks) for rows in (1, 2, 4) for blocks in (1, 2, 4)]


def _option(value: int | None) -> int:
    return _AUTO_COMPILE_OPTION if value is None else int(value)


def _run_ffi(out, hidden, x, residual, weight, eps, block_n, cfg) -> None:
    ffi, lib = bind_kernel_function_cffi(_KERNEL, _FFI_CDEF)
    device = x.device
    device_id = device.index if device.index is not None else torch.cuda.current_device()
    raw_stream = torch.cuda.current_stream(device=device).cuda_stream
    out_desc, hidden_desc, x_desc = (make_tensor_desc(ffi, t) for t in (out, hidden, x))
    residual_desc = make_tensor_desc(ffi, residual)
    weight_desc = make_tensor_desc(ffi, weight)
    rc = lib.cutile_fused_rms_norm(
        out_desc,
        hidden_desc,
        x_desc,
        residual_desc,
        weight_desc,
        float(eps),
        int(cfg.BLOCK_M),
        int(block_n),
        _option(_GRID_CLUSTERS),
        _option(cfg.OCCUPANCY),
        int(device_id),
        int(raw_stream),
    )
    check_rc(rc, _FFI_NAME)


def _smoke_test(x, residual, weight, eps, block_n) -> None:
    """One launch with the smallest block, to see that the library loads."""
    out = torch.empty_like(x)
    hidden = torch.empty_like(x)
    _run_ffi(out, hidden, x, residual, weight, eps, block_n, SimpleNamespace(BLOCK_M=1, OCCUPANCY=None))


def _check(x, residual, weight) -> None:
    if x.dtype not in _DTYPES:
        raise NotImplementedError(f"cutile-rs fused_rms_norm: dtype {x.dtype} not supported")
    if residual.dtype != x.dtype or weight.dtype != x.dtype:
        raise NotImplementedError("cutile-rs fused_rms_norm: x, residual and weight must share a dtype")
    if not x.is_cuda or residual.device != x.device or weight.device != x.device:
        raise ValueError("cutile-rs fused_rms_norm: x, residual and weight must be CUDA tensors on one device")
    if residual.shape != x.shape:
        raise ValueError("cutile-rs fused_rms_norm: x and residual must have one shape")
    if weight.ndim != 1 or weight.shape[0] != x.shape[-1]:
        raise ValueError(f"cutile-rs fused_rms_norm: weight must have shape ({x.shape[-1]},)")


@register_impl("fused_rms_norm", backend="cutile-rs")
def fused_rms_norm(x, residual, weight, eps: float = 1e-6, residual_seq_first: bool = False, **kwargs):
    """Return ``(out, hidden)``, both of ``x``'s shape; see the module's docstring."""
    if residual_seq_first:
        # the residual stream of a pipeline stage arrives as [seq, batch, cols]
        residual = residual.transpose(0, 1).contiguous()
    _check(x, residual, weight)
    if torch.is_grad_enabled() and any(t.requires_grad for t in (x, residual, weight)):
        raise NotImplementedError("cutile-rs fused_rms_norm: backward is not implemented")

    shape = x.shape
    if x.numel() == 0:
        return torch.empty_like(x), torch.empty_like(residual)

    cols = int(shape[-1])
    block_n = next_power_of_2(cols)
    if block_n > _MAX_BLOCK_N:
        raise NotImplementedError(f"cutile-rs fused_rms_norm: rows longer than {_MAX_BLOCK_N} elements")
    x2 = x.contiguous().view(-1, cols)
    residual2 = residual.contiguous().view(-1, cols)
    rows = int(x2.shape[0])
    out = torch.empty_like(x2)

    _smoke_test(x2, residual2, weight, eps, block_n)

    def kernel_fn(cfg):
        gain = weight.contiguous()
        out = torch.empty_like(x2)
        hidden = _scratch(x2)
        _run_ffi(out, hidden, x2, residual2, gain, eps, block_n, cfg)
        torch.cuda.synchronize(x2.device)
        return out, hidden

    result = autotune_launch(
        kernel_fn=kernel_fn,
        configs=_configs(),
        key=(rows, cols, x.dtype, str(x.device)),
        kernel_name=_KERNEL,
    )
    out, hidden = result.output
    return out.view(shape), hidden.view(shape)
