"""``analysis.json``: today's shape, older shapes, odd shapes, broken files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cutile_lint.frontends.reference import read_analysis
from cutile_lint.frontends.reference.analysis import Analysis
from cutile_lint.frontends.reference.configs import option_name
from cutile_lint.frontends.reference.json_places import read_json
from cutile_lint.sources import Source


def source(content: object) -> Source:
    data = (
        content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else json.dumps(content).encode()
    )
    return Source(Path("/op/reference/analysis.json"), data)


def read(content: object) -> Analysis:
    return read_analysis(source(content))


FULL = """\
{
  "kernel_name": "größe_bmm",
  "launch_path": "autotune",
  "pattern": "multi_variant",
  "ops_used": ["mma", "load"],
  "reference_backend": "cutile",
  "kernel_variants": [
    {"variant_name": "static", "kernel_function": "bmm_static", "dispatch_condition": "M > 128",
     "reference_ir": "reference/reference_static.mlir", "reference_ir_f32_supplement": "reference/supplements/static_f32.mlir",
     "constants": ["TILE_M=64", "TRANSPOSE"], "reference_backend": "cutile",
     "autotune_configs": [{"TILE_M": 64, "num_ctas": 2, "occupancy": null}, {"TILE_M": 128, "NUM_CTAS": -1}]},
    {"variant_name": "small", "kernel_function": "bmm_small", "reference_ir": null, "autotune_configs": null}
  ],
  "config_to_variant": {"shape0": "static"},
  "autotune_backends": ["cutile", "triton"],
  "autotune_key": ["M", "N", "dtype"],
  "autotune_configs": [{"BLOCK_M": 32, "num_cta_in_cga": 1, "latency": 4, "num_stages": 3}]
}
"""


def test_todays_shape() -> None:
    found = read(FULL)
    assert found.faults == []
    assert (found.kernel_name.value, found.launch_path.value, found.reference_backend.value) == (
        "größe_bmm",
        "autotune",
        "cutile",
    )
    assert [key.value for key in found.autotune_key] == ["M", "N", "dtype"]
    assert [key.place.text for key in found.autotune_key] == ['"M"', '"N"', '"dtype"']
    static, small = found.variants
    assert (static.kernel_function.value, static.dispatch_condition.value) == ("bmm_static", "M > 128")
    assert static.constants == {"TILE_M": 64, "TRANSPOSE": None}
    assert static.supplements["reference_ir_f32_supplement"].value == "reference/supplements/static_f32.mlir"
    assert small.configs is None and not small.reference_ir
    assert found.config_to_variant["shape0"].value == "static"
    assert found.is_autotuned and found.variant("small") is small


def test_configs_have_values_places_and_one_name_for_an_option() -> None:
    found = read(FULL)
    first, second = found.configs_for("static")
    assert first.values == {"TILE_M": 64, "num_cta_in_cga": 2, "occupancy": None}
    assert first.explicit("num_cta_in_cga") == 2 and first.is_auto("occupancy") and first.is_auto("num_stages")
    assert second.is_auto("num_cta_in_cga") and second.written["num_cta_in_cga"] == "NUM_CTAS"
    assert first.at("num_cta_in_cga").text == "2" and first.at("num_cta_in_cga").start == (11, 54)
    assert first.at("latency").text == first.place.text == '{"TILE_M": 64, "num_ctas": 2, "occupancy": null}'
    (shared,) = found.configs_for("small")
    assert (shared.explicit("num_cta_in_cga"), shared.explicit("latency"), shared.explicit("num_stages")) == (1, 4, 3)


def labelled(configs: object, **fields: object) -> list[tuple[str, str, str, dict[str, object]]]:
    found = read({"autotune_configs": configs, "kernel_variants": [{"variant_name": "a"}, {"variant_name": "b"}], **fields})
    return [(config.backend, config.variant, config.condition, config.values) for config in found.configs or []]


@pytest.mark.parametrize(
    ("configs", "expected"),
    [
        (None, []),
        ([], []),
        ("see the source", []),
        ([1, "x", None, [{"BLOCK": 1}]], [("", "", "", {"BLOCK": 1})]),
        ({"TILE_M": 64, "occupancy": 2}, [("", "", "", {"TILE_M": 64, "occupancy": 2})]),
        ({"TILE_M": [64, 128]}, [("", "", "", {"TILE_M": 64}), ("", "", "", {"TILE_M": 128})]),
        ([{"tile": [64, 64]}], [("", "", "", {"tile": [64, 64]})]),
        ({"cutile": [{"TILE": 1}], "triton": None}, [("cutile", "", "", {"TILE": 1})]),
        ({"a": {"configs": [{"TILE": 1}]}, "count": 1}, [("", "a", "", {"TILE": 1})]),
        ({"cutile-python": {"b": {"sm_100": [{"TILE": 1}]}}}, [("cutile", "b", "sm_100", {"TILE": 1})]),
        ({"sm_90": {"f16": {"TILE": 1}}}, [("", "", "sm_90 and f16", {"TILE": 1})]),
        ([{"arch": "sm_120", "TILE": 1, "note": "n"}], [("", "", "sm_120", {"TILE": 1})]),
        ([{"kwargs": {"BLOCK_M": 1}, "num_warps": 4}], [("", "", "", {"BLOCK_M": 1, "num_warps": 4})]),
        (
            [{"TILE": 1, "num_ctas": "auto", "occupancy": "2"}],
            [("", "", "", {"TILE": 1, "num_cta_in_cga": None, "occupancy": 2})],
        ),
    ],
)
def test_shapes_of_configs(configs: object, expected: list[object]) -> None:
    assert labelled(configs) == expected


def test_other_backends_configs_are_left_out() -> None:
    found = read({"reference_backend": "cutile", "autotune_configs": {"cutile": [{"TILE": 1}], "triton": [{"BLOCK": 2}]}})
    assert [config.values for config in found.configs_for()] == [{"TILE": 1}]
    assert [config.values for config in found.configs_for(backend="triton")] == [{"BLOCK": 2}]


def test_options_outside_configs_and_best_config() -> None:
    variant = {"variant_name": "v", "optimization_hints": {"sm_100": {"num_cta_in_cga": 4}}, "best_config": {"TILE": 8}}
    found = read({"occupancy": 2, "kernel_variants": [variant]})
    assert [(option.values, option.condition) for option in found.options] == [({"occupancy": 2}, "")]
    assert [(option.values, option.condition) for option in found.variants[0].options] == [({"num_cta_in_cga": 4}, "sm_100")]
    assert found.variants[0].best[0].values == {"TILE": 8}


def test_older_shapes() -> None:
    found = read(
        {
            "op_name": "relu",
            "reference_backend_selection": {"winner": "cutile-python"},
            "kernel_variants": {"default": {"kernel": "k", "constants": {"N": 4}}},
            "autotune_key": {"M": 1},
            "config_to_variant": [{"config": "c0", "variant": "default"}],
        }
    )
    assert found.kernel_name.value == "relu" and found.reference_backend.value == "cutile"
    assert [(item.name.value, item.kernel_function.value, item.constants) for item in found.variants] == [
        ("default", "k", {"N": 4})
    ]
    assert found.autotune_key[0].value == "M" and found.config_to_variant["c0"].value == "default"
    assert not found.is_autotuned


@pytest.mark.parametrize(
    "odd", [None, 3, True, "text", [], {}, [[]], [None], {"x": None}, [{"variant_name": 3}], {"a": {"b": []}}]
)
def test_wrong_types_count_as_absent(odd: object) -> None:
    names = ["kernel_name", "launch_path", "kernel_variants", "autotune_configs", "autotune_key", "ops_used", "config_to_variant"]
    names += [
        "reference_backend",
        "reference_backend_selection",
        "best_config",
        "compile_options",
        "autotune_backends",
        "occupancy",
    ]
    found = read(dict.fromkeys(names, odd))
    assert found.faults == []
    found.configs_for("a")
    inner = read({"kernel_variants": [dict.fromkeys([*names, "constants", "reference_ir", "variant_name"], odd)]})
    assert inner.faults == [] and len(inner.variants) == 1


@pytest.mark.parametrize(
    ("broken", "place", "message"),
    [
        ("", (1, 1), "the JSON text ends too early"),
        ('{"a": 1,\n}', (2, 1), "a key in double quotes is missing"),
        ('{"ä": 1 2}', (1, 9), "`,` or `}` is missing"),
        ('{"a"\r\n 1}', (2, 2), "`:` is missing after the key"),
        ("[1, nul]", (1, 5), "a JSON value is missing"),
        ("{} x", (1, 4), "text after the JSON value"),
        ("[" * 5000, (1, 102), "JSON nests deeper than 100"),
        ("[1]", (1, 1), "`analysis.json` is no JSON object"),
    ],
)
def test_malformed_files_have_a_fault_with_its_place(broken: str, place: tuple[int, int], message: str) -> None:
    found = read(broken)
    assert [(found.source.position(fault.span.start), fault.message) for fault in found.faults] == [(place, message)]
    assert found.variants == [] and found.configs_for() == []


def test_values_are_those_of_the_json_module() -> None:
    content = '\ufeff{"a": [1, -2.5e3, true, null, "\\u00e9\\n"], "a\\"b": {"x": 0}, "d": 1, "d": 2}\n'
    root, fault = read_json(source(content))
    assert fault is None and root is not None
    assert root.plain() == json.loads(content.removeprefix("\ufeff"))


def test_option_names() -> None:
    assert [option_name(name) for name in ("NUM_CTAS", "num_ctas", "num_cta_in_cga", "OCCUPANCY", "TILE_M", "latency")] == [
        "num_cta_in_cga",
        "num_cta_in_cga",
        "num_cta_in_cga",
        "occupancy",
        "TILE_M",
        "latency",
    ]
