"""Reference evidence of an op: where it is found, what it says by variant and architecture, and when it says nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cutile_lint.config.settings import Settings
from cutile_lint.engine.cases import load_base
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit import KernelUnit, load
from cutile_lint.unit.flows.config_names import config_name, config_names
from cutile_lint.unit.linking.architecture import parse_arch, text_condition_fits
from cutile_lint.unit.reference.evidence import Reference

CUTILE = """\
from types import SimpleNamespace

import cuda.tile as ct
import torch
from cuda.tile.tune import exhaustive_search
from tilegym.backend import register_impl

_tuned = {}


def _configs():
    capability = torch.cuda.get_device_capability()
    if capability in [(12, 0), (12, 1)]:
        for occupancy in (1, 2):
            yield SimpleNamespace(TILE_SIZE_M=64, TILE_SIZE_N=64, num_ctas=1, occupancy=occupancy)
    elif capability[0] < 9:
        yield SimpleNamespace(TILE_SIZE_M=32, TILE_SIZE_N=64, num_ctas=1, occupancy=4)
    else:
        yield SimpleNamespace(TILE_SIZE_M=256, TILE_SIZE_N=128, num_ctas=2, occupancy=1)
        yield SimpleNamespace(TILE_SIZE_M=128, TILE_SIZE_N=128, num_ctas=4, occupancy=1)


@ct.kernel
def persistent_kernel(A, B, C, TM: ct.Constant[int], TN: ct.Constant[int]):
    a = ct.load(A, index=(0, 0), shape=(TM, TN), latency=3)
    ct.store(C, index=(0, 0), tile=a)


@ct.kernel(occupancy=2)
def plain_kernel(A, B, C, TM: ct.Constant[int], TN: ct.Constant[int]):
    a = ct.gather(A, (0, 0))
    ct.scatter(C, (0, 0), a)


@register_impl("gemm", backend="cutile")
def gemm(a, b, trans_a=False, trans_b=False, static_persistent=None, **kwargs):
    a = a.transpose(0, 1).contiguous()
    c = torch.zeros((a.shape[0], b.shape[1]), device=a.device, dtype=a.dtype)
    if static_persistent:
        if a.shape not in _tuned:
            found = exhaustive_search(
                list(_configs()), None, lambda cfg: (1,), persistent_kernel,
                lambda cfg: (a, b, c, cfg.TILE_SIZE_M, cfg.TILE_SIZE_N),
                lambda cfg: {"num_ctas": cfg.num_ctas, "occupancy": cfg.occupancy},
            )
            best = found.best.config
            _tuned[a.shape] = best, persistent_kernel.replace_hints(num_ctas=best.num_ctas, occupancy=best.occupancy)
        cfg, kernel = _tuned[a.shape]
        ct.launch(None, (1,), kernel, (a, b, c, cfg.TILE_SIZE_M, cfg.TILE_SIZE_N))
    else:
        ct.launch(None, (1,), plain_kernel, (a, b, c, 128, 64))
    return c
