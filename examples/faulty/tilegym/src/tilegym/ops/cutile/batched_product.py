"""batched_product on the cuTile Python backend: the reference that the cutile-rs port is measured against."""

from types import SimpleNamespace

import cuda.tile as ct
import torch
from cuda.tile.tune import exhaustive_search
from tilegym.backend import register_impl

_tuned: dict = {}


def _persistent_configs():
    capability = torch.cuda.get_device_capability()
    if capability[0] == 10:
        for tile_m in (256, 128):
            yield SimpleNamespace(TILE_M=tile_m, TILE_N=256, TILE_K=64, num_ctas=2, occupancy=1)
    else:
        for occupancy in (1, 2):
            yield SimpleNamespace(TILE_M=128, TILE_N=128, TILE_K=64, num_ctas=1, occupancy=occupancy)


@ct.kernel
def direct_batched_product(
    A,
    B,
    C,
    TILE_M: ct.Constant[int],
    TILE_N: ct.Constant[int],
    TILE_K: ct.Constant[int],
):
    tiles_m = ct.num_tiles(C, axis=1, shape=(1, TILE_M, TILE_N))
    tiles_n = ct.num_tiles(C, axis=2, shape=(1, TILE_M, TILE_N))
    batch = ct.bid(0) // (tiles_m * tiles_n)
    in_batch = ct.bid(0) % (tiles_m * tiles_n)
    row = in_batch // tiles_n
    col = in_batch % tiles_n
    acc = ct.full((TILE_M, TILE_N), 0.0, dtype=ct.float32)
    for step in range(ct.num_tiles(A, axis=2, shape=(1, TILE_M, TILE_K))):
        a = ct.load(A, index=(batch, row, step), shape=(1, TILE_M, TILE_K), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(B, index=(batch, step, col), shape=(1, TILE_K, TILE_N), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(ct.reshape(a, (TILE_M, TILE_K)), ct.reshape(b, (TILE_K, TILE_N)), acc=acc)
    ct.store(C, index=(batch, row, col), tile=ct.reshape(ct.astype(acc, C.dtype), (1, TILE_M, TILE_N)))


@ct.kernel
def persistent_batched_product(
    A,
    B,
    C,
    k: int,
    TILE_M: ct.Constant[int],
    TILE_N: ct.Constant[int],
    TILE_K: ct.Constant[int],
    TRANSPOSE_A: ct.Constant[bool],
    TRANSPOSE_B: ct.Constant[bool],
):
    tiles_m = ct.num_tiles(C, axis=1, shape=(1, TILE_M, TILE_N))
    tiles_n = ct.num_tiles(C, axis=2, shape=(1, TILE_M, TILE_N))
    batches = ct.num_tiles(C, axis=0, shape=(1, TILE_M, TILE_N))
    for tile in range(ct.bid(0), batches * tiles_m * tiles_n, ct.num_blocks(0)):
        batch = tile // (tiles_m * tiles_n)
        in_batch = tile % (tiles_m * tiles_n)
        row = in_batch // tiles_n
        col = in_batch % tiles_n
        acc = ct.full((TILE_M, TILE_N), 0.0, dtype=ct.float32)
        for step in range(ct.cdiv(k, TILE_K)):
            if TRANSPOSE_A:
                a = ct.load(A, index=(batch, step, row), shape=(1, TILE_K, TILE_M), padding_mode=ct.PaddingMode.ZERO)
                a = ct.permute(a, (0, 2, 1))
            else:
                a = ct.load(A, index=(batch, row, step), shape=(1, TILE_M, TILE_K), padding_mode=ct.PaddingMode.ZERO)
            if TRANSPOSE_B:
                b = ct.load(B, index=(batch, col, step), shape=(1, TILE_N, TILE_K), padding_mode=ct.PaddingMode.ZERO)
                b = ct.permute(b, (0, 2, 1))
            else:
                b = ct.load(B, index=(batch, step, col), shape=(1, TILE_K, TILE_N), padding_mode=ct.PaddingMode.ZERO)
            acc = ct.mma(ct.reshape(a, (TILE_M, TILE_K)), ct.reshape(b, (TILE_K, TILE_N)), acc=acc)
        ct.store(C, index=(batch, row, col), tile=ct.reshape(ct.astype(acc, C.dtype), (1, TILE_M, TILE_N)))


def _persistent(stream, a, b, c, k, transpose_a, transpose_b):
    q, m, n = c.shape
    num_sms = torch.cuda.get_device_properties(a.device).multi_processor_count

    def args_fn(cfg):
        return (a, b, c, k, cfg.TILE_M, cfg.TILE_N, cfg.TILE_K, transpose_a, transpose_b)

    def grid_fn(cfg):
        tiles = q * ct.cdiv(m, cfg.TILE_M) * ct.cdiv(n, cfg.TILE_N)
        return (min(max(num_sms // cfg.num_ctas, 1) * cfg.occupancy, tiles),)

    key = (q, m, n, k, transpose_a, transpose_b, a.dtype, str(a.device))
    if key not in _tuned:
        found = exhaustive_search(
            list(_persistent_configs()),
            stream,
            grid_fn,
            persistent_batched_product,
            args_fn,
            lambda cfg: {"num_ctas": cfg.num_ctas, "occupancy": cfg.occupancy},
        )
        best = found.best.config
        hinted = persistent_batched_product.replace_hints(num_ctas=best.num_ctas, occupancy=best.occupancy)
        _tuned[key] = best, hinted
    cfg, kernel = _tuned[key]
    ct.launch(stream, grid_fn(cfg), kernel, args_fn(cfg))


@register_impl("batched_product", backend="cutile")
def batched_product(a, b, transpose_a=False, transpose_b=False, static_persistent=True, **kwargs):
    """``[q, m, n]``; the direct variant does not transpose."""
    m, k = (a.shape[2], a.shape[1]) if transpose_a else (a.shape[1], a.shape[2])
    n = b.shape[1] if transpose_b else b.shape[2]
    c = torch.empty((a.shape[0], m, n), device=a.device, dtype=a.dtype)
    stream = torch.cuda.current_stream()
    if static_persistent:
        _persistent(stream, a, b, c, k, transpose_a, transpose_b)
    else:
        if transpose_a or transpose_b:
            raise NotImplementedError("the direct variant does not transpose")
        grid = (a.shape[0] * ct.cdiv(m, 128) * ct.cdiv(n, 128),)
        ct.launch(stream, grid, direct_batched_product, (a, b, c, 128, 128, 32))
    return c
