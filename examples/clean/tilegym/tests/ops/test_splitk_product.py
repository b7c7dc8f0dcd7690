"""splitk_product of the lowrank suite against PyTorch."""

import pytest
import tilegym
import torch


@pytest.mark.parametrize("m, n, k", [(16, 64, 4096), (33, 65, 1000), (0, 8, 64)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_splitk_product(m, n, k, dtype):
    if not tilegym.backend.is_backend_available("cutile-rs"):
        pytest.skip("cutile-rs is not available")
    tilegym.set_backend("cutile-rs")
    a = torch.randn(m, k, device="cuda", dtype=dtype, requires_grad=True)
    b = torch.randn(k, n, device="cuda", dtype=dtype)
    out = tilegym.suites.lowrank.splitk_product(a, b)
    assert out.dtype == torch.float32
    torch.testing.assert_close(out, a.float() @ b.float(), atol=1e-1, rtol=1e-2)
