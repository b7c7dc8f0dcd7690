"""scale_residual on the cutile-rs backend: ``out = residual + alpha * x``, element by element.

Forward only. A memory-bound pointer kernel: one block per ``_BLOCK`` elements of the flattened tensors, nothing to
tune, and the reference leaves occupancy and cluster size to the compiler, so both stay at the sentinel.
"""

from __future__ import annotations

import torch
from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.utils import bind_kernel_function_cffi, check_rc, make_tensor_desc

_KERNEL = "scale_residual"
_FFI_NAME = "cutile_scale_residual"
# keep in step with `cutile_scale_residual` in ffi.rs
_FFI_CDEF = """
int32_t cutile_scale_residual(
    const TensorDesc* out, const TensorDesc* x, const TensorDesc* residual,
    float alpha, int32_t block,
    int32_t num_cta_in_cga, int32_t occupancy,
    int32_t device_id, uint64_t raw_stream);
"""

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
_BLOCK = 1024
_MAX_ELEMENTS = 2**31 - _BLOCK  # offsets are 32-bit in the kernel

_AUTO_COMPILE_OPTION = -1


def _launch(out: torch.Tensor, x: torch.Tensor, residual: torch.Tensor, alpha: float) -> None:
    """Run the kernel over three flat tensors of one length."""
    ffi, lib = bind_kernel_function_cffi(_KERNEL, _FFI_CDEF)
    device = x.device
    device_id = device.index if device.index is not None else torch.cuda.current_device()
    raw_stream = torch.cuda.current_stream(device=device).cuda_stream
    out_desc = make_tensor_desc(ffi, out)
    x_desc = make_tensor_desc(ffi, x)
    residual_desc = make_tensor_desc(ffi, residual)
    rc = lib.cutile_scale_residual(
        out_desc,
        x_desc,
        residual_desc,
        float(alpha),
        _BLOCK,
        _AUTO_COMPILE_OPTION,
        _AUTO_COMPILE_OPTION,
        int(device_id),
        int(raw_stream),
    )
    check_rc(rc, _FFI_NAME)


@register_impl("scale_residual", backend="cutile-rs")
def scale_residual(x: torch.Tensor, residual: torch.Tensor, alpha: float = 1.0, **kwargs) -> torch.Tensor:
    """``residual + alpha * x`` for tensors of one shape, dtype and device; the result has that shape too."""
    if x.dtype not in _DTYPES:
        raise NotImplementedError(f"cutile-rs scale_residual: dtype {x.dtype} not supported")
    if residual.dtype != x.dtype:
        raise NotImplementedError("cutile-rs scale_residual: x and residual must share a dtype")
    if not x.is_cuda or residual.device != x.device:
        raise ValueError("cutile-rs scale_residual: x and residual must be CUDA tensors on one device")
    if residual.shape != x.shape:
        raise ValueError(f"cutile-rs scale_residual: shapes differ: {tuple(x.shape)} and {tuple(residual.shape)}")
    if x.numel() > _MAX_ELEMENTS:
        raise NotImplementedError(f"cutile-rs scale_residual: more than {_MAX_ELEMENTS} elements")

    if x.requires_grad:
        x = x.detach()
    if residual.requires_grad:
        residual = residual.detach()

    shape = x.shape
    if x.numel() == 0:
        return torch.empty(shape, device=x.device, dtype=x.dtype)

    x = x.contiguous().view(-1)
    residual = residual.contiguous().view(-1)
    out = torch.empty_like(x)
    _launch(out, x, residual, alpha)
    return out.view(shape)