"""


def unit_of(extra: dict[str, str], settings: Settings | None = None, base: str = "gemm") -> KernelUnit:
    root = Path("/evidence").absolute()
    tree = {**load_base(base), **extra}
    overlays = {root / path: text.encode() for path, text in tree.items()}
    given = sorted(path for path in overlays if path.suffix in (".py", ".rs") and "cutile" not in path.relative_to(root).parts)
    (unit,) = [unit for unit in load(Workspace(overlays), given, settings or Settings()) if unit.name == base]
    return unit


def reference_of(extra: dict[str, str], settings: Settings | None = None) -> Reference:
    reference = unit_of(extra, settings).reference
    assert reference is not None
    return reference


def rows(reference: Reference, variant: str) -> list[tuple[object, ...]]:
    return [
        (config.values["m"], config.values["num_cta_in_cga"], config.values["occupancy"]) for config in reference.configs(variant)
    ]


def test_without_evidence_there_is_no_reference() -> None:
    assert unit_of({}).reference is None


def test_the_same_op_of_another_backend_is_the_reference() -> None:
    reference = reference_of({"cutile/gemm.py": CUTILE})
    assert [(one.kernel, one.tuned) for one in reference.variants] == [("persistent_kernel", True), ("plain_kernel", False)]
    assert reference.source.endswith("cutile/gemm.py")
    assert reference.target is None
    assert rows(reference, "persistent_kernel") == [(64, 1, 1), (64, 1, 2), (32, 1, 4), (256, 2, 1), (128, 4, 1)]
    assert [config.values for config in reference.configs("plain_kernel")] == [{"m": 128, "n": 64, "occupancy": 2}]


@pytest.mark.parametrize(
    ("arch", "expected"),
    [
        ("sm_100", [(256, 2, 1), (128, 4, 1)]),
        ("sm_90", [(256, 2, 1), (128, 4, 1)]),
        ("sm_80", [(32, 1, 4)]),
        ("sm_120", [(64, 1, 1), (64, 1, 2)]),
    ],
)
def test_the_target_chooses_the_branch(arch: str, expected: list[tuple[int, int, int]]) -> None:
    reference = reference_of({"cutile/gemm.py": CUTILE}, Settings(target_arch=arch))
    assert rows(reference, "persistent_kernel") == expected
    assert all(config.condition for config in reference.configs("persistent_kernel"))


def test_a_comment_of_the_wrapper_names_the_target() -> None:
    wrapper = load_base("gemm")["gemm.py"].replace(
        "def _persistent_configs():\n", "def _persistent_configs():\n    # for sm100\n"
    )
    assert reference_of({"cutile/gemm.py": CUTILE, "gemm.py": wrapper}).target == (10, 0)


def test_variants_match_by_the_flags_of_both_sides() -> None:
    unit = unit_of({"cutile/gemm.py": CUTILE}, Settings(target_arch="sm_100"))
    reference = unit.reference
    assert reference is not None
    from cutile_lint.unit.flows.configs import configs_of

    (run,) = unit.runs
    (tuning,) = run.tunings
    found = {}
    for config in configs_of(tuning) or []:
        path = tuning.event.path + config.path
        (variant,) = reference.matching(path)
        found.setdefault(variant.kernel, []).append([value.value for value in reference.options("occupancy", path)])
        assert reference.is_auto("occupancy", path) is False
    assert found == {"persistent_kernel": [[1]] * 2, "plain_kernel": [[2]] * 3}


def test_options_are_auto_explicit_or_mixed() -> None:
    reference = reference_of({"cutile/gemm.py": CUTILE}, Settings(target_arch="sm_100"))
    plain = reference.variants[1]
    assert [value.value for value in plain.values("num_cta_in_cga")] == [None]
    assert reference.is_auto("num_cta_in_cga") is None  # explicit in one variant, open in the other
    assert reference.is_auto("occupancy") is False


def test_latencies_and_the_wrapper_s_own_work() -> None:
    reference = reference_of({"cutile/gemm.py": CUTILE})
    assert [value.value for value in reference.latencies("load")] == [3, None]
    assert [value.value for value in reference.latencies("store")] == [None, None]
    assert [one.uses_views for one in reference.variants] == [True, False]
    assert reference.host_work is not None
    assert {("fill", "zeros"), ("copy", "contiguous"), ("view", "transpose")} <= reference.host_work


def test_analysis_is_stronger_and_dispatch_conditions_are_read() -> None:
    analysis = {
        "kernel_name": "gemm",
        "kernel_variants": [
            {
                "variant_name": "loop",
                "dispatch_condition": "static_persistent",
                "autotune_configs": [
                    {"TILE_M": 256, "num_ctas": 2, "occupancy": None},
                    {"TILE_M": 128, "num_ctas": 1, "occupancy": "auto"},
                ],
            },
            {
                "variant_name": "tile",
                "dispatch_condition": "not static_persistent",
                "autotune_configs": [{"TILE_M": 64, "num_ctas": -1}],
            },
        ],
    }
    unit = unit_of({"gemm_kernel/reference/analysis.json": json.dumps(analysis), "cutile/gemm.py": CUTILE})
    reference = unit.reference
    assert reference is not None
    assert reference.source == "reference/analysis.json"
    assert [one.name for one in reference.variants] == ["loop", "tile"]
    (tuning,) = unit.runs[0].tunings
    from cutile_lint.unit.flows.configs import configs_of

    matched = [reference.matching(tuning.event.path + config.path)[0].name for config in configs_of(tuning) or []]
    assert matched == ["loop"] * 2 + ["tile"] * 3
    assert reference.is_auto("occupancy") is True
    assert [value.value for value in reference.latencies()] == [
        3,
        None,
    ]  # from the weaker evidence: the file says nothing about them


def test_reference_ir_gives_hints() -> None:
    text = """\
