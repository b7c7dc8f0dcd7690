"""Which conversions in the timed region are known to change nothing, by the checks before them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.config.settings import Settings
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit import load
from cutile_lint.unit.timed.needless import needless
from tests.unit.wrappers import write

WRAPPER = """\
def same(a, b):
    if a != b:
        raise TypeError("op")


def demand(holds, message):
    if not holds:
        raise ValueError(message)


@register_impl("op", backend="cutile-rs")
def op(x, w, **kwargs):
    if x.requires_grad:
        x = x.detach()
    {check}

    def kernel_fn(cfg):
        y = torch.empty_like(x)
        {call}
        return _launch(y, x, cfg.BM)

    return autotune_launch(kernel_fn, [], key=(x.shape, w.shape)).output
"""


def told(tmp_path: Path, check: str, call: str) -> str:
    paths = write(tmp_path / "ops", WRAPPER.format(check=check.replace("\n", "\n    "), call=call))
    [unit] = load(Workspace(), paths, Settings())
    [found] = [work for work in unit.timed_work if work.kind == "copy"]
    return needless(found)


@pytest.mark.parametrize(
    "check",
    [
        "if w.dtype != x.dtype:\n    raise TypeError",
        "if x.dtype is not w.dtype:\n    raise TypeError",
        "assert w.dtype == x.dtype",
        "torch._check(x.dtype == w.dtype)",
        "same(x.dtype, w.dtype)",
        "demand(x.dtype == w.dtype, 'dtype')",
        "a, b = x.dtype, w.dtype\nif not a == b:\n    raise TypeError",
        "if any(t.dtype != x.dtype for t in (x, w)):\n    raise TypeError",
        "if len({t.dtype for t in (x, w)}) > 1:\n    raise TypeError",
        "if len({x.dtype, w.dtype}) != 1:\n    raise TypeError",
        "if x.dtype != torch.half or w.dtype != torch.float16:\n    raise TypeError",
    ],
)
@pytest.mark.parametrize("call", ["w.to(x.dtype)", "w.to(dtype=x.dtype)", "w.type(x.dtype)", "w.to(x.dtype, non_blocking=True)"])
def test_of_that_type(tmp_path: Path, check: str, call: str) -> None:
    assert told(tmp_path, check, call) == "a tensor of that type"


@pytest.mark.parametrize("call", ["w.half()", "w.to(torch.float16)", "w.to(torch.half)", "w.detach().half()"])
def test_of_a_type_by_its_name(tmp_path: Path, call: str) -> None:
    assert told(tmp_path, "if w.dtype != torch.float16:\n    raise TypeError", call) == "a tensor of that type"


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("w.to(x.device)", "a tensor on that device"),
        ("w.to(device=x.device)", "a tensor on that device"),
        ("w.to(x.device, x.dtype)", "a tensor of that type on that device"),
        ("w.to(x)", "a tensor of that type on that device"),
        ("w.type_as(x)", "a tensor of that type on that device"),
    ],
)
def test_on_that_device(tmp_path: Path, call: str, answer: str) -> None:
    check = "if w.device != x.device or w.dtype != x.dtype:\n    raise ValueError"
    assert told(tmp_path, check, call) == answer


@pytest.mark.parametrize(
    "check",
    [
        "if not w.is_contiguous():\n    raise ValueError",
        "assert w.is_contiguous() and x.is_contiguous()",
        "demand(w.is_contiguous(), 'layout')",
        "if not all(t.is_contiguous() for t in (x, w)):\n    raise ValueError",
    ],
)
@pytest.mark.parametrize("call", ["w.contiguous()", "w.detach().contiguous()"])
def test_contiguous(tmp_path: Path, check: str, call: str) -> None:
    assert told(tmp_path, check, call) == "a contiguous tensor"


@pytest.mark.parametrize(
    ("check", "call"),
    [
        ("pass", "w.to(x.dtype)"),
        ("if w.dtype != x.dtype:\n    print('slow')", "w.to(x.dtype)"),
        ("if w.dtype == x.dtype:\n    raise TypeError", "w.to(x.dtype)"),
        ("if w.shape != x.shape:\n    raise TypeError", "w.to(x.dtype)"),
        ("assert w.dtype == x.dtype", "w.to(x.dtype, copy=True)"),
        ("assert w.dtype == x.dtype", "w.to(x.device, x.dtype)"),
        ("assert w.dtype == x.dtype", "w.to(x)"),
        ("assert w.dtype == torch.float16", "w.float()"),
        ("assert w.dtype == x.dtype\nw = w.float()", "w.to(x.dtype)"),
        ("if len({x.dtype, w.dtype}) != 2:\n    raise TypeError", "w.to(x.dtype)"),
        ("if 1 > len({x.dtype, w.dtype}):\n    raise TypeError", "w.to(x.dtype)"),
        ("assert x.is_contiguous()", "w.contiguous()"),
        ("assert w.is_contiguous()", "w.t().contiguous()"),
        ("assert w.is_contiguous(memory_format=torch.channels_last)", "w.contiguous()"),
        ("assert w.is_contiguous()", "w.contiguous(memory_format=torch.channels_last)"),
        ("assert w.is_contiguous()", "w.clone()"),
    ],
)
def test_what_may_copy(tmp_path: Path, check: str, call: str) -> None:
    assert told(tmp_path, check, call) == ""
