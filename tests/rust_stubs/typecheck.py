"""Type-check host code of an op with `rustc` against the stub crates of this folder."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
FFI_UTIL = HERE.parents[1] / "examples/clean/tilegym/src/tilegym/ops/cutile_rs/ffi_util.rs"

# crate name → what it is built on, in the order of building
_CRATES = {
    "cuda_core": [],
    "cuda_async": ["cuda_core"],
    "cutile_macro": [],
    "cutile": ["cuda_core", "cuda_async", "cutile_macro"],
}

Completed = subprocess.CompletedProcess[str]


def rustc(*arguments: str | Path) -> Completed:
    """Run the compiler of edition 2024; the caller looks at its return code and standard error."""
    command = [shutil.which("rustc") or "rustc", "--edition", "2024", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def build_stubs(out: Path) -> Path:
    """Compile the stub crates into a folder, which is returned; some two seconds.

    Raises:
        RuntimeError: with the compiler's words.
    """
    for name, needs in _CRATES.items():
        kind = ["--crate-type", "proc-macro"] if name == "cutile_macro" else ["--crate-type", "rlib", "--emit", "metadata"]
        done = rustc(HERE / f"{name}.rs", "--crate-name", name, *kind, "--out-dir", out, *_externs(out, needs))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
    return out


def _externs(stub_dir: Path, names: list[str]) -> list[str | Path]:
    flags: list[str | Path] = ["-L", stub_dir]
    for name in names:
        library = next(path for path in sorted(stub_dir.iterdir()) if path.stem == f"lib{name}" and path.suffix != ".d")
        flags += ["--extern", f"{name}={library}"]
    return flags


def type_check(crate: Path, stub_dir: Path, out: Path, *, warnings: str = "deny") -> Completed:
    """Check a crate, named by its root file, as the library that it is.

    Args:
        warnings: ``deny`` or ``allow``.
    """
    return rustc(
        crate,
        "--crate-type=cdylib",
        "--crate-name=checked",
        "--emit=metadata",
        f"-{'D' if warnings == 'deny' else 'A'}warnings",
        "-Adead_code",
        "--out-dir",
        out,
        *_externs(stub_dir, ["cutile", "cuda_core", "cuda_async"]),
    )


def crate_around(kernel: Path, export: Path, out: Path, ffi_util: Path = FFI_UTIL) -> Path:
    """The root file of a crate around one op's files, each op in a module of its own as in a real ``lib.rs``."""
    root = out / "lib.rs"
    root.write_text(
        f'#[path = "{ffi_util}"]\nmod ffi_util;\nmod op {{\n    include!("{kernel}");\n    include!("{export}");\n}}\n',
        encoding="utf-8",
    )
    return root
