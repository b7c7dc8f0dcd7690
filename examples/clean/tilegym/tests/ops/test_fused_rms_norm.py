"""fused_rms_norm against PyTorch."""

import pytest
import tilegym
import torch


def reference(x, residual, weight, eps):
    hidden = x.float() + residual.float()
    out = hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + eps) * weight.float()
    return out.to(x.dtype), hidden.to(x.dtype)


class TestFusedRmsNorm:
    backends = ("cutile-rs",)

    def prepare(self, backend):
        if not tilegym.backend.is_backend_available(backend):
            pytest.skip(f"{backend} is not available")
        tilegym.set_backend(backend)

    @pytest.mark.parametrize("backend", backends)
    @pytest.mark.parametrize("shape", [(4, 256), (3, 7, 1000), (0, 64)])
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
    def test_forward(self, backend, shape, dtype):
        self.prepare(backend)
        x = torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True)
        residual = torch.randn(shape, device="cuda", dtype=dtype)
        weight = torch.randn(shape[-1], device="cuda", dtype=dtype, requires_grad=True)
        out, hidden = tilegym.ops.fused_rms_norm(x, residual, weight, eps=1e-5)
        expected_out, expected_hidden = reference(x, residual, weight, 1e-5)
        torch.testing.assert_close(out, expected_out, atol=1e-2, rtol=1e-2)
        torch.testing.assert_close(hidden, expected_hidden, atol=1e-2, rtol=1e-2)
