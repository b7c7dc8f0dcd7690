"""The wrappers of the examples run on the stub runtime: clean ones launch once per trial and do nothing else there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "tests" / "stub_runtime"
TRIALS = 12  # warm-up and repeats of the tuner, per config


def load(name: str, path: Path) -> ModuleType:
    """Import a file, or a package by its ``__init__.py``, under a name of its own."""
    folders = [str(path.parent)] if path.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=folders)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=["clean", "faulty"])
def world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """Fake torch and runtime with the ops of one tree registered; ``clean`` tells which tree it is."""
    before = dict(sys.modules)
    for name in list(sys.modules):
        if name.partition(".")[0] in ("torch", "tilegym"):
            del sys.modules[name]
    monkeypatch.syspath_prepend(str(RUNTIME))
    monkeypatch.syspath_prepend(str(RUNTIME / "fake_torch"))
    import tilegym
    import torch

    tree = ROOT / "examples" / request.param
    load("example_ops", tree / "tilegym/src/tilegym/ops/cutile_rs/__init__.py")
    load("example_suite", tree / "tilegym/src/tilegym/suites/lowrank/cutile_rs/__init__.py")
    load("example_skill", tree / "skill/scale_residual/wrapper.py")
    yield SimpleNamespace(tilegym=tilegym, torch=torch, ops=tilegym.ops, clean=request.param == "clean")
    for name in set(sys.modules) - set(before):
        del sys.modules[name]
    sys.modules.update(before)


def half(world, *shape: int, grad: bool = False):
    return world.torch.Tensor(shape, world.torch.float16, requires_grad=grad)


def test_all_ops_are_registered(world) -> None:
    names = ["batched_product", "fused_rms_norm", "gemm", "gemm_halves", "gemm_rows", "grouped_gemm", "scale_residual"]
    assert world.tilegym.backend.registered() == [*names, "splitk_product"]


CALLS = {
    "cutile_scale_residual": lambda w: w.ops.scale_residual(half(w, 4, 6), half(w, 4, 6), 0.5),
    "cutile_fused_rms_norm": lambda w: w.ops.fused_rms_norm(half(w, 4, 6), half(w, 4, 6), half(w, 6)),
    "cutile_gemm": lambda w: w.ops.gemm(half(w, 300, 64), half(w, 64, 200), static_persistent=True),
    "cutile_batched_product": lambda w: w.ops.batched_product(half(w, 2, 64, 32), half(w, 2, 48, 32), transpose_b=True),
    "cutile_splitk_product": lambda w: w.ops.splitk_product(half(w, 16, 4096), half(w, 4096, 32)),
}


@pytest.mark.parametrize("symbol", CALLS)
def test_launches_and_device_work_per_call(world, symbol: str) -> None:
    recorder = world.tilegym.recorder
    recorder.reset()
    world.torch.device_work.clear()
    CALLS[symbol](world)
    launches = recorder.launches(symbol)
    tuned = [event for event in recorder.events if isinstance(event, recorder.Tuned)]
    trials = sum(event.configs * TRIALS + 1 for event in tuned) or 1
    work = set(world.torch.device_work)
    if world.clean:
        assert len(launches) == trials
        assert work == ({"zeros"} if symbol == "cutile_splitk_product" else set())
    else:
        assert len(launches) > trials, "a canary or a second launch is planted"
        assert work - ({"zeros"} if symbol == "cutile_splitk_product" else set())


GRAD_CALLS = {
    "scale_residual": lambda w: w.ops.scale_residual(half(w, 8, grad=True), half(w, 8)),
    "fused_rms_norm": lambda w: w.ops.fused_rms_norm(half(w, 4, 6), half(w, 4, 6), half(w, 6, grad=True)),
    "gemm": lambda w: w.ops.gemm(half(w, 8, 8, grad=True), half(w, 8, 8)),
    "splitk_product": lambda w: w.ops.splitk_product(half(w, 16, 128, grad=True), half(w, 128, 32)),
}


@pytest.mark.parametrize("op", GRAD_CALLS)
def test_inputs_that_require_grad(world, op: str) -> None:
    if world.clean:
        out = GRAD_CALLS[op](world)
        assert not (out[0] if isinstance(out, tuple) else out).requires_grad
    else:
        with pytest.raises((NotImplementedError, RuntimeError, AssertionError)):
            GRAD_CALLS[op](world)


def test_compile_options_of_the_gemm_reach_the_export(world) -> None:
    """Both options of every config in the clean tree; in the faulty one the persistent variant loses the cluster size."""
    recorder = world.tilegym.recorder
    recorder.reset()
    CALLS["cutile_gemm"](world)
    pairs = {(launch.arguments[-4], launch.arguments[-3]) for launch in recorder.launches("cutile_gemm")}
    assert pairs == ({(1, 1), (2, 1), (4, 1)} if world.clean else {(-1, 1)})


def test_other_gemm_ops_and_empty_inputs(world) -> None:
    both = world.ops.gemm_halves(half(world, 2, 3, 64), half(world, 64, 32))
    assert [part.shape for part in both] == [(2, 3, 16), (2, 3, 16)]
    products = world.ops.grouped_gemm([half(world, m, 64) for m in (1, 0, 5)], [half(world, 64, 8)] * 3)
    assert [product.shape for product in products] == [(1, 8), (0, 8), (5, 8)]
    assert world.ops.scale_residual(half(world, 0, 4), half(world, 0, 4)).shape == (0, 4)
    assert world.ops.batched_product(half(world, 0, 4, 4), half(world, 0, 4, 4)).shape == (0, 4, 4)


def test_gemm_family_explains_and_warms(world) -> None:
    gemm = sys.modules["example_ops.gemm"]
    assert "direct" in gemm.explain_gemm(64, 64, 64)
    assert "clusters of 4" in gemm.explain_gemm(4096, 4096, 64)
    assert len(gemm.search_space()) == 8
    assert gemm.warm_gemm([(64, 64, 64)])[0].startswith("gemm 64x64x64")
    assert 0 < gemm.wave_efficiency(4096, 4096, gemm.configs_for(True)[0], 148) <= 1
    assert gemm.arithmetic_intensity(1024, 1024, 1024) == pytest.approx(341.33, abs=0.01)
    assert "inner dimensions" in gemm.supported(half(world, 2, 3), half(world, 4, 5))
    assert gemm.supported(half(world, 2, 3), half(world, 3, 5)) is None
    assert world.ops.gemm(half(world, 8, 8), half(world, 8, 8), kernel_configs={"TILE_M": 64}).shape == (8, 8)
    with pytest.raises(ValueError, match="unknown kernel_configs: tiles"):
        world.ops.gemm(half(world, 8, 8), half(world, 8, 8), kernel_configs={"tiles": 64})
