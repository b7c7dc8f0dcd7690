"""scale_residual against PyTorch."""

import pytest
import tilegym
import torch


@pytest.mark.parametrize("backend", ["cutile-rs"])
@pytest.mark.parametrize("shape", [(1,), (1023,), (7, 33, 5), (0, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_scale_residual(backend, shape, dtype):
    if not tilegym.backend.is_backend_available(backend):
        pytest.skip(f"{backend} is not available")
    tilegym.set_backend(backend)
    x = torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True)
    residual = torch.randn(shape, device="cuda", dtype=dtype)
    out = tilegym.ops.scale_residual(x, residual, alpha=0.25)
    torch.testing.assert_close(out, residual + 0.25 * x, atol=1e-3, rtol=1e-3)
