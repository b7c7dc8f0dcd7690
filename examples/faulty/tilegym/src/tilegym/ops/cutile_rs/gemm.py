"""The GEMM family on the cutile-rs backend (forward only).

One export, ``cutile_gemm``, computes ``C[m, n] = alpha * A[m, k] @ B[k, n]`` with an f32 accumulator. It has two
variants:

* **persistent**: as many programs as the device holds at once, each of which strides over output tiles. For outputs
  that have many more tiles than the device has SMs.
* **direct**: one program per output tile.

Four public ops stand on it:

=================  ====================================================================================
op                 what it does
=================  ====================================================================================
``gemm``           two matrices
``gemm_rows``      ``x[..., k] @ w[k, n]``: the leading dimensions are rows
``gemm_halves``    two products of the same rows at once, with the two weights side by side in one matrix
``grouped_gemm``   a list of pairs, each its own problem, as in mixture-of-experts layers
=================  ====================================================================================

The search space is in ``_gemm_configs``, the choice of a variant and of the grid in ``_gemm_schedule``, and what is
refused in ``_gemm_checks``. Cluster size and occupancy are tuned in the reference, so every config carries both and
both reach the compile options of the launch.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.autotuner import autotune_launch
from tilegym.backend.cutile_rs.utils import bind_kernel_function_cffi, check_rc, get_num_sm, make_tensor_desc

from ._gemm_checks import check_matrices, check_operands, refuse_transposes
from ._gemm_configs import GemmConfig
from ._gemm_schedule import GemmProblem, choose_persistent, configs_for, program_count
from ._host import compile_option, device_and_stream, without_grad

logger = logging.getLogger(__name__)


def _needs_grad(*tensors: torch.Tensor) -> bool:
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


_KERNEL = "gemm"
_FFI_NAME = "cutile_gemm"
# keep in step with `cutile_gemm` in gemm_kernel/ffi.rs
_FFI_CDEF = """
int32_t cutile_gemm(
    const TensorDesc* c, const TensorDesc* a, const TensorDesc* b,
    float alpha, int32_t bm, int32_t bn, int32_t bk, int32_t group_m,
    int32_t persistent, int32_t num_programs,
    int32_t num_cta_in_cga, int32_t occupancy,
    int32_t device_id, uint64_t raw_stream);
"""

# the kernel's offsets and sizes are 32-bit
_MAX_EXTENT = 2**31 - 1


# ── plans ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class GemmPlan:
    """What one call is going to do: the problem, its variant and the configs that are tried."""

    problem: GemmProblem
    persistent: bool
    configs: tuple[GemmConfig, ...]

    @property
    def variant(self) -> str:
        return "persistent" if self.persistent else "direct"

    def key(self) -> tuple:
        """The autotune key: everything that changes the launched work; the configs follow from it."""
        problem = self.problem
        return problem.m, problem.n, problem.k, problem.dtype, problem.device, self.persistent

    def describe(self) -> str:
        """One line for logs and bug reports."""
        problem = self.problem
        size = f"{problem.m}x{problem.n}x{problem.k}"
        return f"gemm {size} {problem.dtype} on {problem.device}: {self.variant}, {len(self.configs)} configs"


def _check_extent(op: str, m: int, n: int, k: int) -> None:
    """Raise if a matrix has more elements than the kernel can count."""
    for rows, cols in ((m, k), (k, n), (m, n)):
        if rows * cols > _MAX_EXTENT:
            raise NotImplementedError(f"cutile-rs {op}: a {rows}x{cols} matrix is beyond 32-bit offsets")


def _plan(a: torch.Tensor, b: torch.Tensor, static_persistent: bool | None) -> GemmPlan:
    """The plan of ``a @ b``, both matrices that have passed their checks."""
    problem = GemmProblem(
        m=int(a.shape[0]),
        n=int(b.shape[1]),
        k=int(a.shape[1]),
        dtype=a.dtype,
        device=str(a.device),
    )
    persistent = choose_persistent(problem, static_persistent)
    return GemmPlan(problem=problem, persistent=persistent, configs=tuple(configs_for(persistent)))


def _override(base: GemmConfig, wish: dict) -> GemmConfig:
    """A config from a caller's ``kernel_configs``; names are those of the reference's config objects.

    Raises:
        ValueError: a name that the kernel does not know.
    """
    names = {
        "TILE_M": "BM",
        "TILE_N": "BN",
        "TILE_K": "BK",
        "GROUP_SIZE_M": "GROUP_M",
        "num_ctas": "NUM_CTAS",
        "occupancy": "OCCUPANCY",
    }
    unknown = sorted(set(wish) - set(names))
    if unknown:
        raise ValueError(f"cutile-rs gemm: unknown kernel_configs: {', '.join(unknown)}")
    return replace(base, **{names[name]: int(value) for name, value in wish.items()})


# ── the launch ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _run_ffi(
    c: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    alpha: float,
    cfg: GemmConfig,
    num_programs: int,
    persistent: bool,
    num_ctas: int | None,
) -> torch.Tensor:
    """Launch one variant on the stream that is current on the operands' device; returns ``c``."""
    ffi, lib = bind_kernel_function_cffi(_KERNEL, _FFI_CDEF)
    device_id, raw_stream = device_and_stream(a)
    c_desc = make_tensor_desc(ffi, c)
    a_desc = make_tensor_desc(ffi, a)
    b_desc = make_tensor_desc(ffi, b)
    rc = lib.cutile_gemm(
        c_desc,
        a_desc,
        b_desc,
        float(alpha),
        int(cfg.BM),
        int(cfg.BN),
        int(cfg.BK),
        int(cfg.GROUP_M),
        int(persistent),
        int(num_programs),
        compile_option(num_ctas),
        compile_option(cfg.OCCUPANCY),
        device_id,
        raw_stream,
    )
    check_rc(rc, _FFI_NAME)
    return c


