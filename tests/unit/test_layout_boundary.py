"""Rust files above an op belong to it only when it uses them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit.linking.layout import Layout

BASE = Path(__file__).parents[2] / "rules" / "bases" / "batched"
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
