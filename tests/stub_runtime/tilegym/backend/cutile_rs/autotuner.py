"""A tuner that runs what the real one runs, as often, and measures nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ... import recorder

_cache: dict[tuple[str, Any], Any] = {}


@dataclass
class TunedResult:
    best_config: Any
    output: Any
    tuning_record: Sequence[tuple[Any, float]]
    cache_hit: bool


def autotune_launch(
    kernel_fn: Callable[[Any], Any],
    configs: Sequence[Any],
    key: Any,
    kernel_name: str = "unknown",
    warmup: int = 2,
    rep: int = 10,
    kernel_filter: str | None = None,
) -> TunedResult:
    """Run every config ``warmup + rep`` times, then the best (here: the first) once; on a known key the best once.

    Raises:
        RuntimeError: no configs.
    """
    entry = (kernel_name, key)
    hit = entry in _cache
    recorder.events.append(recorder.Tuned(kernel_name, key, len(configs), hit))
    recorder.timing_depth += 1
    recorder.tunings += 1
    number, outer = recorder.tunings, recorder.trial
    try:
        if not hit:
            if not configs:
                raise RuntimeError(f"autotune [{kernel_name}]: no configs")
            for position, config in enumerate(configs):
                for repetition in range(warmup + rep if recorder.repeats is None else recorder.repeats):
                    recorder.trial = number, position, repetition
                    kernel_fn(config)
            _cache[entry] = configs[0]
        recorder.trial = number, 0, -1
        output = kernel_fn(_cache[entry])
    finally:
        recorder.timing_depth -= 1
        recorder.trial = outer
    return TunedResult(_cache[entry], output, [(config, 0.0) for config in configs], hit)


def clear_cache() -> None:
    _cache.clear()
