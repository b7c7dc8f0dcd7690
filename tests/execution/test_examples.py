"""The bases and the wrappers of the examples: verdicts against counts, and what their ops do when they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import torch

from tests.execution.agreement import Verdict
from tests.execution.device import CUDA
from tests.execution.drives import Drive
from tests.execution.examples import TREES, tree_of, verdicts_on
from tests.execution.judge import last_trials, run_all
from tests.execution.world import World, opened

CLEAN = [name for name in TREES if name != "examples/faulty"]


@pytest.mark.parametrize("name", TREES)
def test_verdicts_are_what_is_counted(name: str, told: Callable[[Verdict], None]) -> None:
    verdicts = verdicts_on(name)
    for verdict in verdicts:
        told(verdict)
    assert [f"{verdict.code}: {text}" for verdict in verdicts for text in verdict.disagree] == []
    assert any(verdict.findings for verdict in verdicts) is (name not in CLEAN)


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_trial_launches_once_and_does_nothing_else(name: str) -> None:
    with opened(tree_of(name), TREES[name].kernels, TREES[name].modules) as world:
        for op, name, counts in last_trials(run_all(world)):
            del counts["alloc"]
            assert counts == ({"launch": 1, "fill": 1} if op == "splitk_product" else {"launch": 1}), (op, name)


@pytest.fixture(params=["clean", "faulty"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    name = f"examples/{request.param}"
    with opened(tree_of(name), TREES[name].kernels, TREES[name].modules) as opened_world:
        opened_world.clean = request.param == "clean"
        yield opened_world


def drive(shapes: dict[str, tuple[int, ...]], *, grad: str = "", lists: bool = False, **flags) -> Drive:
    return Drive("test", tuple(shapes), shapes, torch.float16, grad=frozenset(grad.split()), flags=flags,
                 lists=frozenset(shapes if lists else ()))  # fmt: skip


def test_all_ops_are_registered(world: World) -> None:
    names = ["batched_product", "fused_rms_norm", "gemm", "gemm_halves", "gemm_rows", "grouped_gemm", "scale_residual"]
    assert sorted(world.ops) == [*names, "splitk_product"]


VALUES = {
    "scale_residual": (
        drive({"x": (4, 6), "residual": (4, 6)}, alpha=0.25),
        lambda x, residual: residual + 0.25 * x,
    ),
    "gemm": (drive({"a": (16, 24), "b": (24, 8)}, alpha=0.5, static_persistent=True), lambda a, b: 0.5 * (a @ b)),
    "gemm_rows": (drive({"x": (2, 3, 24), "w": (24, 8)}), torch.matmul),
    "gemm_halves": (drive({"x": (2, 3, 24), "w": (24, 8)}), lambda x, w: [x @ w[:, :4], x @ w[:, 4:]]),
    "batched_product": (drive({"a": (2, 16, 24), "b": (2, 8, 24)}, transpose_b=True), lambda a, b: a @ b.mT),
}


@pytest.mark.parametrize("op", VALUES)
def test_clean_ops_give_what_pytorch_gives(world: World, op: str) -> None:
    call, reference = VALUES[op]
    outcome = world.call(op, call, 1)
    given, _ = call.arguments()
    if world.clean:
        expected = reference(*(tensor.inner.float() for tensor in given))
        for got, want in zip(
            *([one] if isinstance(one, torch.Tensor) else one for one in (outcome.value, expected)), strict=True
        ):
            torch.testing.assert_close(got.float(), want, atol=2e-2, rtol=2e-2)


GRAD_CALLS = {
    "scale_residual": drive({"x": (8,), "residual": (8,)}, grad="x"),
    "fused_rms_norm": drive({"x": (4, 6), "residual": (4, 6), "weight": (6,)}, grad="weight"),
    "gemm": drive({"a": (8, 8), "b": (8, 8)}, grad="a"),
    "splitk_product": drive({"a": (16, 128), "b": (128, 32)}, grad="a"),
}


@pytest.mark.parametrize("op", GRAD_CALLS)
def test_inputs_that_require_grad(world: World, op: str) -> None:
    outcome = world.call(op, GRAD_CALLS[op], 1)
    if world.clean:
        assert outcome.error is None and outcome.launches
    else:
        assert isinstance(outcome.error, (NotImplementedError, RuntimeError, AssertionError))


def test_compile_options_of_the_gemm_reach_the_export(world: World) -> None:
    """Both options of every config in the clean tree; in the faulty one the persistent variant loses the cluster size."""
    outcome = world.call("gemm", drive({"a": (300, 16), "b": (16, 200)}, static_persistent=True), 1)
    pairs = {launch.detail["arguments"][-4:-2] for launch in outcome.launches}
    assert pairs == ({(1, 1), (2, 1), (4, 1)} if world.clean else {(-1, 1)})


def test_groups_and_empty_inputs(world: World) -> None:
    pairs = world.call("grouped_gemm", drive({"group_a": (5, 24), "group_b": (24, 8)}, lists=True), 1)
    assert [product.shape for product in pairs.value] == [(5, 8), (5, 8)]
    empty = world.call("scale_residual", drive({"x": (0, 4), "residual": (0, 4)}), 1)
    assert empty.value.shape == (0, 4) and not empty.launches
    assert world.call("batched_product", drive({"a": (0, 4, 4), "b": (0, 4, 4)}), 1).value.shape == (0, 4, 4)


def test_a_callers_own_config_skips_the_tuner(world: World) -> None:
    shapes = {"a": (8, 8), "b": (8, 8)}
    own = world.call("gemm", drive(shapes, kernel_configs={"TILE_M": 64}), 1)
    assert {launch.trial for launch in own.launches} == {None}
    wrong = world.call("gemm", drive(shapes, kernel_configs={"tiles": 64}), 1)
    assert isinstance(wrong.error, ValueError) and "unknown kernel_configs: tiles" in str(wrong.error)


def test_gemm_family_explains_and_warms(world: World) -> None:
    gemm = world.module("gemm")
    assert "direct" in gemm.explain_gemm(64, 64, 64)
    assert "clusters of 4" in gemm.explain_gemm(4096, 4096, 64)
    assert len(gemm.search_space()) == 8
    assert 0 < gemm.wave_efficiency(4096, 4096, gemm.configs_for(True)[0], 148) <= 1
    assert gemm.arithmetic_intensity(1024, 1024, 1024) == pytest.approx(341.33, abs=0.01)
    with world.device() as launches:
        assert gemm.warm_gemm([(64, 64, 64)])[0].startswith("gemm 64x64x64")
        first, second = torch.empty(2, 3, device=CUDA), torch.empty(4, 5, device=CUDA)
        assert "inner dimensions" in gemm.supported(first, second)
        assert gemm.supported(first, torch.empty(3, 5, device=CUDA)) is None
    assert Counter(event.kind for event in launches)["launch"] > 0
