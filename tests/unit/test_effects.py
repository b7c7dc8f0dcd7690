"""What launches do to buffers: small ops of our own, one property each."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.config.settings import Settings
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit import KernelUnit, load
from cutile_lint.unit.device.effects import BufferUse

WRAPPER = """
import torch
from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.utils import bind_kernel_function_cffi, check_rc, make_tensor_desc

_CDEF = "int32_t cutile_op(const TensorDesc* out, const TensorDesc* x, int32_t bm, int32_t flag, int32_t blocks);"


@register_impl("op", backend="cutile-rs")
def op(x, flag=False):
    {before}
    out = {out}
    ffi, lib = bind_kernel_function_cffi("op", _CDEF)
    rc = lib.cutile_op(make_tensor_desc(ffi, {given}), make_tensor_desc(ffi, x), 64, {flag}, {blocks})
    check_rc(rc, "op")
    return out
"""

EXPORT = """
use cutile::tile_kernel::TileKernel;
use op_module::*;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_op(out: *const TensorDesc, x: *const TensorDesc, bm: i32, flag: i32, blocks: i32) -> i32 {{
    if out.is_null() || x.is_null() {{
        return -5;
    }}
    let (out, x) = unsafe {{ (&*out, &*x) }};
    {body}
    0
}}
"""

LAUNCH = """
    {{
        let op = unsafe {{ {call} }}
            .generics(vec!["f32".to_string(), bm.to_string()])
            .grid({grid});
        op.sync_on(&stream);
    }}
"""

KERNEL = """
#[cutile::module]
pub mod op_module {{
    use cutile::core::*;
    {helpers}
    #[cutile::entry()]
    pub unsafe fn op_kernel<E: ElementType, const BM: i32>({params}) {{
        {body}
    }}
    {more}
}}
"""

VIEWS = "out: &Tensor<E, { [-1, -1] }>, x: &Tensor<E, { [-1, -1] }>"
VIEW_CALL = "op_kernel(&*borrow_tensor::<f32>(out), &*borrow_tensor::<f32>(x))"
POINTERS = "out: *mut E, x: *mut E, rows: i32, cols: i32, stride: i32"
LOAD = """
        let x_part = x.partition(const_shape![1, BM]);
        let tile = load_view_tko(&x_part, [get_tile_block_id().0, get_tile_block_id().1], ordering::Weak, scope::TileBlock, None, tma::Enabled);
"""
PARTS = "let mut part = unsafe { out.partition_full_mut(const_shape![1, BM]) };"
STORE = "store_view_tko_mut(&mut part, tile, [{index}], ordering::Weak, scope::TileBlock, None, tma::Enabled);"
GRID = "(out.shape[0] as u32, ((out.shape[1] + bm as i64 - 1) / bm as i64) as u32, 1)"

ROW = "[get_tile_block_id().0, get_tile_block_id().1]"


def store(index: str = "get_tile_block_id().0, get_tile_block_id().1") -> str:
    return f"{PARTS}\n        unsafe {{ {STORE.format(index=index)} }}"


def pointers(base: str, bound: str = "cols", offset: str = "lane") -> str:
    """Address and mask for one row per block."""
    return f"""
        let {base} = unsafe {{ assume_div_by::<_, 16>({base}) }};
        let lane = iota(const_shape![BM]);
        let live = cmpi(lane, broadcast_scalar({bound}, const_shape![BM]), predicate::LessThan);
        let start = scalar_to_tile(get_tile_block_id().0) * scalar_to_tile(stride);
        let at = pointer_to_tile({base}).offset_tile(start).reshape(const_shape![1]).broadcast(const_shape![BM]).offset_tile({offset});
"""


STORE_PTR = """
        let _ = store_ptr_tko(at, constant(0.0f32, const_shape![BM]), ordering::Weak, None::<scope::TileBlock>, {mask}, None::<Token>, Latency::<0>);
