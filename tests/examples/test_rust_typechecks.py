"""Every clean example's crate type-checks against the stub crates of tests/rust_stubs (see its README)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STUBS = ROOT / "tests" / "rust_stubs"
CLEAN = ROOT / "examples" / "clean"
FFI_UTIL = CLEAN / "tilegym/src/tilegym/ops/cutile_rs/ffi_util.rs"

# crate name → what it is built on, in this order
STUB_CRATES = {
    "cuda_core": [],
    "cuda_async": ["cuda_core"],
    "cutile_macro": [],
    "cutile": ["cuda_core", "cuda_async", "cutile_macro"],
}


def rustc(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the compiler of edition 2024; the caller looks at its return code and standard error."""
    command = [shutil.which("rustc") or "rustc", "--edition", "2024", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def stub_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled stub crates."""
    out = tmp_path_factory.mktemp("rust_stubs")
    for name, needs in STUB_CRATES.items():
        kind = ["--crate-type", "proc-macro"] if name == "cutile_macro" else ["--crate-type", "rlib", "--emit", "metadata"]
        done = rustc(STUBS / f"{name}.rs", "--crate-name", name, *kind, "--out-dir", out, *externs(out, needs))
        assert done.returncode == 0, done.stderr
    return out


def externs(stub_dir: Path, names: list[str]) -> list[str | Path]:
    flags: list[str | Path] = ["-L", stub_dir]
    for name in names:
        library = next(path for path in stub_dir.iterdir() if path.stem == f"lib{name}" and path.suffix != ".d")
        flags += ["--extern", f"{name}={library}"]
    return flags


def type_check(crate: Path, stub_dir: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Check a crate's root file as the library that it is; warnings count as errors."""
    return rustc(
        crate,
        "--crate-type=cdylib",
        "--crate-name=checked",
        "--emit=metadata",
        "-Dwarnings",
        "-Adead_code",
        "--out-dir",
        out,
        *externs(stub_dir, ["cutile", "cuda_core", "cuda_async"]),
    )


def crate_of(op_folder: Path, out: Path) -> Path:
    """A crate around an op that stands alone: its kernel and export in a module of its own, as `lib.rs` would have it."""
    root = out / "lib.rs"
    root.write_text(
        f'#[path = "{FFI_UTIL}"]\nmod ffi_util;\nmod op {{\n'
        f'    include!("{op_folder / "kernel.rs"}");\n    include!("{op_folder / "ffi.rs"}");\n}}\n'
    )
    return root


CRATES = sorted([*CLEAN.rglob("src/lib.rs"), *(ROOT / "rules" / "bases").rglob("src/lib.rs")])
STANDALONE = sorted(path.parent for path in (CLEAN / "skill").rglob("ffi.rs"))


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: f"{path.parents[2].name}-{path.parents[1].name}")
def test_crate_type_checks(crate: Path, stub_dir: Path, tmp_path: Path) -> None:
    done = type_check(crate, stub_dir, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("op_folder", STANDALONE, ids=lambda path: path.name)
def test_standalone_op_type_checks(op_folder: Path, stub_dir: Path, tmp_path: Path) -> None:
    done = type_check(crate_of(op_folder, tmp_path), stub_dir, tmp_path)
    assert done.returncode == 0, done.stderr


def test_every_export_is_checked() -> None:
    """An export that no crate includes would pass unseen."""
    included = "".join(path.read_text() for path in CRATES)
    for export in CLEAN.rglob("*.rs"):
        if 'extern "C"' in export.read_text() and export.parent not in STANDALONE:
            assert f"{export.parent.name}/{export.name}" in included, export


def test_wrong_entry_argument_is_refused(stub_dir: Path, tmp_path: Path) -> None:
    """The stubs have teeth: a tensor where the entry wants a scalar does not type-check."""
    op_folder = STANDALONE[0]
    broken = tmp_path / "op"
    shutil.copytree(op_folder, broken)
    export = broken / "ffi.rs"
    export.write_text(export.read_text().replace("residual_ptr, n, alpha)", "residual_ptr, alpha, n)"))
    done = type_check(crate_of(broken, tmp_path), stub_dir, tmp_path)
    assert done.returncode != 0
    assert "E0308" in done.stderr
