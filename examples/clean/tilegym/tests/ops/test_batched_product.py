"""batched_product against PyTorch, both variants, all transposes."""

import pytest
import tilegym
import torch


class TestBatchedProduct:
    @staticmethod
    def reference(a, b, transpose_a, transpose_b):
        return torch.bmm(a.mT if transpose_a else a, b.mT if transpose_b else b)

    @pytest.mark.parametrize("backend", ["cutile-rs"])
    @pytest.mark.parametrize("static_persistent", [True, False])
    @pytest.mark.parametrize("transpose_a", [False, True])
    @pytest.mark.parametrize("transpose_b", [False, True])
    def test_forward(self, backend, static_persistent, transpose_a, transpose_b):
        if not tilegym.backend.is_backend_available(backend):
            pytest.skip(f"{backend} is not available")
        if not static_persistent and (transpose_a or transpose_b):
            pytest.skip("the direct variant does not transpose")
        tilegym.set_backend(backend)
        a = torch.randn((2, 96, 160) if transpose_a else (2, 160, 96), device="cuda", dtype=torch.float16)
        b = torch.randn((2, 128, 96) if transpose_b else (2, 96, 128), device="cuda", dtype=torch.float16)
        out = tilegym.ops.batched_product(a, b, transpose_a, transpose_b, static_persistent=static_persistent)
        torch.testing.assert_close(out, self.reference(a, b, transpose_a, transpose_b), atol=2e-2, rtol=2e-2)

    def test_direct_variant_refuses_transposes(self):
        tilegym.set_backend("cutile-rs")
        a = torch.randn(2, 64, 64, device="cuda", dtype=torch.float16)
        with pytest.raises(NotImplementedError, match="does not transpose"):
            tilegym.ops.batched_product(a, a, transpose_b=True, static_persistent=False)
