"""gemm, gemm_rows, gemm_halves and grouped_gemm against PyTorch."""

import pytest
import tilegym
import torch

BACKENDS = [name for name in ("cutile", "cutile-rs") if tilegym.backend.is_backend_available(name)]


def _select(backend: str) -> None:
    tilegym.set_backend(backend)
    torch.manual_seed(7)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("static_persistent", [True, False])
@pytest.mark.parametrize("m, n, k", [(128, 128, 64), (1000, 513, 511), (4096, 4096, 256)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_gemm(backend, static_persistent, m, n, k, dtype):
    _select(backend)
    a = torch.randn(m, k, device="cuda", dtype=dtype, requires_grad=True)
    b = torch.randn(k, n, device="cuda", dtype=dtype)
    out = tilegym.ops.gemm(a, b, alpha=0.5, static_persistent=static_persistent)
    torch.testing.assert_close(out, 0.5 * (a @ b), atol=2e-2, rtol=2e-2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_gemm_backward(backend):
    if backend == "cutile-rs":
        pytest.skip("cutile-rs gemm is forward only")
    _select(backend)
    a = torch.randn(64, 64, device="cuda", requires_grad=True)
    b = torch.randn(64, 64, device="cuda", requires_grad=True)
    tilegym.ops.gemm(a, b).sum().backward()
    assert a.grad is not None and b.grad is not None


def test_gemm_rows_keeps_leading_dimensions():
    _select("cutile-rs")
    x = torch.randn(2, 3, 64, device="cuda", dtype=torch.float16)
    w = torch.randn(64, 48, device="cuda", dtype=torch.float16)
    torch.testing.assert_close(tilegym.ops.gemm_rows(x, w), x @ w, atol=2e-2, rtol=2e-2)


def test_gemm_halves_are_the_two_products():
    _select("cutile-rs")
    x = torch.randn(5, 64, device="cuda", dtype=torch.float16)
    w = torch.randn(64, 96, device="cuda", dtype=torch.float16)
    left, right = tilegym.ops.gemm_halves(x, w)
    torch.testing.assert_close(left, x @ w[:, :48], atol=2e-2, rtol=2e-2)
    torch.testing.assert_close(right, x @ w[:, 48:], atol=2e-2, rtol=2e-2)


def test_grouped_gemm_keeps_the_order():
    _select("cutile-rs")
    group_a = [torch.randn(m, 64, device="cuda", dtype=torch.float16) for m in (1, 33, 256)]
    group_b = [torch.randn(64, 32, device="cuda", dtype=torch.float16) for _ in group_a]
    for out, a, b in zip(tilegym.ops.grouped_gemm(group_a, group_b), group_a, group_b, strict=True):
        torch.testing.assert_close(out, a @ b, atol=2e-2, rtol=2e-2)
