"""Whole wrappers whose timed region does nothing but launch, though parts of it look like PyTorch work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.wrappers import run, timed

LOOK_ALIKES = {
    "prepared record": """
from types import SimpleNamespace
@register_impl("op", backend="cutile-rs")
def op(x, w, bias=None, eps=1e-5):
    plan = SimpleNamespace(x=x.contiguous(), rows=x.shape[0], cols=x.shape[1], eps=float(eps))
    has_bias = bias is not None
    def kernel_fn(cfg):
        y = torch.empty((plan.rows, plan.cols), device=x.device, dtype=x.dtype)
        blocks = (plan.rows + cfg.BM - 1) // cfg.BM
        if has_bias and plan.cols % 2 == 0 and plan.eps > 0:
            blocks *= 2
        grid = min(blocks, torch.cuda.get_device_properties(x.device).multi_processor_count * cfg.OCC)
        return _launch(y, plan.x, grid)
    return autotune_launch(kernel_fn, [], key=(plan.rows, plan.cols)).output
""",
    "scales": """
@register_impl("op", backend="cutile-rs")
def op(q, k, sm_scale=None, causal=False, **kwargs):
    sm_scale = sm_scale if sm_scale is not None else 1.0 / (q.shape[-1] ** 0.5)
    qk_scale = sm_scale * 1.4426950408889634
    bs, heads, seq, d = q.shape
    def kernel_fn(cfg):
        o = torch.empty_like(q)
        lse = q.new_empty((bs, heads, seq), dtype=torch.float32)
        scale = qk_scale * 2 if causal else qk_scale
        _launch(o, q.view(bs * heads, seq, d), seq // cfg.BM + (1 if seq % cfg.BM else 0), scale)
        _launch(lse, k[..., :1], cfg.BM, -scale)
        return o, lse
    r = autotune_launch(kernel_fn, [], key=(bs, heads, seq, d, str(q.device), causal))
    o, lse = r.output
    return o.transpose(1, 2).contiguous(), lse
""",
    "groups": """
@register_impl("op", backend="cutile-rs")
def op(group_a, group_b):
    ms = [a.shape[0] for a in group_a]
    total = sum(ms) * max(ms)
    outs = [torch.empty((a.shape[0], b.shape[1]), device=a.device, dtype=a.dtype) for a, b in zip(group_a, group_b)]
    ptrs = torch.tensor([t.data_ptr() for t in outs], device=group_a[0].device)
    def kernel_fn(cfg):
        n = sum((m + cfg.BM - 1) // cfg.BM for m in ms)
        _launch(ptrs, group_a[0], n * total)
        return outs
    return autotune_launch(kernel_fn, [], key=(tuple(ms),)).output
""",
    "dtype tables": """
_CODES = {torch.float16: 1, torch.float32: 2}
@register_impl("op", backend="cutile-rs")
def op(x, out_dtype=None, scale=1.0):
    out_dtype = out_dtype or x.dtype
    code = _CODES[out_dtype] + 1
    tol = torch.finfo(out_dtype).eps * 4
    def kernel_fn(cfg):
        y = torch.empty(x.shape, dtype=out_dtype, device=x.device)
        itemsize = torch.empty((), dtype=out_dtype).element_size() * 8
        vec = 16 // x.element_size()
        aligned = x.data_ptr() % 16 == 0 and x.stride(-1) == 1 and x.numel() % vec == 0
        return _launch(y, x, code * itemsize if aligned and tol < 1 else code, cfg.OCC + vec)
    return autotune_launch(kernel_fn, [], key=(x.shape, out_dtype)).output
""",
    "stream objects": """
@register_impl("op", backend="cutile-rs")
def op(x):
    def kernel_fn(cfg):
        y = torch.empty_like(x)
        with torch.cuda.device(x.device), torch.cuda.stream(torch.cuda.current_stream()):
            start = torch.cuda.Event(enable_timing=True)
            start.record()
            _launch(y, x, cfg.BM)
            y.record_stream(torch.cuda.current_stream())
        return y
    return autotune_launch(kernel_fn, [], key=(x.shape,)).output
""",
    "number params": """
import math
@register_impl("op", backend="cutile-rs")
def op(x, k, p: float = 0.5, seed: int = 0, sizes=(1, 2)):
    def kernel_fn(cfg):
        y = torch.empty_like(x)
        n = k * 2 + int(seed) % 7
        keep = 1.0 - p
        s = sum(sizes) + sizes[0] * len(sizes) + math.prod(sizes)
        ok = k > 3 and p == 0.5 and not k & (k - 1)
        return _launch(y, x, n + s, keep if ok else -keep)
    return autotune_launch(kernel_fn, [], key=(x.shape,k)).output
""",
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_nothing_is_seen(tmp_path: Path, name: str) -> None:
    found = run(tmp_path, LOOK_ALIKES[name])
    assert timed(found) == []
    assert found.launches and not found.trace.gaps
