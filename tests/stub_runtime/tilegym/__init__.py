"""A stand-in for TileGym: the registry, the tuner and the binder, recording instead of launching."""

from __future__ import annotations

from . import backend, recorder
from .backend import is_backend_available, set_backend

__all__ = ["backend", "is_backend_available", "ops", "recorder", "set_backend"]


class _Ops:
    """``tilegym.ops.<name>`` calls the implementation of the selected backend."""

    def __getattr__(self, name: str):
        try:
            return backend.implementation(name)
        except KeyError:
            raise AttributeError(f"no op {name!r} for backend {backend.current()!r}") from None


ops = _Ops()