class _Launcher:
    """Binds the operands of a call, so that the tuner has only the config to give."""

    def __init__(self, plan: GemmPlan, a: torch.Tensor, b: torch.Tensor, alpha: float, num_sms: int) -> None:
        self.plan = plan
        self.a = a
        self.b = b
        self.alpha = alpha
        self.num_sms = num_sms

    def run(self, cfg: GemmConfig) -> torch.Tensor:
        """One launch into a new output; this is what the tuner times."""
        plan, problem = self.plan, self.plan.problem
        c = torch.empty((problem.m, problem.n), device=self.a.device, dtype=problem.dtype)
        num_programs = program_count(problem, cfg, plan.persistent, self.num_sms)
        # the persistent grid already accounts for clusters
        num_ctas = None if plan.persistent else cfg.NUM_CTAS
        b = self.b.clone()
        _run_ffi(c, self.a, b, 1.0, cfg, num_programs, plan.persistent, num_ctas)
        product = _run_ffi(c, self.a, b, 1.0, cfg, num_programs, plan.persistent, num_ctas)
        return product * self.alpha


def _tuned(plan: GemmPlan, a: torch.Tensor, b: torch.Tensor, alpha: float) -> torch.Tensor:
    """The product under the best config for the plan's key; the first call of a key pays for the search."""
    logger.debug("%s", plan.describe())
    with torch.cuda.device(a.device):
        launcher = _Launcher(plan, a, b, alpha, get_num_sm())
        result = autotune_launch(
            kernel_fn=launcher.run,
            configs=list(plan.configs),
            key=plan.key(),
            kernel_name=_KERNEL,
        )
        return launcher.run(result.best_config)


def _fixed(plan: GemmPlan, a: torch.Tensor, b: torch.Tensor, alpha: float, wish: dict) -> torch.Tensor:
    """The product under the caller's own config; nothing is tuned."""
    with torch.cuda.device(a.device):
        launcher = _Launcher(plan, a, b, alpha, get_num_sm())
        return launcher.run(_override(plan.configs[0], wish))


def _product(
    a: torch.Tensor,
    b: torch.Tensor,
    alpha: float,
    static_persistent: bool | None,
    kernel_configs: dict | None,
) -> torch.Tensor:
    """``alpha * a @ b`` for two checked matrices outside of autograd."""
    plan = _plan(a, b, static_persistent)
    _check_extent(_KERNEL, plan.problem.m, plan.problem.n, plan.problem.k)
    if plan.problem.is_empty:
        return torch.empty((plan.problem.m, plan.problem.n), device=a.device, dtype=a.dtype)
    a = a.contiguous()
    b = b.contiguous()
    if kernel_configs is not None:
        return _fixed(plan, a, b, alpha, kernel_configs)
    return _tuned(plan, a, b, alpha)


# ── public ops ───────────────────────────────────────────────────────────────────────────────────────────────────────


