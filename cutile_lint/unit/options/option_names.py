"""The compile options, and the names that configs, declarations and parameters give them."""

from __future__ import annotations

CLUSTER = "num_cta_in_cga"
OCCUPANCY = "occupancy"

#: Setters of ``CompileOptions``.
SETTERS = frozenset([CLUSTER, OCCUPANCY, "max_divisibility", "num_worker_warps_per_cta"])

_NAMES = {
    CLUSTER: (
        "num_ctas num_cta num_cta_in_cga num_ctas_in_cga num_ctas_per_cga ctas ctas_per_cga cta_per_cga cga cga_size "
        "cluster clusters cluster_size cluster_dim cluster_ctas"
    ),
    OCCUPANCY: "occupancy occ occupancy_hint",
    "max_divisibility": "max_divisibility",
    "num_worker_warps_per_cta": "num_worker_warps_per_cta num_worker_warps worker_warps",
}
_OPTION_OF = {name: option for option, names in _NAMES.items() for name in names.split()}


def option_named(name: str) -> str | None:
    """The compile option that a field, parameter or variable of this name means; None for other names."""
    return _OPTION_OF.get(name.lower().lstrip("$_").removesuffix("_"))
