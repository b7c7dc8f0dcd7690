"""scale_residual on the cutile-rs backend: ``out = residual + alpha * x``, element by element.

Forward only. A memory-bound pointer kernel over the flattened tensors; the elements per block are tuned. Occupancy and
cluster size are left to the compiler.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch
from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.autotuner import autotune_launch
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
_BLOCKS = (512, 1024, 2048)
_MAX_ELEMENTS = 2**31 - max(_BLOCKS)  # offsets are 32-bit in the kernel

_AUTO_COMPILE_OPTION = -1


def _forward_only(*tensors: torch.Tensor) -> None:
    """There is no backward kernel."""
    for tensor in tensors:
        if tensor.requires_grad:
            raise NotImplementedError("cutile-rs scale_residual: backward is not implemented")


def _launch(out: torch.Tensor, x: torch.Tensor, residual: torch.Tensor, alpha: float, block: int) -> torch.Tensor:
    """Run the kernel over three flat tensors of one length; returns ``out``."""
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
        int(block),
        _AUTO_COMPILE_OPTION,
        _AUTO_COMPILE_OPTION,
        int(device_id),
        int(raw_stream),
    )
    check_rc(rc, _FFI_NAME)
    return out


@register_impl("scale_residual", backend="cutile-rs")
def scale_residual(x: torch.Tensor, residual: torch.Tensor, alpha: float = 1.0, *, swapped: bool = False) -> torch.Tensor:
    """``residual + alpha * x`` for tensors of one dtype and device; ``swapped``: the residual comes as ``[cols, rows]``."""
    if swapped:
        residual = residual.permute(1, 0).contiguous()
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

    _forward_only(x, residual)

    shape = x.shape
    if x.numel() == 0:
        return torch.empty(shape, device=x.device, dtype=x.dtype)

    x = x.contiguous().view(-1)
    residual = residual.reshape(-1)
    # first launch outside of the search, so that a build error shows at once
    _launch(torch.empty_like(x), x, residual, alpha, _BLOCKS[0])
    tuned = autotune_launch(
        kernel_fn=lambda cfg: _launch(torch.zeros_like(x), x, residual.contiguous(), alpha, cfg.BLOCK),
        configs=[SimpleNamespace(BLOCK=block) for block in _BLOCKS],
        key=(x.numel(), x.dtype, str(x.device)),
        kernel_name=_KERNEL,
    )
    return tuned.output.view(shape)
