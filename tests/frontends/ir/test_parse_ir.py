"""Facts of Tile IR texts. The fixtures were printed by the real disassembler (``make_fixtures.py``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.frontends.ir import IrEntry, IrModule, parse_ir
from cutile_lint.sources import Source

FIXTURES = Path(__file__).parent / "fixtures"


def text(content: str | bytes) -> IrModule:
    return parse_ir(Source(Path("/op/generated/generated.mlir"), content.encode() if isinstance(content, str) else content))


def fixture(name: str) -> IrModule:
    return text((FIXTURES / f"{name}.mlir").read_bytes())


def entry(name: str) -> IrEntry:
    module = fixture(name)
    assert module.faults == [] and module.refused == ""
    (only,) = module.entries
    return only


def hints(found: IrEntry) -> dict[str, dict[str, object]]:
    return {arch: {name: value.value for name, value in table.items()} for arch, table in found.hints.by_arch.items()}


@pytest.mark.parametrize("name", sorted(path.stem for path in FIXTURES.glob("*.mlir")))
def test_every_fixture_reads_clean_and_every_operand_is_known(name: str) -> None:
    found = entry(name)
    assert found.ops
    unknown = [use.name for op in found.ops for use in op.operands if use.producer is None and use.param is None]
    assert unknown == []
    source = fixture(name).source
    assert source.slice(found.name_span) == found.name
    assert all(source.slice(op.name_span).removeprefix("cuda_tile.") == op.name for op in found.ops)


@pytest.mark.parametrize("name", ["gemm", "gemm_prefixed"])
def test_gemm_by_views_in_both_spellings(name: str) -> None:
    found = entry(name)
    assert hints(found) == {"default": {"occupancy": 2}}
    assert found.occupancy("sm_90") == 2 and found.num_cta_in_cga("sm_90") is None
    assert found.params[0].name == "%arg0" and found.params[0].type is not None
    assert found.params[0].type.pointer and found.params[0].type.element == "f16"
    assert [param.type.element for param in found.params[1:3] if param.type] == ["i32", "i32"]
    assert [view.type_strides for view in found.tensor_views] == [(None, 1)] * 3
    assert found.tensor_views[0].strides == ("%assume_assume_assume_16", 1)
    assert [(view.tile, view.padding, view.permutes) for view in found.partition_views] == [
        ((64, 32), "", False),
        ((64, 32), "zero", False),
        ((32, 64), "zero", False),
        ((64, 64), "", False),
    ]
    assert [(use.kind, use.through, use.element) for use in found.accesses] == [
        ("load", "view", "f16"),
        ("load", "view", "f16"),
        ("store", "view", "f16"),
    ]
    first, second, store = found.accesses
    assert (first.latency("sm_90"), first.allow_tma()) == (3, True)
    assert (second.latency("sm_90"), second.allow_tma("sm_90")) == (None, False)
    assert first.loop is not None and store.loop is None
    assert first.view is found.partition_views[1] and first.view.tensor is found.tensor_views[0]
    (product,) = found.mmas
    assert [side.element for side in (product.left, product.right, product.accumulator) if side] == ["f16", "f16", "f32"]
    assert product.accumulator is not None and product.accumulator.shape == (64, 64)
    assert found.uses_views and not found.uses_pointers
    assert [loop.is_persistent for loop in found.loops] == [False]


def test_module_name_of_the_long_spelling() -> None:
    assert fixture("gemm_prefixed").name == "kernels"
    assert fixture("gemm").name == ""


def test_half_precision_accumulator() -> None:
    (product,) = entry("gemm_f16_accumulator").mmas
    assert product.accumulator is not None and product.accumulator.element == "f16"


def test_hints_by_architecture_fall_back_to_the_default() -> None:
    found = entry("persistent_scale")
    assert hints(found) == {
        "default": {"occupancy": 1},
        "sm_100": {"num_cta_in_cga": 4},
        "sm_120": {"num_cta_in_cga": 1, "occupancy": 2},
    }
    assert (found.occupancy("sm_100"), found.occupancy("sm_120"), found.num_cta_in_cga("sm_90")) == (1, 2, None)
    assert entry("gemm_two_ctas").num_cta_in_cga("sm_100") == 2
    assert entry("row_softmax").hints.is_empty


def test_persistent_loop_and_its_latencies() -> None:
    found = entry("persistent_scale")
    assert [(loop.op.induction, loop.is_persistent) for loop in found.loops] == [("%loopIdx", True)]
    assert [(use.kind, use.latency("sm_100")) for use in found.accesses] == [("load", 10), ("store", 4)]


def test_reductions_and_math_modes() -> None:
    found = entry("row_softmax")
    assert [(item.combiners, item.dim, item.is_sum, item.result[0].element) for item in found.reductions] == [
        (("maxf",), 1, False, "f32"),
        (("addf",), 1, True, "f32"),
    ]
    modes = {op.name: (op.rounding, op.flush_to_zero) for op in found.float_ops}
    assert modes["divf"] == ("approx", True)
    assert modes["exp2"] == ("", True)
    assert modes["subf"] == ("", False)
    assert found.partition_views[0].padding == "neg_inf"


def test_pointers_instead_of_views() -> None:
    found = entry("gather_add")
    assert found.uses_pointers and not found.uses_views and found.tensor_views == []
    assert [(use.kind, use.through, use.element, use.latency(), use.allow_tma()) for use in found.accesses] == [
        ("load", "pointer", "f32", 2, False),
        ("load", "pointer", "f32", None, False),
        ("store", "pointer", "f32", None, False),
    ]


def test_transposes_by_dim_map_and_by_permute() -> None:
    found = entry("transposed_loads")
    assert [view.dim_map for view in found.partition_views] == [(1, 0), None, None]
    assert found.partition_views[0].permutes
    assert [op.lists for op in found.permutes] == [((1, 0),)]
    assert found.permutes[0].operands[0].producer is found.accesses[1].op


def test_loops_without_bounds_and_branches() -> None:
    found = entry("search")
    assert [(loop.op.name, list(loop.op.carried)) for loop in found.loops] == [("loop", ["%arg10"])]
    assert found.reductions[1].op.parent is found.loops[0].op


# lines as long as the printer makes them
# ruff: noqa: E501
RUST_PRINTED = """\
cuda_tile.module @scale_module {
  cuda_tile.global @table alignment = 16 : tile<4xf32>
  entry @scale(%0: tile<ptr<bf16>>, %1: tile<i32>) optimization_hints = #cuda_tile.optimization_hints<sm_100 = {occupancy = 1}, sm_120 = {}> {
    %2, %3, %4 = get_tile_block_id : tile<i32>
    %5, %6, %7 = get_num_tile_blocks : tile<i32>
    %8 = make_tensor_view %0, shape = [%1, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xbf16, strides=[64,1]>
    %9 = make_partition_view %8 : partition_view<tile=(16x64), padding_value = zero, tensor_view<?x64xbf16, strides=[64,1]>, dim_map=[1,0]>
    %10 = constant <f32: [1e-5, -inf]> : tile<2xf32>
    %11 = constant dense<8 bytes> : tile<2xi32>
    print_tko "v = %d, {\\n", %1 : tile<i32>
    assert %1, "out of range: { (" : tile<i1>
    for %12 in (%2 to %1, step %5) : tile<i32> {
      %13, %14 = load_view_tko weak %9[%12, %2] optimization_hints = #cuda_tile.optimization_hints<sm_100 = {latency = 2, allow_tma = false}> : partition_view<tile=(16x64), tensor_view<?x64xbf16, strides=[64,1]>>, tile<i32> -> tile<16x64xbf16>, token
      %15 = reduce %13 dim=1 identities=[0] : tile<16x64xbf16> -> tile<16xbf16> {
      ^bb0(%16: tile<bf16>, %17: tile<bf16>):
        %18 = addf %16, %17 rounding<zero> : tile<bf16>
        yield %18 : tile<bf16>
      }
      %19 = mmaf_scaled %13, %13, %15, %13, %13 : tile<2x2xf8e4m3fn>, tile<2x2xf4e2m1fn>, tile<2x2xf16>, tile<2x2xf8e8m0fnu>, tile<2x2xf8e8m0fnu>
      continue
    }
    %20, %21 = atomic_rmw_tko relaxed device %0, addf, %10 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    return
  }
}
"""


def test_what_cutile_rs_prints() -> None:
    module = text(RUST_PRINTED)
    assert module.faults == [] and module.name == "scale_module"
    (found,) = module.entries
    assert hints(found) == {"sm_100": {"occupancy": 1}, "sm_120": {}}
    assert found.tensor_views[0].shape == ("%1", 64) and found.tensor_views[0].type_strides == (64, 1)
    assert found.partition_views[0].dim_map == (1, 0)
    load, atomic = found.accesses
    assert (load.latency("sm_100"), load.latency("sm_90"), load.allow_tma("sm_100")) == (2, None, False)
    assert (atomic.kind, atomic.through) == ("atomic", "pointer")
    assert found.reductions[0].is_sum and found.reductions[0].result[0].element == "bf16"
    assert found.mmas[0].accumulator is not None and found.mmas[0].accumulator.element == "f16"
    assert found.mmas[0].op.result_types[0].element == "f16"
    assert found.loops[0].is_persistent


def test_stride_metadata_that_does_not_fit_the_rank_is_kept_as_written() -> None:
    module = text(
        "entry @e(%a: tile<ptr<f16>>) {\n  %v = make_tensor_view %a, shape = [4, 8], strides = [8] : tensor_view<4x8xf16, strides=[8]>\n}\n"
    )
    view = module.entries[0].tensor_views[0]
    assert view.type is not None and view.type.rank == 2 and view.type_strides == (8,)


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"])
def test_line_endings_bom_and_comments_do_not_matter(ending: str) -> None:
    plain = (FIXTURES / "gemm.mlir").read_text(encoding="utf-8")
    changed = "\ufeff// größe: { (\n" + plain.replace("  return\n", "\treturn // done }\n")
    module = text(changed.replace("\n", ending))
    assert module.faults == []
    (found,) = module.entries
    assert module.source.slice(found.name_span) == found.name
    assert len(found.accesses) == 3 and found.accesses[0].latency() == 3


def test_spans_are_bytes() -> None:
    module = text("// größe\nentry @e(%a: tile<i32>) {\n  %b = addf %a, %a : tile<f32>\n}\n")
    op = module.entries[0].float_ops[0]
    assert module.source.slice(op.span) == "%b = addf %a, %a : tile<f32>"
    assert module.source.position(op.name_span.start) == (3, 8)


@pytest.mark.parametrize(
    ("broken", "place", "message"),
    [
        ("entry @e() {\n  return\n", (1, 12), "`{` is never closed"),
        ("entry @e() {\n  return\n}\n}\n", (4, 1), "`}` closes nothing that is open here"),
        ("entry @e(%a: tile<f16>> {\n}\n", (1, 23), "`>` closes nothing that is open here"),
    ],
)
def test_unbalanced_brackets_are_placed(broken: str, place: tuple[int, int], message: str) -> None:
    module = text(broken)
    assert [(module.source.position(fault.span.start), fault.message) for fault in module.faults] == [(place, message)]


def test_a_syntax_error_leaves_the_rest_readable() -> None:
    module = text("entry @e(%a: tile<f32>) {\n  %b = = addf %a ;; : tile<f32>\n  %c = mulf %a, %a : tile<f32>\n  return\n}\n")
    assert {module.source.position(fault.span.start)[0] for fault in module.faults} == {2}
    assert [op.name for op in module.entries[0].float_ops] == ["mulf"]


@pytest.mark.parametrize("content", ["", "\ufeff", "\n\n", "// nothing\n", "module {\n}\n"])
def test_texts_without_entries(content: str) -> None:
    module = text(content)
    assert module.entries == [] and module.faults == [] and module.refused == ""


def test_limits_are_said() -> None:
    assert "nest deeper" in text("(" * 5000).refused
    assert "more than the limit" in text("// x\n" * 500_000).refused
    assert [fault.message for fault in text("entry\0").faults] == ["a NUL byte"]
    deep = "entry @e(%c: tile<i1>) {\n" + "if %c {\n" * 150 + "}\n" * 151
    assert text(deep).entries[0].name == "e"


@pytest.mark.parametrize("cut", range(0, 4000, 173))
def test_a_cut_text_never_raises(cut: int) -> None:
    data = (FIXTURES / "persistent_scale.mlir").read_bytes()
    module = text(data[:cut])
    assert module.faults or not module.entries
