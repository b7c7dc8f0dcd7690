"""One name for each thing that configs tune, however it is spelled: ``BM``, ``TILE_M``, ``BLOCK_SIZE_M`` are ``m``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cutile_lint.frontends.reference.configs import OPTIONS
from cutile_lint.regex import regex
from cutile_lint.unit.options.option_names import option_named

#: words that say "a tile's size along …" and nothing more
_FILLERS = frozenset(["tile", "tiles", "block", "blk", "size", "sizes", "sz", "cfg", "constexpr"])
_SHORT = regex(r"[bt]([mnkdhvs])")
_LATENCIES = frozenset(["load_latency", "latency_hint", "ld_latency"])
_RUNTIME_ONLY = frozenset(["num_warps", "num_stages", "opt_level", "maxnreg", "pre_hook"])


def config_name(name: str) -> str:
    """The common name of a config's field: a compile option's name, or a tile size's ("" is never returned)."""
    low = name.lower().strip("_")
    if (option := option_named(low)) is not None:
        return option
    if low in OPTIONS:
        return OPTIONS[low]
    if low in _LATENCIES:
        return "latency"
    words = [word for word in re.split(r"_+", low) if word]
    kept = [match.group(1) if (match := _SHORT.fullmatch(word)) else word for word in words]
    kept = [word for word in kept if word not in _FILLERS]
    return "_".join(kept) or "tile"


def config_names(names: Iterable[str]) -> dict[str, str]:
    """Written name → common name; names that would fall together keep their own spelling."""
    written = list(names)
    common = {name: config_name(name) for name in written}
    counts: dict[str, int] = {}
    for name in common.values():
        counts[name] = counts.get(name, 0) + 1
    return {name: one if counts[one] == 1 else name.lower() for name, one in common.items()}


def is_tuned_elsewhere(name: str) -> bool:
    """The field means something for the reference's compiler only (Triton's warps and stages)."""
    return name in _RUNTIME_ONLY
