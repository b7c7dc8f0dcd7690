"""What is fuzzed: a file of an example in each language, how it is read by itself, and the op that it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from cutile_lint.records import dataclass
from cutile_lint.sources import Source

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
_KERNEL_OUT = "tilegym/kernel_out/batched_product"
_OPS = "tilegym/src/tilegym/ops/cutile_rs"
_LOWRANK = "tilegym/src/tilegym/suites/lowrank/cutile_rs"

#: language -> the files that are mutated; "cdef" and "config" are texts inside and beside them
FILES: dict[str, tuple[str, ...]] = {
    "python": ("skill/scale_residual/wrapper.py", f"{_OPS}/fused_rms_norm.py", f"{_LOWRANK}/splitk_product.py"),
    "rust": (
        "skill/scale_residual/ffi.rs",
        "skill/scale_residual/kernel.rs",
        f"{_LOWRANK}/rust/splitk_export.rs",
        f"{_OPS}/fused_rms_norm_kernel/ffi.rs",
    ),
    "mlir": (
        f"{_KERNEL_OUT}/reference/reference_direct.mlir",
        f"{_KERNEL_OUT}/reference/reference_persistent.mlir",
    ),
    "json": (f"{_KERNEL_OUT}/reference/analysis.json",),
    "toml": (f"{_LOWRANK}/lowrank_kernels/Cargo.toml", f"{_OPS}/cutile_kernels/Cargo.toml"),
    "cdef": ("skill/scale_residual/wrapper.py",),
    "config": ("skill/scale_residual/cutile-lint.toml",),
}
LANGUAGES = tuple(FILES)

CONFIG = b"""\
select = ["ALL"]
ignore = ["CTL9"]
exclude = ["vendored/", "**/old_*/*.py", "/build"]
extend-exclude = ["*.bak.py"]
target-arch = "sm_100"
target-version = "0.2.0"
output-format = "concise"
min-level = "warning"
[severity]
CTL101 = "info"
[per-file-ignores]
"tests/**" = ["CTL1", "CTL202"]
"*_old.py" = ["ALL"]
[runtime-names]
check-rc = ["check_return_code"]
"""


@dataclass(frozen=True, slots=True)
class Seed:
    """A file to start from. ``op``: the folder that is checked with the mutated text in place of ``path``."""

    language: str
    path: Path
    data: bytes
    op: Path


@lru_cache(maxsize=1)
def seeds() -> dict[str, list[Seed]]:
    """By language; the faulty examples, so that there is something to fix."""
    made: dict[str, list[Seed]] = {}
    for language, names in FILES.items():
        for name in names:
            path = EXAMPLES / "faulty" / name
            data = CONFIG if language == "config" else path.read_bytes()
            made.setdefault(language, []).append(Seed(language, path, data, _op_of(path)))
    return made


def _op_of(path: Path) -> Path:
    for folder in path.parents:
        if folder.name in ("batched_product", "lowrank", "scale_residual"):
            return folder
    return path


def cdef_of(wrapper: bytes) -> tuple[int, int]:
    """Start and end of the text in a wrapper's ``cdef``."""
    start = wrapper.index(b'"""', wrapper.index(b"_FFI_CDEF")) + 3
    return start, wrapper.index(b'"""', start)


def _read_python(source: Source) -> object:
    from cutile_lint.frontends import python

    return python.parse(source)


def _read_rust(source: Source) -> object:
    from cutile_lint.frontends import rust

    return rust.parse(source)


def _read_mlir(source: Source) -> object:
    from cutile_lint.frontends.ir import parse_ir

    return parse_ir(source)


def _read_json(source: Source) -> object:
    from cutile_lint.frontends.reference import read_analysis

    return read_analysis(source)


def _read_toml(source: Source) -> object:
    from cutile_lint.frontends.manifest import read_manifest

    return read_manifest(source)


def _read_cdef(source: Source) -> object:
    from cutile_lint.frontends import cdef

    return cdef.parse(source.text)


#: language -> its frontend. None raises for what a file says
READERS: dict[str, Callable[[Source], object]] = {
    "python": _read_python,
    "rust": _read_rust,
    "mlir": _read_mlir,
    "json": _read_json,
    "toml": _read_toml,
    "cdef": _read_cdef,
}
