"""Registry of op implementations per backend."""

from __future__ import annotations

from collections.abc import Callable

_implementations: dict[tuple[str, str], Callable] = {}
_selected = "cutile-rs"


def register_impl(name: str, backend: str) -> Callable[[Callable], Callable]:
    """Register the decorated function under ``name`` for ``backend``; a name is taken once per backend."""

    def register(function: Callable) -> Callable:
        _implementations[name, backend] = function
        return function

    return register


def implementation(name: str, backend: str | None = None) -> Callable:
    """The function registered under ``name``.

    Raises:
        KeyError: nothing is registered.
    """
    return _implementations[name, backend or _selected]


def registered(backend: str | None = None) -> list[str]:
    """Names registered for a backend, sorted."""
    return sorted(name for name, owner in _implementations if owner == (backend or _selected))


def is_backend_available(name: str) -> bool:
    return name == "cutile-rs"


def set_backend(name: str) -> None:
    """Select a backend for ``tilegym.ops``.

    Raises:
        ValueError: the backend is not available here.
    """
    global _selected
    if not is_backend_available(name):
        raise ValueError(f"backend {name!r} is not available")
    _selected = name


def current() -> str:
    return _selected