cuda_tile.module @m {
  entry @gemm_persistent(%a: tile<ptr<f16>>) optimization_hints=<sm_100 = {num_cta_in_cga = 2, occupancy = 1}> {
    return
  }
}
"""
    reference = reference_of({"gemm_kernel/reference/reference_persistent.mlir": text}, Settings(target_arch="sm_100"))
    assert [one.name for one in reference.variants] == ["persistent"]
    assert [value.value for value in reference.options("num_cta_in_cga")] == [2]
    assert reference.is_auto("max_divisibility") is True


@pytest.mark.parametrize("text", ["{", "[]", '{"kernel_name": "gemm"}', "", '{"kernel_variants": 3}'])
def test_a_file_that_says_nothing_is_no_evidence(text: str) -> None:
    assert unit_of({"gemm_kernel/reference/analysis.json": text}).reference is None


def test_configs_that_cannot_be_evaluated_are_not_known() -> None:
    text = CUTILE.replace("list(_configs())", "load_configs()").replace(
        "_tuned = {}", "from elsewhere import load_configs\n_tuned = {}"
    )
    reference = reference_of({"cutile/gemm.py": text})
    assert reference.variants[0].configs is None
    assert reference.options("occupancy") == []
    assert reference.is_auto("occupancy") is None


@pytest.mark.parametrize(
    "broken", ["def gemm(:\n", 'register_impl("gemm", backend="cutile")\n', "\udcff".encode("utf-8", "replace").decode()]
)
def test_a_broken_reference_is_no_evidence(broken: str) -> None:
    assert unit_of({"cutile/gemm.py": broken}).reference is None


def test_another_op_s_module_is_no_evidence() -> None:
    assert unit_of({"cutile/gemm.py": CUTILE.replace('register_impl("gemm"', 'register_impl("bmm"')}).reference is None


@pytest.mark.parametrize(("arch", "expected"), [("sm_80", [2]), ("sm_100", [4]), (None, [])])
def test_hints_by_target(arch: str | None, expected: list[int]) -> None:
    text = CUTILE.replace("@ct.kernel(occupancy=2)", "@ct.kernel(occupancy=ct.ByTarget(sm_80=2, default=4))")
    plain = reference_of({"cutile/gemm.py": text}, Settings(target_arch=arch)).variants[1]
    assert [value.value for value in plain.values("occupancy")] == expected


def test_hints_that_cannot_be_evaluated_are_not_auto() -> None:
    text = CUTILE.replace("@ct.kernel(occupancy=2)", "@ct.kernel(occupancy=measured())").replace(
        "_tuned = {}", "from elsewhere import measured\n_tuned = {}"
    )
    reference = reference_of({"cutile/gemm.py": text})
    assert reference.variants[1].values("occupancy") == []


def test_a_kernel_out_of_a_cache_leaves_the_others_open() -> None:
    text = CUTILE.replace(
        "ct.launch(None, (1,), plain_kernel,",
        'kernel = kwargs.get("kernel") or plain_kernel\n        ct.launch(None, (1,), kernel,',
    )
    text = (
        text[: text.index("        if a.shape not in _tuned")]
        + "        pass\n"
        + text[text.index("    else:\n        kernel = ") :]
    )
    reference = unit_of({"cutile/gemm.py": text}).reference
    assert reference is None or reference.is_auto("num_cta_in_cga") is None


def test_names_of_one_thing_are_one() -> None:
    assert {config_name(name) for name in ("BM", "TILE_M", "TILE_SIZE_M", "BLOCK_SIZE_M", "block_m", "TM")} == {"m"}
    assert {config_name(name) for name in ("NUM_CTAS", "num_ctas", "NUM_CTA_IN_CGA")} == {"num_cta_in_cga"}
    assert config_name("GROUP_SIZE_M") == "group_m"
    assert config_name("BLOCK_SIZE") == "tile"
    assert config_names(["BM", "TILE_M"]) == {"BM": "bm", "TILE_M": "tile_m"}


def test_architectures() -> None:
    assert parse_arch("sm_100") == (10, 0)
    assert parse_arch("sm90a") == (9, 0)
    assert parse_arch("hopper") is None
    assert text_condition_fits("sm_120 and persistent", (10, 0)) is False
    assert text_condition_fits("persistent", (10, 0)) is None
