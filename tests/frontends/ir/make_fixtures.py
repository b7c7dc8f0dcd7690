"""Make the Tile IR texts in ``fixtures/`` again, with the real compiler and no GPU.

    python -m venv /tmp/tileir && /tmp/tileir/bin/pip install cuda-tile==1.7.0 \
        'nvidia-cuda-tileiras==13.4.*' 'nvidia-cuda-nvcc==13.4.*' 'nvidia-nvvm==13.4.*'
    /tmp/tileir/bin/python tests/frontends/ir/make_fixtures.py

(The three compiler packages must have one version, else ``cuda-tile`` does not find its compiler.) Each kernel is exported as
bytecode for one architecture and printed by the package's ``tileirdisasm``. ``gemm_prefixed.mlir`` is ``gemm.mlir`` in the long
spelling that other printers use: every operation with ``cuda_tile.``, every type with ``!cuda_tile.``, in a ``cuda_tile.module``.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cuda.tile as ct
from cuda.tile import compilation as cc

FIXTURES = Path(__file__).parent / "fixtures"
Size = ct.Constant[int]
ZERO = ct.PaddingMode.ZERO


def matrix(dtype: ct.DType, rank: int = 2) -> cc.ArrayConstraint:
    """A row-major array whose sizes and strides are multiples of 16."""
    return cc.ArrayConstraint(
        dtype,
        rank,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=[None] * (rank - 1) + [1],
        stride_divisible_by=[16] * (rank - 1) + [1],
        shape_divisible_by=16,
        base_addr_divisible_by=16,
    )


@ct.kernel(occupancy=2)
def gemm(a, b, c, bm: Size, bn: Size, bk: Size):
    row, col = ct.bid(0), ct.bid(1)
    acc = ct.full((bm, bn), 0, ct.float32)
    for k in range(ct.num_tiles(a, 1, (bm, bk))):
        x = ct.load(a, (row, k), (bm, bk), padding_mode=ZERO, latency=3)
        y = ct.load(b, (k, col), (bk, bn), padding_mode=ZERO, allow_tma=False)
        acc = ct.mma(x, y, acc)
    ct.store(c, (row, col), ct.astype(acc, c.dtype))


@ct.kernel
def gemm_f16_accumulator(a, b, c, bm: Size, bn: Size, bk: Size):
    row, col = ct.bid(0), ct.bid(1)
    acc = ct.full((bm, bn), 0, ct.float16)
    for k in range(ct.num_tiles(a, 1, (bm, bk))):
        acc = ct.mma(ct.load(a, (row, k), (bm, bk)), ct.load(b, (k, col), (bk, bn)), acc)
    ct.store(c, (row, col), acc)


@ct.kernel(num_ctas=2, occupancy=1)
def gemm_two_ctas(a, b, c, bm: Size, bn: Size, bk: Size):
    row, col = ct.bid(0), ct.bid(1)
    acc = ct.full((bm, bn), 0, ct.float32)
    for k in range(ct.num_tiles(a, 1, (bm, bk))):
        acc = ct.mma(ct.load(a, (row, k), (bm, bk)), ct.load(b, (k, col), (bk, bn)), acc)
    ct.store(c, (row, col), ct.astype(acc, c.dtype))


@ct.kernel(num_ctas=ct.ByTarget(sm_100=4, sm_120=1), occupancy=ct.ByTarget(sm_120=2, default=1))
def persistent_scale(x, y, factor, bm: Size, bn: Size):
    rows, cols = ct.num_tiles(x, 0, (bm, bn)), ct.num_tiles(x, 1, (bm, bn))
    for tile in range(ct.bid(0), rows * cols, ct.num_blocks(0)):
        row, col = tile // cols, tile % cols
        value = ct.load(x, (row, col), (bm, bn), padding_mode=ZERO, latency=10)
        ct.store(y, (row, col), ct.astype(value * factor, y.dtype), latency=4)


@ct.kernel
def row_softmax(x, y, width: Size):
    row = ct.bid(0)
    value = ct.astype(ct.load(x, (row, 0), (1, width), padding_mode=ct.PaddingMode.NEG_INF), ct.float32)
    shifted = value - ct.max(value, 1, keepdims=True)
    top = ct.exp2(shifted * 1.4426950408889634, flush_to_zero=True)
    total = ct.sum(top, 1, keepdims=True)
    result = ct.truediv(top, total, rounding_mode=ct.RoundingMode.APPROX, flush_to_zero=True)
    ct.store(y, (row, 0), ct.astype(result, y.dtype))


@ct.kernel
def gather_add(x, y, out, width: Size):
    index = ct.bid(0) * width + ct.arange(width, dtype=ct.int32)
    left = ct.gather(x, (index,), latency=2)
    right = ct.gather(y, (index,), padding_value=1.0)
    ct.scatter(out, (index,), left + right)


@ct.kernel
def transposed_loads(x, y, z, bm: Size, bn: Size):
    row, col = ct.bid(0), ct.bid(1)
    by_order = ct.load(x, (row, col), (bm, bn), order="F")
    by_permute = ct.permute(ct.load(y, (col, row), (bn, bm)), (1, 0))
    ct.store(z, (row, col), by_order + by_permute)


@ct.kernel
def search(x, y, width: Size):
    row = ct.bid(0)
    value = ct.load(x, (row, 0), (1, width))
    total = ct.sum(value, 1, keepdims=True)
    while ct.sum(total) > 1.0:
        total = total * 0.5
    if row > 3:
        total = total + 1.0
    ct.store(y, (row, 0), total)


HALF, SINGLE = matrix(ct.float16), matrix(ct.float32)
LINE = matrix(ct.float32, 1)
KERNELS = {
    "gemm": (gemm, [HALF, HALF, HALF, 64, 64, 32], "sm_90"),
    "gemm_f16_accumulator": (gemm_f16_accumulator, [HALF, HALF, HALF, 64, 64, 32], "sm_100"),
    "gemm_two_ctas": (gemm_two_ctas, [HALF, HALF, HALF, 128, 128, 64], "sm_100"),
    "persistent_scale": (persistent_scale, [HALF, HALF, cc.ScalarConstraint(ct.float32), 64, 64], "sm_100"),
    "row_softmax": (row_softmax, [HALF, HALF, 1024], "sm_90"),
    "gather_add": (gather_add, [LINE, LINE, LINE, 256], "sm_90"),
    "transposed_loads": (transposed_loads, [SINGLE, SINGLE, SINGLE, 64, 32], "sm_90"),
    "search": (search, [SINGLE, SINGLE, 128], "sm_90"),
}


def disassembler() -> Path:
    for folder in map(Path, sys.path):
        program = folder / "nvidia" / "cu13" / "bin" / "tileirdisasm"
        if program.exists():
            return program
    raise SystemExit("`tileirdisasm` not found: install nvidia-cuda-tileiras")


def printed(name: str) -> str:
    kernel, parameters, architecture = KERNELS[name]
    signature = cc.KernelSignature(parameters, cc.CallingConvention.cutile_python_v1())
    with tempfile.TemporaryDirectory() as folder:
        bytecode = Path(folder) / "kernel.tileirbc"
        cc.export_kernel(kernel, [signature], bytecode, gpu_code=architecture, output_format="tileir_bytecode")
        return subprocess.run([disassembler(), bytecode], check=True, capture_output=True, text=True).stdout


def prefixed(text: str) -> str:
    """The long spelling of a printed text."""
    text = re.sub(r"(?m)^( *(?:%[\w:, %]+ = )?)([a-z]\w*)", r"\1cuda_tile.\2", text)
    text = re.sub(r"(?<![\w.])(tile|partition_view|tensor_view)<", r"!cuda_tile.\1<", text)
    text = re.sub(r"(?<=[:,>] )token(?=$|\n)", "!cuda_tile.token", text)
    text = text.replace("optimization_hints=<", "optimization_hints = #cuda_tile.optimization_hints<")
    text = text.replace("optimization_hints = <", "optimization_hints = #cuda_tile.optimization_hints<")
    body = "".join("  " + line + "\n" for line in text.splitlines())
    return f"cuda_tile.module @kernels {{\n{body}}}\n"


def main() -> None:
    FIXTURES.mkdir(exist_ok=True)
    texts = {name: printed(name) for name in KERNELS}
    texts["gemm_prefixed"] = prefixed(texts["gemm"])
    for name, text in texts.items():
        (FIXTURES / f"{name}.mlir").write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}.mlir: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main()