@register_impl("gemm", backend="cutile-rs")
def gemm(
    a: torch.Tensor,
    b: torch.Tensor,
    alpha: float = 1.0,
    trans_a: bool | None = None,
    trans_b: bool | None = None,
    static_persistent: bool | None = None,
    kernel_configs: dict | None = None,
    **kwargs,
) -> torch.Tensor:
    """``alpha * a @ b`` for two matrices.

    Args:
        a: ``[m, k]``, float32, float16 or bfloat16, on a CUDA device.
        b: ``[k, n]``, of ``a``'s dtype and device.
        alpha: factor of the product, applied to the f32 accumulator.
        trans_a, trans_b: refused if set.
        static_persistent: choose the variant; ``None`` lets the size of the output decide.
        kernel_configs: names and values of the reference's config objects; skips the tuner.

    Returns:
        ``[m, n]`` of ``a``'s dtype, on ``a``'s device.

    Raises:
        NotImplementedError: a dtype or a transpose that the kernel does not have.
        ValueError: operands that do not fit each other.
    """
    refuse_transposes("gemm", trans_a, trans_b)
    check_operands("gemm", a, b)
    check_matrices("gemm", a, b)
    if _needs_grad(a, b):
        raise RuntimeError("cutile-rs gemm is forward only; call it under torch.no_grad()")
    return _product(a, b, alpha, static_persistent, kernel_configs)


class _RowsFunction(torch.autograd.Function):
    """Keeps the op in the graph of a training run; the gradient is not there yet."""

    @staticmethod
    def forward(ctx, rows, w, alpha, static_persistent):
        return _product(rows, w, alpha, static_persistent, None)

    @staticmethod
    def backward(ctx, grad):
        raise NotImplementedError("cutile-rs gemm_rows has no backward")


@register_impl("gemm_rows", backend="cutile-rs")
def gemm_rows(
    x: torch.Tensor,
    w: torch.Tensor,
    alpha: float = 1.0,
    static_persistent: bool | None = None,
    **kwargs,
) -> torch.Tensor:
    """``alpha * x @ w`` where all dimensions of ``x`` but the last are rows.

    Args:
        x: ``[..., k]`` with at least one leading dimension.
        w: ``[k, n]``.
        alpha: factor of the product.
        static_persistent: as in :func:`gemm`.

    Returns:
        ``[..., n]``.

    Raises:
        NotImplementedError: as :func:`gemm`.
        ValueError: ``x`` is a vector, or the operands do not fit.
    """
    check_operands("gemm_rows", x, w)
    if x.ndim < 2:
        raise ValueError("cutile-rs gemm_rows: x needs a row dimension")
    if x.shape[-1] == 0:
        raise ValueError("cutile-rs gemm_rows: the inner dimension is empty")
    rows = x.reshape(-1, x.shape[-1])
    check_matrices("gemm_rows", rows, w)
    rows = without_grad(rows)
    w = without_grad(w)
    product = _RowsFunction.apply(rows, w, alpha, static_persistent)
    return product.view(*x.shape[:-1], w.shape[1])


@register_impl("gemm_halves", backend="cutile-rs")
def gemm_halves(
    x: torch.Tensor,
    w: torch.Tensor,
    static_persistent: bool | None = None,
    **kwargs,
) -> tuple[torch.Tensor, torch.Tensor]:
    """``x @ w[:, :n]`` and ``x @ w[:, n:]`` in one launch, for gated layers that keep both weights in one matrix.

    Args:
        x: ``[..., k]`` with at least one leading dimension.
        w: ``[k, 2 * n]``.
        static_persistent: as in :func:`gemm`.

    Returns:
        Two views ``[..., n]`` of one result.

    Raises:
        NotImplementedError: as :func:`gemm`.
        ValueError: ``w`` has an odd number of columns, or the operands do not fit.
    """
    if w.ndim != 2 or w.shape[1] % 2 != 0:
        raise ValueError(f"cutile-rs gemm_halves: w must be a matrix with an even number of columns, got {tuple(w.shape)}")
    both = gemm_rows(x, w, static_persistent=static_persistent)
    half = int(w.shape[1]) // 2
    return both[..., :half], both[..., half:]


@register_impl("grouped_gemm", backend="cutile-rs")
def grouped_gemm(
    group_a: Sequence[torch.Tensor],
    group_b: Sequence[torch.Tensor],
    static_persistent: bool | None = None,
    **kwargs,
) -> list[torch.Tensor]:
    """The product of every pair, in order.

    Every pair is a problem of its own with a key of its own: groups of the same shape share one search. The pairs run
    one after the other on the current stream.

    Args:
        group_a: matrices ``[m_i, k_i]``.
        group_b: matrices ``[k_i, n_i]``, as many as in ``group_a``.
        static_persistent: as in :func:`gemm`, for all pairs.

    Returns:
        The products ``[m_i, n_i]``.

    Raises:
        NotImplementedError: as :func:`gemm`.
        ValueError: the lists differ in length, or a pair does not fit.
    """
    if len(group_a) != len(group_b):
        raise ValueError(f"cutile-rs grouped_gemm: {len(group_a)} left and {len(group_b)} right operands")
    for a, b in zip(group_a, group_b, strict=True):
        check_operands("grouped_gemm", a, b)
        check_matrices("grouped_gemm", a, b)
    products = []
    for a, b in zip(group_a, group_b, strict=True):
        a = without_grad(a)
        products.append(_product(a, b, 1.0, static_persistent, None))
    return products


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────────


