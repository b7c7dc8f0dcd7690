"""What the wrappers did, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Launch:
    """A call of an exported symbol; descriptors are replaced by their tensors."""

    symbol: str
    arguments: tuple[Any, ...]
    timed: bool


@dataclass(frozen=True)
class Tuned:
    """An ``autotune_launch``; it is recorded before its trials."""

    kernel_name: str
    key: Any
    configs: int
    cache_hit: bool


events: list[Launch | Tuned] = []
implementations: dict[str, Callable[..., int | None]] = {}
timing_depth = 0
#: calls of ``kernel_fn`` for each config, in place of the tuner's ``warmup + rep``
repeats: int | None = None
#: the trial that is running: (call of the tuner, config, repetition); the run that gives the output has repetition -1
trial: tuple[int, int, int] | None = None
tunings = 0


def reset() -> None:
    """Forget events and implementations."""
    events.clear()
    implementations.clear()


def implement(symbol: str, function: Callable[..., int | None]) -> None:
    """Let calls of ``symbol`` run ``function``; its return value is the return code, ``None`` for 0."""
    implementations[symbol] = function


def launches(symbol: str | None = None) -> list[Launch]:
    """Launches so far, of one symbol or of all."""
    return [event for event in events if isinstance(event, Launch) and symbol in (None, event.symbol)]


def launch(symbol: str, arguments: tuple[Any, ...]) -> int:
    """Record a call and run its implementation, if it has one."""
    events.append(Launch(symbol, arguments, timing_depth > 0))
    function = implementations.get(symbol)
    code = function(*arguments) if function is not None else None
    return 0 if code is None else code