"""
POINTER_CALL = (
    "op_kernel(DevicePointer::from_cu_deviceptr(out.ptr), DevicePointer::from_cu_deviceptr(x.ptr), {rows}, {cols}, {stride})"
)
OWN = POINTER_CALL.format(rows="out.shape[0] as i32", cols="out.shape[1] as i32", stride="out.strides[0] as i32")
ROWS = "(out.shape[0] as u32, 1, 1)"
COVERED = "if bm < out.shape[1] as i32 { return -6; }\n"


def use(
    tmp_path: Path,
    kernel: str,
    params: str = VIEWS,
    call: str = VIEW_CALL,
    grid: str = GRID,
    out: str = "torch.empty_like(x)",
    given: str = "out",
    flag: str = "0",
    blocks: str = "1",
    before: str = "rows, cols = x.shape",
    checks: str = "",
    helpers: str = "",
    more: str = "",
    body: str | None = None,
    with_export: bool = True,
    slot: int = 0,
) -> BufferUse:
    (tmp_path / "op.py").write_text(WRAPPER.format(out=out, given=given, flag=flag, blocks=blocks, before=before))
    if with_export:
        (tmp_path / "op_kernel").mkdir(exist_ok=True)
        export = EXPORT.format(body=checks + (body or LAUNCH.format(call=call, grid=grid)))
        (tmp_path / "op_kernel" / "ffi.rs").write_text(export)
        (tmp_path / "op_kernel" / "kernel.rs").write_text(KERNEL.format(params=params, body=kernel, helpers=helpers, more=more))
    unit = op_in(tmp_path)
    return unit.buffer_use(unit.launches[0], slot)


def op_in(folder: Path) -> KernelUnit:
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".rs"))
    return next(unit for unit in load(Workspace(), paths, Settings()) if unit.launches)


def answers(found: BufferUse) -> tuple[bool | None, bool | None, bool | None, bool | None]:
    return found.reads, found.writes, found.accumulates, found.stores_all


# ── views ──


def test_a_view_store_over_the_whole_grid(tmp_path: Path) -> None:
    found = use(tmp_path, LOAD + store())
    assert answers(found) == (False, True, False, True)
    assert [place.text.split("(")[0] for place in found.stores] == ["store_view_tko_mut"]


def test_the_input_is_only_read(tmp_path: Path) -> None:
    assert answers(use(tmp_path, LOAD + store(), slot=1)) == (True, False, False, False)


def test_a_buffer_that_is_read_before_it_is_stored(tmp_path: Path) -> None:
    kernel = (
        "let mine = load_view_tko(&out.partition(const_shape![1, BM]), "
        + ROW
        + ", ordering::Weak, scope::TileBlock, None, tma::Enabled);"
    )
    found = use(tmp_path, kernel + LOAD + store())
    assert (found.reads, found.writes, found.accumulates) == (True, True, True)


def test_methods_of_partitions(tmp_path: Path) -> None:
    kernel = "let tile = x.partition(const_shape![1, BM]).load(" + ROW + ");" + PARTS + "part.store(tile, " + ROW + ");"
    assert answers(use(tmp_path, kernel)) == (False, True, False, True)
    assert use(tmp_path, kernel, slot=1).reads is True


def test_a_store_in_a_helper_of_the_module(tmp_path: Path) -> None:
    helpers = "fn put<E: ElementType>(part: &mut PartitionMut<E, { [1, 64] }>, tile: Tile<E, { [1, 64] }>, row: i32, col: i32) { unsafe { "
    helpers += STORE.format(index="row, col") + " } }"
    kernel = LOAD + PARTS + "let (row, col, _) = get_tile_block_id(); put(&mut part, tile, row, col);"
    assert answers(use(tmp_path, kernel, helpers=helpers)) == (False, True, False, True)


def test_a_buffer_given_to_something_unknown(tmp_path: Path) -> None:
    kernel = LOAD + PARTS + "scatter_rows(&mut part, tile);"
    assert answers(use(tmp_path, kernel)) == (None, None, None, None)


def test_a_persistent_loop(tmp_path: Path) -> None:
    kernel = """
        let tiles = (x.shape()[1] + BM - 1i32) / BM;
        let total = x.shape()[0] * tiles;
        let grid = get_num_tile_blocks().0;
        let mut part = unsafe { out.partition_full_mut(const_shape![1, BM]) };
        for tile_id in (get_tile_block_id().0..total).step_by(grid as usize) {
            let tile = constant(0.0f32, const_shape![1, BM]);
            store_view_tko_mut(&mut part, tile, [tile_id / tiles, tile_id % tiles], ordering::Weak, scope::TileBlock, None, tma::Enabled);
        }
    """
    assert use(tmp_path, kernel, grid="(blocks as u32, 1, 1)", blocks="128").stores_all is True
    capped = kernel.replace("let total = x.shape()[0] * tiles;", "let total = min(x.shape()[0], 8) * tiles;")
    assert use(tmp_path, capped, grid="(blocks as u32, 1, 1)", blocks="128").stores_all is None
    floored = kernel.replace("(x.shape()[1] + BM - 1i32) / BM", "x.shape()[1] / BM")
    assert use(tmp_path, floored, grid="(blocks as u32, 1, 1)", blocks="128").stores_all is None


@pytest.mark.parametrize(
    ("grid", "out", "shown"),
    [
        (GRID, "torch.empty_like(x)", True),
        (GRID, "torch.empty((x.shape[0], x.shape[1]), device=x.device)", True),
        (GRID.replace("out.", "x."), "torch.empty_like(x)", True),
        (GRID.replace("out.", "x."), "torch.empty((2 * x.shape[0], x.shape[1]), device=x.device)", None),
        ("(out.shape[0] as u32, 4, 1)", "torch.empty_like(x)", None),
        ("(blocks as u32, ((out.shape[1] + bm as i64 - 1) / bm as i64) as u32, 1)", "torch.empty_like(x)", None),
        (GRID.replace("out.shape[0]", "out.shape[0].min(64)"), "torch.empty_like(x)", None),
        (GRID.replace("(out.shape[1] + bm as i64 - 1)", "out.shape[1]"), "torch.empty_like(x)", None),
    ],
)
def test_the_grid_must_be_that_of_the_buffer(tmp_path: Path, grid: str, out: str, shown: bool | None) -> None:
    assert use(tmp_path, LOAD + store(), grid=grid, out=out).stores_all is shown


def test_a_grid_made_in_python(tmp_path: Path) -> None:
    kernel = store("get_tile_block_id().0, 0i32")
    checks = "if bm < out.shape[1] as i32 { return -6; }\n"
    whole = use(tmp_path, LOAD + kernel, grid="(blocks as u32, 1, 1)", blocks="int(x.shape[0])", checks=checks)
    assert whole.stores_all is True
    assert use(tmp_path, LOAD + kernel, grid="(blocks as u32, 1, 1)", blocks="int(x.shape[1])", checks=checks).stores_all is None


def test_a_fixed_index(tmp_path: Path) -> None:
    assert use(tmp_path, LOAD + store("0i32, get_tile_block_id().1")).stores_all is None
    assert use(tmp_path, LOAD + store("get_tile_block_id().0, 0i32")).stores_all is None
    assert use(tmp_path, LOAD + store("get_tile_block_id().0, 0i32"), checks=COVERED).stores_all is True


@pytest.mark.parametrize(
    "index",
    [
        "2i32 * get_tile_block_id().0, get_tile_block_id().1",
        "get_tile_block_id().0 + 1i32, get_tile_block_id().1",
        "get_tile_block_id().1, get_tile_block_id().0",
    ],
)
def test_an_index_that_leaves_tiles_out(tmp_path: Path, index: str) -> None:
    assert use(tmp_path, LOAD + store(index)).stores_all is None


@pytest.mark.parametrize(
    ("given", "whole"),
    [("out", True), ("out[:, :64]", None), ("out.narrow(1, 0, 64)", None), ("out.detach()", True), ("out[0]", None)],
)
def test_a_slice_says_nothing_about_the_whole(tmp_path: Path, given: str, whole: bool | None) -> None:
    assert use(tmp_path, LOAD + store(), given=given).writes is True
    unit = op_in(tmp_path)
    launch = unit.launches[0]
    out = next(event.value for event in unit.runs[0].trace.events if event.name == "torch.empty_like")
    found = unit.tensor_use(launch, out)
    assert found is not None
    assert (found.writes, found.stores_all) == (True, whole)


# ── conditions ──


def test_a_store_under_a_condition_on_data(tmp_path: Path) -> None:
    kernel = LOAD + PARTS + "let sum: f32 = tile_to_scalar(reduce_sum(tile, 1i32)); if sum > 0.0f32 { unsafe { "
    kernel += STORE.format(index="get_tile_block_id().0, get_tile_block_id().1") + " } }"
    found = use(tmp_path, kernel)
    assert (found.writes, found.stores_all) == (True, None)


def test_stores_in_both_branches_of_a_constant(tmp_path: Path) -> None:
    one = "unsafe { " + STORE.format(index="get_tile_block_id().0, get_tile_block_id().1") + " }"
    assert use(tmp_path, LOAD + PARTS + f"if BM > 32i32 {{ {one} }} else {{ {one} }}").stores_all is True
    assert use(tmp_path, LOAD + PARTS + f"if BM > 32i32 {{ {one} }}").stores_all is None


def test_blocks_beyond_the_end_leave_early(tmp_path: Path) -> None:
    kernel = "let row = get_tile_block_id().0; if row >= x.shape()[0] { return; }" + LOAD + store()
    assert use(tmp_path, kernel).writes is True


@pytest.mark.parametrize(
    ("check", "shown"),
    [
        ("if flag == 7 { return 0; }", True),
        ("if blocks == 1 { return 0; }", None),
        ("if out.shape[0] == 0 { return 0; }", True),
        ("if x.dtype == 3 { return 0; }", None),
        ("if x.dtype == 3 { return -2; }", True),
    ],
)
def test_an_export_that_returns_early(tmp_path: Path, check: str, shown: bool | None) -> None:
    assert use(tmp_path, LOAD + store(), checks=check + "\n").stores_all is shown


# ── pointers ──


def test_a_masked_store_through_pointers(tmp_path: Path) -> None:
    kernel = pointers("out") + STORE_PTR.format(mask="Some(live)")
    assert answers(use(tmp_path, kernel, POINTERS, OWN, ROWS, checks=COVERED)) == (False, True, False, True)
    assert use(tmp_path, kernel, POINTERS, OWN, ROWS, before="rows, cols = x.shape").stores_all is None
    # of a tensor of more axes only the first two are known to be covered
    assert use(tmp_path, kernel, POINTERS, OWN, ROWS, checks=COVERED, before="pass").stores_all is None
    ranked = "if x.ndim != 2: raise ValueError(x.shape)"
    assert use(tmp_path, kernel, POINTERS, OWN, ROWS, checks=COVERED, before=ranked).stores_all is True


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("cols", "x.shape[1] as i32 / 2"),
        ("cols", "blocks"),
        ("stride", "x.strides[1] as i32"),
        ("stride", "2 * out.strides[0] as i32"),
    ],
)
def test_masks_and_strides_must_be_the_buffers_own(tmp_path: Path, change: str, value: str) -> None:
    given = {"rows": "out.shape[0] as i32", "cols": "out.shape[1] as i32", "stride": "out.strides[0] as i32", change: value}
    kernel = pointers("out") + STORE_PTR.format(mask="Some(live)")
    assert use(tmp_path, kernel, POINTERS, POINTER_CALL.format(**given), ROWS, checks=COVERED).stores_all is None


def test_half_of_the_columns(tmp_path: Path) -> None:
    """The bound of the mask is another tensor's size, which is half of the output's."""
    call = POINTER_CALL.format(rows="out.shape[0] as i32", cols="x.shape[1] as i32", stride="out.strides[0] as i32")
    kernel = pointers("out") + STORE_PTR.format(mask="Some(live)")
    wide = "torch.empty((x.shape[0], 2 * x.shape[1]), device=x.device)"
    assert use(tmp_path, kernel, POINTERS, call, ROWS, out=wide, checks=COVERED).stores_all is None
    assert use(tmp_path, kernel, POINTERS, call, ROWS, checks=COVERED).stores_all is True


def test_shifted_and_spread_stores(tmp_path: Path) -> None:
    spread = pointers("out", offset="lane * broadcast_scalar(2i32, const_shape![BM])") + STORE_PTR.format(mask="Some(live)")
    assert use(tmp_path, spread, POINTERS, OWN, ROWS, checks=COVERED).stores_all is None
    shifted = pointers("out", offset="lane + broadcast_scalar(cols, const_shape![BM])") + STORE_PTR.format(mask="Some(live)")
    assert use(tmp_path, shifted, POINTERS, OWN, ROWS, checks=COVERED).stores_all is None


def test_an_unmasked_store(tmp_path: Path) -> None:
    kernel = pointers("out") + STORE_PTR.format(mask="None")
    found = use(tmp_path, kernel, POINTERS, OWN, ROWS, checks=COVERED)
    assert (found.writes, found.stores_all) == (True, None)


def test_atomics(tmp_path: Path) -> None:
    kernel = (
        pointers("out")
        + "let (_old, _t) = atomic_rmw_tko(at, constant(1.0f32, const_shape![BM]), atomic::AddF, ordering::Relaxed, scope::Device, Some(live), None);"
    )
    found = use(tmp_path, kernel, POINTERS, OWN, ROWS, checks=COVERED)
    assert answers(found) == (True, True, True, False)
    assert found.atomics


def test_load_and_store_through_pointers(tmp_path: Path) -> None:
    kernel = (
        pointers("out")
        + "let (old, _t) = load_ptr_tko(at, ordering::Weak, None::<scope::TileBlock>, Some(live), None::<E>, None::<Token>, Latency::<0>);"
    )
    found = use(tmp_path, kernel + STORE_PTR.format(mask="Some(live)"), POINTERS, OWN, ROWS, checks=COVERED)
    assert (found.reads, found.accumulates) == (True, True)


def test_a_view_made_of_a_pointer(tmp_path: Path) -> None:
    kernel = (
        """
        let mut view: TensorView<E, 2> = unsafe { make_tensor_view(out, [rows, cols], [stride, 1i32]) };
        let mut part = unsafe { view.partition_mut(const_shape![1, BM]) };
        let tile = constant(0.0f32, const_shape![1, BM]);
    """
        + "unsafe { "
        + STORE.format(index="get_tile_block_id().0, get_tile_block_id().1")
        + " }"
    )
    assert answers(use(tmp_path, kernel, POINTERS, OWN)) == (False, True, False, True)
    half = POINTER_CALL.format(rows="out.shape[0] as i32", cols="out.shape[1] as i32 / 2", stride="out.strides[0] as i32")
    assert use(tmp_path, kernel, POINTERS, half).stores_all is None


# ── variants ──

TWO = (
    "if flag != 0 {"
    + LAUNCH.format(call=VIEW_CALL, grid=GRID)
    + "} else {"
    + LAUNCH.format(call=VIEW_CALL.replace("op_kernel", "adding_kernel"), grid=GRID)
    + "}"
)
ADDING = (
    "#[cutile::entry()]\n    pub unsafe fn adding_kernel<E: ElementType, const BM: i32>(" + VIEWS + ") {\n"
    "let mine = load_view_tko(&out.partition(const_shape![1, BM]), "
    + ROW
    + ", ordering::Weak, scope::TileBlock, None, tma::Enabled);"
    + LOAD
    + store()
    + "}"
)


def test_one_of_two_variants_reads(tmp_path: Path) -> None:
    found = use(tmp_path, LOAD + store(), body=TWO, more=ADDING, flag="int(flag)")
    assert (found.reads, found.accumulates) == (True, True)
    assert [(one.variant.entry_name, one.reads) for one in found.variants if one.variant] == [
        ("op_kernel", False),
        ("adding_kernel", True),
    ]


@pytest.mark.parametrize(("flag", "reads"), [("1", False), ("0", True), ("1 if x.shape[0] > 4 else 2", False)])
def test_a_variant_that_the_wrapper_never_chooses(tmp_path: Path, flag: str, reads: bool) -> None:
    assert use(tmp_path, LOAD + store(), body=TWO, more=ADDING, flag=flag).reads is reads


# ── not known ──


def test_without_the_export(tmp_path: Path) -> None:
    found = use(tmp_path, "", with_export=False)
    assert answers(found) == (None, None, None, None)
    assert "no export" in found.reason


def test_an_entry_that_is_not_there(tmp_path: Path) -> None:
    found = use(tmp_path, LOAD + store(), body=LAUNCH.format(call=VIEW_CALL.replace("op_kernel", "missing_kernel"), grid=GRID))
    assert answers(found) == (None, None, None, None)


def test_tensors_of_a_launch(tmp_path: Path) -> None:
    use(tmp_path, LOAD + store())
    unit = op_in(tmp_path)
    launch = unit.launches[0]
    written, read = unit.written_tensors(launch), unit.read_tensors(launch)
    assert written is not None
    assert read is not None
    assert [repr(tensor) for tensor in written] == ["call:torch.empty_like(input:x)"]
    assert [repr(tensor) for tensor in read] == ["input:x"]
    whole = unit.tensor_use(launch, written[0])
    assert whole is not None
    assert whole.stores_all is True
