"""row_scale through cutile-rs: y[r, c] = x[r, c] * scale[r] (forward only)."""

from types import SimpleNamespace

import torch
from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.autotuner import autotune_launch
from tilegym.backend.cutile_rs.utils import bind_kernel_function_cffi, check_rc, make_tensor_desc

_KERNEL = "row_scale"
_FFI_NAME = "cutile_row_scale"
_FFI_CDEF = """
int32_t cutile_row_scale(
    const TensorDesc* y, const TensorDesc* x, const TensorDesc* scale,
    int32_t bm, int32_t bn, int32_t grid_size,
    int32_t num_cta_in_cga, int32_t occupancy,
    int32_t device_id, uint64_t raw_stream);
"""

_AUTO_COMPILE_OPTION = -1
_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def _cdiv(a: int, b: int) -> int:
    return (a + b - 1) // b


def _configs():
    return [SimpleNamespace(BM=bm, BN=256, OCCUPANCY=occupancy) for bm in (16, 32) for occupancy in (2, 4)]


def _run_ffi(y, x, scale, bm, bn, grid_size, num_cta_in_cga, occupancy):
    ffi, lib = bind_kernel_function_cffi(_KERNEL, _FFI_CDEF)
    device_id = x.device.index if x.device.index is not None else torch.cuda.current_device()
    raw_stream = torch.cuda.current_stream(device=x.device).cuda_stream
    y_desc = make_tensor_desc(ffi, y)
    x_desc = make_tensor_desc(ffi, x)
    scale_desc = make_tensor_desc(ffi, scale)
    rc = lib.cutile_row_scale(
        y_desc,
        x_desc,
        scale_desc,
        int(bm),
        int(bn),
        int(grid_size),
        int(num_cta_in_cga),
        int(occupancy),
        int(device_id),
        int(raw_stream),
    )
    check_rc(rc, _FFI_NAME)


@register_impl("row_scale", backend="cutile-rs")
def row_scale(x, scale, **kwargs):
    """Scale the rows of a matrix: x [m, n], scale [m], both of one dtype and on one device."""
    if not x.is_cuda or x.device != scale.device:
        raise ValueError("row_scale: x and scale must be CUDA tensors on the same device")
    if x.dtype not in _DTYPES or scale.dtype != x.dtype:
        raise NotImplementedError(f"row_scale: dtypes {x.dtype} and {scale.dtype} are not supported")
    if x.requires_grad:
        x = x.detach()
    if scale.requires_grad:
        scale = scale.detach()
    x = x.contiguous()
    scale = scale.contiguous()
    m, n = x.shape
    if x.numel() == 0:
        return torch.empty_like(x)

    def kernel_fn(cfg):
        y = torch.empty_like(x)
        grid_size = _cdiv(m, cfg.BM) * _cdiv(n, cfg.BN)
        _run_ffi(y, x, scale, cfg.BM, cfg.BN, grid_size, _AUTO_COMPILE_OPTION, cfg.OCCUPANCY)
        return y

    result = autotune_launch(
        kernel_fn=kernel_fn,
        configs=_configs(),
        key=(m, n, x.dtype),
        kernel_name=_KERNEL,
    )
    return result.output
