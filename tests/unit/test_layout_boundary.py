"""Rust files above an op belong to it only when it uses them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import cutile_lint
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit.linking.layout import Layout

ROOT = Path(__file__).parents[2]
BASE = ROOT / "rules" / "bases" / "batched"
STRAY = """
pub fn load_view_tko(x: i32) -> i32 { x }
impl CompileOptions { pub fn occupancy(self, _value: i32) -> Self { self } }
macro_rules! launch { ($E:ty) => { 0 }; }
"""


@pytest.mark.parametrize("place", ["scratch.rs", "../notes.rs", "../../experiments.rs"])
def test_a_stray_file_is_not_the_ops(tmp_path: Path, place: str) -> None:
    package = tmp_path / "repo" / "ops" / "cutile_rs"
    shutil.copytree(BASE, package)
    (package / place).write_text(STRAY)
    files = Layout(Workspace(), [package / "batched.py"], ["autotune_launch"]).files_of(package / "batched.py")
    assert {path.name for path in files.rust} == {"ffi.rs", "kernel.rs", "ffi_util.rs"}


@pytest.mark.parametrize("around", [".git", "cutile-lint.toml"])
def test_an_export_far_away_is_linked_inside_of_its_project(tmp_path: Path, around: str) -> None:
    shutil.copytree(ROOT / "examples" / "faulty" / "tilegym", tmp_path / "tilegym")
    (tmp_path / around).touch()
    export = tmp_path / "tilegym" / "kernel_out" / "batched_product" / "ffi.rs"
    assert export in {finding.path for finding in cutile_lint.check([export])}


@pytest.mark.parametrize("use", ["use crate::shared::extra;\n", "crate::extra_check!();\n"])
def test_a_file_that_the_export_names_is_its(tmp_path: Path, use: str) -> None:
    package = tmp_path / "ops" / "cutile_rs"
    shutil.copytree(BASE, package)
    (package / "shared.rs").write_text(
        "use crate::deeper::x;\n#[macro_export]\nmacro_rules! extra_check { () => {}; }\npub fn extra() {}\n"
    )
    (package / "deeper.rs").write_text("pub fn x() {}\n")
    export = package / "batched_kernel" / "ffi.rs"
    export.write_text(use + export.read_text())
    files = Layout(Workspace(), [package / "batched.py"], ["autotune_launch"]).files_of(package / "batched.py")
    assert {path.name for path in files.rust} == {"ffi.rs", "kernel.rs", "ffi_util.rs", "shared.rs", "deeper.rs"}


def test_each_of_two_checkouts_has_its_own_op(tmp_path: Path) -> None:
    for name in ("first", "second"):
        shutil.copytree(ROOT / "examples" / "faulty" / "skill", tmp_path / name)
        (tmp_path / name / ".git").mkdir()
    first, second = tmp_path / "first" / "scale_residual", tmp_path / "second" / "scale_residual"
    expected = {second / "wrapper.py", second / "ffi.rs", first / "wrapper.py", first / "ffi.rs"}
    for given in ("wrapper.py", "ffi.rs", "kernel.rs"):
        found = cutile_lint.check([first, second / given])
        assert {finding.path for finding in found} == expected, given
        for finding in found:
            assert {related.place.path.parent for related in finding.related} <= {finding.path.parent}, given


def test_modules_that_the_crate_root_declares_are_the_ops(tmp_path: Path) -> None:
    package = tmp_path / "ops" / "cutile_rs"
    shutil.copytree(BASE, package)
    source = package / "cutile_kernels" / "src"
    (source / "checks" / "deep").mkdir(parents=True)
    (source / "checks" / "mod.rs").write_text("pub mod deep;\npub mod missing;\n")
    (source / "checks" / "deep" / "mod.rs").write_text("pub fn x() {}\n")
    (source / "checks" / "stray.rs").write_text(STRAY)
    library = source / "lib.rs"
    library.write_text('// #[no_mangle] extern "C" fn cutile_<op>\nmod checks;\n' + library.read_text())
    files = Layout(Workspace(), [package / "batched.py"], ["autotune_launch"]).files_of(package / "batched.py")
    assert {path.relative_to(package).as_posix() for path in files.rust if source in path.parents} == {
        "cutile_kernels/src/checks/mod.rs",
        "cutile_kernels/src/checks/deep/mod.rs",
    }
    assert files.root == library
