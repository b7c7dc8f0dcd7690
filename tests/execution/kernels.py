"""What the exports of the bases and examples compute, tile by tile as their ``kernel.rs`` does, on host tensors.

``writes`` and ``reads`` are argument numbers. A launch over too few programs leaves the rest of its output as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

Compute = Callable[..., None]


@dataclass(frozen=True)
class Kernel:
    compute: Compute
    writes: tuple[int, ...]
    reads: tuple[int, ...]

    @property
    def accumulates(self) -> tuple[int, ...]:
        """Arguments that are written and whose old content matters."""
        return tuple(slot for slot in self.writes if slot in self.reads)


def _tiles(count: int, size: int) -> int:
    return -(-count // size)


def _row_scale(y, x, scale, bm, bn, grid_size, *_options, add: bool = False, first_row: int = 0) -> None:
    columns = _tiles(x.shape[1], bn)
    for tile in range(min(grid_size, _tiles(x.shape[0], bm) * columns)):
        row, column = divmod(tile, columns)
        if row < first_row:
            continue
        part = slice(row * bm, (row + 1) * bm), slice(column * bn, (column + 1) * bn)
        rows = x[part].float()
        product = rows * scale[part[0]][: len(rows)].float().unsqueeze(1)
        y[part] = (product + y[part].float() if add else product).to(y.dtype)


def _products(c, a, b, alpha, bm, bn, programs, persistent) -> None:
    """``[q, m, n]`` in tiles; a persistent program strides over all of them."""
    q, m, n = c.shape
    rows, columns = _tiles(m, bm), _tiles(n, bn)
    total = q * rows * columns
    for tile in range(total if persistent and programs > 0 else min(programs, total)):
        batch, rest = divmod(tile, rows * columns)
        row, column = divmod(rest, columns)
        part = slice(row * bm, (row + 1) * bm), slice(column * bn, (column + 1) * bn)
        c[batch][part] = (alpha * (a[batch, part[0]].float() @ b[batch, :, part[1]].float())).to(c.dtype)


def _row_sum(y, x) -> None:
    y.copy_(x.float().sum(-1, keepdim=True).expand(y.shape))


def _gemm(c, a, b, bm, bn, _bk, programs, _cluster, _occupancy, persistent, *_device) -> None:
    _products(c[None], a[None], b[None], 1.0, bm, bn, programs, persistent)


def _batched(c, a, b, bm, bn, _bk, trans_a, trans_b, persistent, programs, *_options) -> None:
    _products(c, a.mT if trans_a else a, b.mT if trans_b else b, 1.0, bm, bn, programs, persistent)


def _example_gemm(c, a, b, alpha, bm, bn, _bk, _group, persistent, programs, *_options) -> None:
    _products(c[None], a[None], b[None], alpha, bm, bn, programs, persistent)


def _splitk(c, a, b, _bm, _bn, _bk, _split, *_options) -> None:
    c += a.float() @ b.float()


def _splitk_permuted(c, a, b, *rest) -> None:
    _splitk(c, a, b.mT, *rest)


def _scale_residual(out, x, residual, alpha, *_options) -> None:
    out.copy_(residual.float() + alpha * x.float())


def _rms_norm(out, hidden, x, residual, weight, eps, *_options) -> None:
    hidden.copy_(x.float() + residual.float())
    full = hidden.float()
    out.copy_(full * torch.rsqrt(full.square().mean(-1, keepdim=True) + eps) * weight.float())


def _map(compute: Compute) -> Kernel:
    """One output, two inputs."""
    return Kernel(compute, writes=(0,), reads=(1, 2))


KERNELS = {
    "cutile_row_scale": _map(_row_scale),
    "cutile_row_sum": Kernel(_row_sum, writes=(0,), reads=(1,)),
    "cutile_gemm": _map(_gemm),
    "cutile_batched": _map(_batched),
    "cutile_batched_product": _map(_batched),
    "cutile_splitk_product": Kernel(_splitk, writes=(0,), reads=(0, 1, 2)),
    "cutile_scale_residual": _map(_scale_residual),
    "cutile_fused_rms_norm": Kernel(_rms_norm, writes=(0, 1), reads=(2, 3, 4)),
}
EXAMPLE_KERNELS = {**KERNELS, "cutile_gemm": _map(_example_gemm)}
#: the faulty `splitk_device.rs` permutes the partition of `b`
FAULTY_KERNELS = {
    **EXAMPLE_KERNELS,
    "cutile_splitk_product": replace(EXAMPLE_KERNELS["cutile_splitk_product"], compute=_splitk_permuted),
}


def row_scale_that(*, accumulates: bool = False, skips_first_row: bool = False) -> dict[str, Kernel]:
    """The base's kernel as cases change its ``kernel.rs``."""

    def compute(*arguments) -> None:
        _row_scale(*arguments, add=accumulates, first_row=int(skips_first_row))

    return {**KERNELS, "cutile_row_scale": Kernel(compute, writes=(0,), reads=(0, 1, 2) if accumulates else (1, 2))}
