"""What PyTorch calls of a wrapper do on the device, and which values are tensors at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.wrappers import run, timed

OP = """\
import math
import numpy as np
import torch.nn.functional as F

@register_impl("op", backend="cutile-rs")
def op(x, other, table=None, alpha=1.0, rows=1, **kwargs):
    x = x.contiguous()

    def kernel_fn(cfg):
        y = torch.empty_like(x)
        {body}
        return _launch(y, x, cfg.BM)

    return autotune_launch(kernel_fn, [], key=(x.shape,)).output
"""


def found(tmp_path: Path, body: str) -> list[str]:
    return timed(run(tmp_path, OP.format(body=body.replace("\n", "\n        "))))


@pytest.mark.parametrize(
    "call",
    [
        "torch.zeros((1,), device=x.device)",
        "torch.zeros((1,), device='cuda')",
        "torch.zeros((1,), device=torch.device('cuda', 0))",
        "torch.ones_like(x)",
        "torch.full((1,), 2.0, device=x.device)",
        "torch.arange(4, device=x.device)",
        "torch.tensor([1, 2], device=x.device)",
        "torch.randn(4, device=x.device)",
        "torch.rand_like(x)",
        "x.new_zeros(3)",
        "x.new_full((3,), 1)",
        "y.zero_()",
        "y.fill_(1.0)",
        "torch.Tensor.zero_(y)",
        "torch.nn.init.zeros_(y)",
    ],
)
def test_fills(tmp_path: Path, call: str) -> None:
    assert found(tmp_path, f"z = {call}") == [f"fill {call}"]


@pytest.mark.parametrize(
    "call",
    [
        "x.clone()",
        "torch.clone(x)",
        "other.contiguous()",
        "x.to(torch.float16)",
        "x.to('cuda:1')",
        "x.float()",
        "x.bfloat16()",
        "x.type_as(other)",
        "x.repeat(2, 1)",
        "y.copy_(x)",
        "torch.cat([x, y])",
        "torch.stack((x, y), dim=0)",
        "x.expand(2, -1).contiguous()",
        "x.t().reshape(-1)",
        "torch.reshape(x.t(), (-1,))",
        "x.transpose(0, 1).flatten()",
    ],
)
def test_copies(tmp_path: Path, call: str) -> None:
    assert found(tmp_path, f"z = {call}") == [f"copy {call}"]


@pytest.mark.parametrize(
    "expression",
    [
        "x + 1",
        "1 - x",
        "x @ y",
        "-x",
        "~x",
        "x * alpha",
        "x ** 2",
        "x == y",
        "x > 0",
        "torch.matmul(x, y)",
        "F.silu(x)",
        "torch.nn.functional.softmax(x, dim=-1)",
        "x.sum()",
        "x.amax(dim=0)",
        "x.mul_(2)",
        "torch.where(table, x, y)",
        "torch.allclose(x, y)",
        "torch.linalg.norm(x)",
        "torch.ops.mylib.fused(x)",
        "x[0] + 1",
        "x.shape[0] * y",
    ],
)
def test_computation(tmp_path: Path, expression: str) -> None:
    assert found(tmp_path, f"z = {expression}") == [f"compute {expression}"]


def test_in_place_arithmetic(tmp_path: Path) -> None:
    assert found(tmp_path, "y += x\ny *= 2") == ["compute y += x", "compute y *= 2"]


def test_items_that_are_set(tmp_path: Path) -> None:
    assert found(tmp_path, "y[...] = 0\ny[0] = x[0]\nkwargs['a'] = 0\n[0][0] = 1") == ["fill y[...]", "copy y[0]"]


@pytest.mark.parametrize(
    "call",
    [
        "torch.cuda.synchronize()",
        "torch.cuda.synchronize(x.device)",
        "torch.cuda.current_stream().synchronize()",
        "x.item()",
        "x[0, 0].tolist()",
        "x.cpu()",
        "x.numpy()",
        "float(x[0, 0])",
        "bool(y[0])",
        "str(y)",
        "print(y)",
        "print('y', y, flush=True)",
        "print(f'{y}')",
        "torch.cuda.Event().synchronize()",
        "torch.cuda.current_stream().wait_event(kwargs['event'])",
        "torch.cuda.Event(enable_timing=True).wait()",
    ],
)
def test_waiting(tmp_path: Path, call: str) -> None:
    assert found(tmp_path, f"z = {call}") == [f"sync {call}"]


@pytest.mark.parametrize(
    "text",
    [
        "z = x.shape[0] + 1",
        "z = x.size(0) * x.stride(-1) // 2",
        "z = x.numel() * x.element_size() > 1 << 30",
        "z = x.dtype == torch.float32 or x.dtype in (torch.float16,)",
        "z = x.device == other.device and x.shape == other.shape",
        "z = x.shape[:-1] + (4,)",
        "z = x.shape.numel() + 2",
        "z = x.is_contiguous() and not x.requires_grad",
        "z = x is y or x is not None or x != None or x == 'auto'",
        "z = rows * 2 + alpha / 3",
        "z = math.ceil(x.shape[0] / 16) ** 2",
        "z = max(rows, x.shape[0]) % cfg.BM",
        "z = np.zeros(3) + 1",
        "z = torch.finfo(x.dtype).max * 0.5",
        "z = torch.Size([2, 3]).numel()",
        "z = torch.device('cuda', 0).index",
        "z = torch.cuda.get_device_properties(x.device).multi_processor_count * 2",
        "z = torch.promote_types(x.dtype, other.dtype)",
        "z = torch.empty((3,), device=x.device)",
        "z = torch.empty_strided((2, 2), (2, 1), device=x.device)",
        "z = x.new_empty(3)",
        "z = x.view(-1).unsqueeze(0).expand(2, -1).transpose(0, 1)",
        "z = x.reshape(-1)",
        "z = y.flatten()",
        "z = x.detach().data.mT[0][1:]",
        "z = torch.tensor([1, 2])",
        "z = torch.tensor([1, 2]) + torch.arange(2)",
        "z = torch.zeros(3, device='cpu').sum().item()",
        "z = torch.tensor([1, 2]).to(torch.int64).tolist()",
        "z = torch.zeros(3).shape[0] + torch.zeros(3).numel()",
        "z = torch.is_grad_enabled() and torch.are_deterministic_algorithms_enabled()",
        "z = int(x.shape[0]) + int(rows) + float(alpha) + bool(x.numel())",
        "print(x.shape, f'{x.dtype}', rows)",
        "z = f'{rows}-{cfg.BM}'",
        "with torch.no_grad(): pass",
        "with torch.cuda.nvtx.range('op'): pass",
        "z = torch.cuda.Event(); z.record()",
        "z = x.data_ptr() + 16",
        "z = kwargs.get('event'); z and z.wait()",
    ],
)
def test_work_of_the_host_alone(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == []


def test_zeros_that_are_moved(tmp_path: Path) -> None:
    body = "z = torch.zeros(3, device=x.device).to(torch.float16)\nw = torch.ones(3).to(x.device)\n_launch(w, x, 1)"
    assert found(tmp_path, body) == [
        "fill torch.zeros(3, device=x.device)",
        "copy torch.zeros(3, device=x.device).to(torch.float16)",
        "fill torch.ones(3)",
        "copy torch.ones(3).to(x.device)",
    ]


def test_a_buffer_without_a_device_that_a_kernel_gets(tmp_path: Path) -> None:
    """The default device may be set: what a descriptor is made of is on the device."""
    assert found(tmp_path, "w = torch.zeros(3)\n_launch(w, x, 1)") == ["fill torch.zeros(3)"]


def test_objects_of_the_project_with_methods_of_tensors(tmp_path: Path) -> None:
    methods = "".join(
        f"    def {name}(self):\n        return {value}\n"
        for name, value in (("clone", "self"), ("item", 1), ("synchronize", "self"))
    )
    front = f"class Plan:\n{methods}\n\n"
    body = "plan = Plan().clone().synchronize()\n        z = plan.item() + 1"
    assert timed(run(tmp_path, front + OP.format(body=body))) == []


def test_work_outside_of_the_region_is_told_apart(tmp_path: Path) -> None:
    op = run(tmp_path, OP.format(body="pass"))
    assert timed(op) == []
    assert [work.name for work in op.tensors.works(timed=False) if work.kind == "copy"] == [".contiguous()"]


def test_memory(tmp_path: Path) -> None:
    op = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x, flag=False):
            view = x.detach().t()[0]
            copied = x.clone()
            either = x if flag else copied
            _launch(view, x, 1)
            _launch(copied, x, 2)
            _launch(either, copied.mul_(2), 3)
        """,
    )
    from cutile_lint.unit.device.effects import given_tensor

    pairs = [[given_tensor(value, op.program) for value in launch.arguments.positional[:2]] for launch in op.launches]
    shares = [op.tensors.shares_memory(first, second) for first, second in pairs]
    assert shares == [True, False, True]
    assert op.tensors.is_input(pairs[0][0]) and not op.tensors.is_input(pairs[1][0])


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("x.contiguous()", True),
        ("torch.empty((2, 3), device=x.device)", True),
        ("torch.empty((2, 3), device=x.device).view(-1)", True),
        ("x.new_zeros((2, 3)).detach()", True),
        ("x.contiguous().t()", False),
        ("x.contiguous().transpose(0, 1)", False),
        ("x", None),
        ("x.t()", None),
        ("torch.empty_like(x)", None),
        ("x.contiguous()[0]", None),
    ],
)
def test_contiguity(tmp_path: Path, expression: str, answer: bool | None) -> None:
    op = run(
        tmp_path,
        f'@register_impl("op", backend="cutile-rs")\ndef op(x):\n    return _launch({expression}, x, 1)\n',
    )
    from cutile_lint.unit.device.effects import given_tensor

    [launch] = op.launches
    assert op.tensors.contiguous(given_tensor(launch.arguments.positional[0], op.program)) is answer