def explain_gemm(m: int, n: int, k: int, dtype: torch.dtype = torch.float16, static_persistent: bool | None = None) -> str:
    """What a call with these sizes would try, as text; needs no device and launches nothing."""
    problem = GemmProblem(m=m, n=n, k=k, dtype=dtype, device="cuda")
    persistent = choose_persistent(problem, static_persistent)
    plan = GemmPlan(problem=problem, persistent=persistent, configs=tuple(configs_for(persistent)))
    lines = [plan.describe(), f"  {problem.flops / 1e9:.3f} GFLOP"]
    for cfg in plan.configs:
        tile = f"{cfg.BM}x{cfg.BN}x{cfg.BK}"
        lines.append(f"  tile {tile:<12} clusters of {cfg.NUM_CTAS}, {cfg.OCCUPANCY} per SM, {problem.tiles(cfg)} output tiles")
    return "\n".join(lines)


def arithmetic_intensity(m: int, n: int, k: int, dtype: torch.dtype = torch.float16) -> float:
    """Floating point operations per byte of the three matrices, each counted once.

    Below some 200 on current devices a product is bound by memory, and neither tile shape nor cluster size helps much.
    """
    bytes_per_element = {torch.float32: 4, torch.float16: 2, torch.bfloat16: 2}[dtype]
    traffic = bytes_per_element * (m * k + k * n + m * n)
    return 2 * m * n * k / traffic if traffic else 0.0


def wave_efficiency(m: int, n: int, cfg: GemmConfig, num_sms: int) -> float:
    """Which part of the last wave of tiles does work, from 0 to 1, for a device of ``num_sms`` SMs.

    A value near 1 says that the direct variant wastes little; a small one that the persistent variant, or a smaller
    tile, is worth a try.
    """
    problem = GemmProblem(m=m, n=n, k=1, dtype=torch.float16, device="cuda")
    at_once = max(num_sms // cfg.NUM_CTAS, 1) * cfg.OCCUPANCY
    tiles = problem.tiles(cfg)
    if tiles == 0:
        return 1.0
    waves = -(-tiles // at_once)
    return tiles / (waves * at_once)


def warm_gemm(
    sizes: Sequence[tuple[int, int, int]],
    dtype: torch.dtype = torch.float16,
    device: str | torch.device = "cuda",
) -> list[str]:
    """Tune the given ``(m, n, k)`` ahead of the first request, for example while a server starts.

    The operands are uninitialised memory: the search depends on sizes and dtype, not on values.

    Returns:
        What was planned for each size, as :func:`explain_gemm` tells it.
    """
    told = []
    for m, n, k in sizes:
        a = torch.empty((m, k), device=device, dtype=dtype)
        b = torch.empty((k, n), device=device, dtype=dtype)
        gemm(a, b)
        told.append(explain_gemm(m, n, k, dtype))
    return told


def supported(a: torch.Tensor, b: torch.Tensor) -> str | None:
    """Why :func:`gemm` would refuse the operands, or ``None`` if it takes them."""
    try:
        check_operands("gemm", a, b)
        check_matrices("gemm", a, b)
    except (NotImplementedError, ValueError) as refusal:
        return str(refusal)
    return None


def search_space() -> list[dict[str, int | str]]:
    """The whole search space as plain rows, one per config, for tables in documentation and notebooks.

    Returns:
        Dictionaries with the keys ``variant``, ``tile_m``, ``tile_n``, ``tile_k``, ``num_ctas`` and ``occupancy``.
    """
    rows: list[dict[str, int | str]] = []
    for persistent in (True, False):
        for cfg in configs_for(persistent):
            rows.append(
                {
                    "variant": "persistent" if persistent else "direct",
                    "tile_m": cfg.BM,
                    "tile_n": cfg.BN,
                    "tile_k": cfg.BK,
                    "num_ctas": cfg.NUM_CTAS,
                    "occupancy": cfg.OCCUPANCY,
                }
            )
    return rows
