"""gemm on the cuTile Python backend: the reference that the cutile-rs port is measured against."""

from types import SimpleNamespace

import cuda.tile as ct
import torch
from cuda.tile.tune import exhaustive_search
from tilegym.backend import register_impl

# (m, n, k, persistent, dtype, device) -> (config, kernel with its hints)
_tuned: dict = {}


def _persistent_configs():
    capability = torch.cuda.get_device_capability()
    if capability in [(12, 0), (12, 1)]:
        for tile_m, tile_n in ((128, 128), (64, 128), (128, 64)):
            for occupancy in (1, 2):
                yield SimpleNamespace(TILE_M=tile_m, TILE_N=tile_n, TILE_K=64, GROUP_SIZE_M=8, num_ctas=1, occupancy=occupancy)
    elif capability[0] == 10:
        yield SimpleNamespace(TILE_M=256, TILE_N=256, TILE_K=64, GROUP_SIZE_M=8, num_ctas=2, occupancy=1)
        yield SimpleNamespace(TILE_M=256, TILE_N=128, TILE_K=64, GROUP_SIZE_M=8, num_ctas=2, occupancy=1)
        yield SimpleNamespace(TILE_M=128, TILE_N=512, TILE_K=64, GROUP_SIZE_M=8, num_ctas=4, occupancy=1)
        yield SimpleNamespace(TILE_M=256, TILE_N=256, TILE_K=64, GROUP_SIZE_M=8, num_ctas=1, occupancy=1)
    else:
        for num_ctas in (1, 2):
            yield SimpleNamespace(TILE_M=128, TILE_N=256, TILE_K=64, GROUP_SIZE_M=8, num_ctas=num_ctas, occupancy=1)


def _direct_configs():
    capability = torch.cuda.get_device_capability()
    if capability[0] == 10:
        for num_ctas in (1, 2):
            for occupancy in (1, 2):
                yield SimpleNamespace(TILE_M=128, TILE_N=128, TILE_K=64, num_ctas=num_ctas, occupancy=occupancy)
    else:
        for occupancy in (1, 2):
            yield SimpleNamespace(TILE_M=64, TILE_N=128, TILE_K=64, num_ctas=1, occupancy=occupancy)


@ct.kernel
def _direct_gemm_kernel(
    A,
    B,
    C,
    alpha: float,
    TILE_M: ct.Constant[int],
    TILE_N: ct.Constant[int],
    TILE_K: ct.Constant[int],
):
    tiles_n = ct.num_tiles(C, axis=1, shape=(TILE_M, TILE_N))
    tile = ct.bid(0)
    row = tile // tiles_n
    col = tile % tiles_n
    acc = ct.full((TILE_M, TILE_N), 0.0, dtype=ct.float32)
    for step in range(ct.num_tiles(A, axis=1, shape=(TILE_M, TILE_K))):
        a = ct.load(A, index=(row, step), shape=(TILE_M, TILE_K), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(B, index=(step, col), shape=(TILE_K, TILE_N), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(a, b, acc=acc)
    ct.store(C, index=(row, col), tile=ct.astype(acc * alpha, C.dtype))


@ct.kernel
def _persistent_gemm_kernel(
    A,
    B,
    C,
    alpha: float,
    TILE_M: ct.Constant[int],
    TILE_N: ct.Constant[int],
    TILE_K: ct.Constant[int],
    GROUP_SIZE_M: ct.Constant[int],
):
    tiles_m = ct.num_tiles(C, axis=0, shape=(TILE_M, TILE_N))
    tiles_n = ct.num_tiles(C, axis=1, shape=(TILE_M, TILE_N))
    tiles_in_group = GROUP_SIZE_M * tiles_n
    for tile in range(ct.bid(0), tiles_m * tiles_n, ct.num_blocks(0)):
        first_row = tile // tiles_in_group * GROUP_SIZE_M
        rows = ct.minimum(tiles_m - first_row, GROUP_SIZE_M)
        in_group = tile % tiles_in_group
        row = first_row + in_group % rows
        col = in_group // rows
        acc = ct.full((TILE_M, TILE_N), 0.0, dtype=ct.float32)
        for step in range(ct.num_tiles(A, axis=1, shape=(TILE_M, TILE_K))):
            a = ct.load(A, index=(row, step), shape=(TILE_M, TILE_K), padding_mode=ct.PaddingMode.ZERO)
            b = ct.load(B, index=(step, col), shape=(TILE_K, TILE_N), padding_mode=ct.PaddingMode.ZERO)
            acc = ct.mma(a, b, acc=acc)
        ct.store(C, index=(row, col), tile=ct.astype(acc * alpha, C.dtype))


def _tune(key, configs, stream, grid_fn, kernel, args_fn):
    if key not in _tuned:
        found = exhaustive_search(
            list(configs),
            stream,
            grid_fn,
            kernel,
            args_fn,
            lambda cfg: {"num_ctas": cfg.num_ctas, "occupancy": cfg.occupancy},
        )
        best = found.best.config
        _tuned[key] = best, kernel.replace_hints(num_ctas=best.num_ctas, occupancy=best.occupancy)
    return _tuned[key]


def _persistent_gemm(stream, a, b, c, alpha):
    m, n = c.shape
    k = a.shape[1]
    num_sms = torch.cuda.get_device_properties(a.device).multi_processor_count

    def args_fn(cfg):
        return (a, b, c, alpha, cfg.TILE_M, cfg.TILE_N, cfg.TILE_K, cfg.GROUP_SIZE_M)

    def grid_fn(cfg):
        tiles = ct.cdiv(m, cfg.TILE_M) * ct.cdiv(n, cfg.TILE_N)
        return (min(max(num_sms // cfg.num_ctas, 1) * cfg.occupancy, tiles),)

    key = (m, n, k, True, a.dtype, str(a.device))
    cfg, kernel = _tune(key, _persistent_configs(), stream, grid_fn, _persistent_gemm_kernel, args_fn)
    ct.launch(stream, grid_fn(cfg), kernel, args_fn(cfg))


def _direct_gemm(stream, a, b, c, alpha):
    m, n = c.shape
    k = a.shape[1]

    def args_fn(cfg):
        return (a, b, c, alpha, cfg.TILE_M, cfg.TILE_N, cfg.TILE_K)

    def grid_fn(cfg):
        return (ct.cdiv(m, cfg.TILE_M) * ct.cdiv(n, cfg.TILE_N),)

    key = (m, n, k, False, a.dtype, str(a.device))
    cfg, kernel = _tune(key, _direct_configs(), stream, grid_fn, _direct_gemm_kernel, args_fn)
    ct.launch(stream, grid_fn(cfg), kernel, args_fn(cfg))


@register_impl("gemm", backend="cutile")
def gemm(a, b, alpha=1.0, static_persistent=None, **kwargs):
    """``alpha * a @ b`` for two matrices."""
    c = torch.empty((a.shape[0], b.shape[1]), device=a.device, dtype=a.dtype)
    stream = torch.cuda.current_stream()
    persistent = static_persistent if static_persistent is not None else c.numel() >= 1024 * 1024
    if persistent:
        _persistent_gemm(stream, a, b, c, alpha)
    else:
        _direct_gemm(stream, a, b, c, alpha)
    return c
