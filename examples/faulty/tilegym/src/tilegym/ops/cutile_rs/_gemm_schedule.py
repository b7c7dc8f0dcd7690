"""Which variant a problem takes, and how many programs it launches."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from ._gemm_configs import GemmConfig, direct_configs, persistent_configs
from ._host import ceil_div

# below this many output elements a grid of whole tiles fills the device anyway
_PERSISTENT_FROM = 1024 * 1024


@dataclass(frozen=True)
class GemmProblem:
    """``C[m, n] = alpha * A[m, k] @ B[k, n]`` on one device."""

    m: int
    n: int
    k: int
    dtype: torch.dtype
    device: str

    @property
    def is_empty(self) -> bool:
        """True if the result has no elements."""
        return self.m == 0 or self.n == 0

    @property
    def flops(self) -> int:
        return 2 * self.m * self.n * self.k

    def tiles(self, cfg: GemmConfig) -> int:
        """Output tiles under a config."""
        return ceil_div(self.m, cfg.BM) * ceil_div(self.n, cfg.BN)


def choose_persistent(problem: GemmProblem, wish: bool | None) -> bool:
    """The caller's wish if there is one; else large outputs take the persistent variant."""
    if wish is not None:
        return bool(wish)
    return problem.m * problem.n >= _PERSISTENT_FROM


def configs_for(persistent: bool) -> list[GemmConfig]:
    return persistent_configs() if persistent else direct_configs()


def program_count(problem: GemmProblem, cfg: GemmConfig, persistent: bool, num_sms: int) -> int:
    """Programs to launch: every tile, or as many as the device holds at once."""
    tiles = problem.tiles(cfg)
    if not persistent:
        return tiles
    resident = max(num_sms // cfg.NUM_CTAS, 1) * cfg.OCCUPANCY
    return min(resident, tiles)
