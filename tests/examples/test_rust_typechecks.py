"""The Rust host code of every example type-checks, the faulty ones included: their faults are not the compiler's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.rust_stubs.typecheck import build_stubs, crate_around, type_check

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CRATES = sorted(EXAMPLES.rglob("src/lib.rs"))
STANDALONE = sorted(path.parent for path in EXAMPLES.glob("*/skill/*/ffi.rs"))


@pytest.fixture(scope="session")
def stub_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_stubs(tmp_path_factory.mktemp("rust_stubs"))


def name_of(path: Path) -> str:
    return "-".join(path.relative_to(EXAMPLES).parts[::2])


def warnings_in(path: Path) -> str:
    """Clean examples are clean for the compiler too; a dropped setter of a faulty one is a warning."""
    return "deny" if path.is_relative_to(EXAMPLES / "clean") else "allow"


@pytest.mark.parametrize("crate", CRATES, ids=name_of)
def test_crate_type_checks(crate: Path, stub_dir: Path, tmp_path: Path) -> None:
    done = type_check(crate, stub_dir, tmp_path, warnings=warnings_in(crate))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("op_folder", STANDALONE, ids=name_of)
def test_standalone_op_type_checks(op_folder: Path, stub_dir: Path, tmp_path: Path) -> None:
    crate = crate_around(op_folder / "kernel.rs", op_folder / "ffi.rs", tmp_path)
    done = type_check(crate, stub_dir, tmp_path, warnings=warnings_in(op_folder))
    assert done.returncode == 0, done.stderr


def test_every_export_is_checked() -> None:
    """An export that no crate includes would pass unseen."""
    for export in EXAMPLES.rglob("*.rs"):
        if 'extern "C"' in export.read_text(encoding="utf-8") and export.parent not in STANDALONE:
            tree = export.relative_to(EXAMPLES).parts[0]
            included = [crate.read_text(encoding="utf-8") for crate in CRATES if crate.is_relative_to(EXAMPLES / tree)]
            assert any(f"{export.parent.name}/{export.name}" in text for text in included), export


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("residual_ptr, n, alpha)", "residual_ptr, alpha, n)", "E0308"),
        ("residual_ptr, n, alpha)", "residual_ptr, n)", "E0061"),
        ("opts = opts.occupancy(occupancy);", "opts = opts.occupancy(raw_stream);", "E0308"),
        ("scale_residual_module::scale_residual_kernel;", "scale_residual_module::other_kernel;", "E0432"),
    ],
)
def test_broken_host_code_is_refused(old: str, new: str, error: str, stub_dir: Path, tmp_path: Path) -> None:
    """The stubs have teeth: wrong arguments, types and entry names do not pass."""
    op_folder = EXAMPLES / "clean/skill/scale_residual"
    export = tmp_path / "ffi.rs"
    shutil.copy(op_folder / "ffi.rs", export)
    source = export.read_text(encoding="utf-8")
    assert old in source
    export.write_text(source.replace(old, new), encoding="utf-8")
    done = type_check(crate_around(op_folder / "kernel.rs", export, tmp_path), stub_dir, tmp_path)
    assert done.returncode != 0
    assert error in done.stderr
