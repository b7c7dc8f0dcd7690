"""The search space of the GEMM family, per variant; the reference of backend "cutile" tunes the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GemmConfig:
    """One point of the search space.

    ``NUM_CTAS`` is the cluster size and ``OCCUPANCY`` the blocks that share an SM: both are compile options, and both
    also bound the grid of the persistent variant.
    """

    BM: int
    BN: int
    BK: int
    NUM_CTAS: int
    OCCUPANCY: int
    GROUP_M: int = 8


def persistent_configs() -> list[GemmConfig]:
    # for sm100
    return [
        GemmConfig(BM=256, BN=256, BK=64, NUM_CTAS=2, OCCUPANCY=1),
        GemmConfig(BM=256, BN=128, BK=64, NUM_CTAS=2, OCCUPANCY=1),
        GemmConfig(BM=128, BN=512, BK=64, NUM_CTAS=4, OCCUPANCY=1),
        GemmConfig(BM=256, BN=256, BK=64, NUM_CTAS=1, OCCUPANCY=1),
    ]


def direct_configs() -> list[GemmConfig]:
    # for sm100
    return [GemmConfig(BM=128, BN=128, BK=64, NUM_CTAS=clusters, OCCUPANCY=blocks) for clusters in (1, 2) for blocks in (1, 2)]
