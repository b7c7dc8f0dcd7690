"""Rules that installed packages bring: the entry point group ``cutile_lint.rules``.

Package metadata is slow to read with ``importlib.metadata``; nearly always there is no plugin, and that is seen by looking for
the group's name in the ``entry_points.txt`` files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from cutile_lint.records import dataclass

GROUP = "cutile_lint.rules"


@dataclass(frozen=True, slots=True)
class Plugin:
    """``name`` of the entry point, the ``package`` that it names, and the folder of that; None with the ``problem`` told."""

    name: str
    package: str
    folder: Path | None
    problem: str = ""


@lru_cache(maxsize=1)
def plugins() -> tuple[Plugin, ...]:
    """The installed plugins, by name. Nothing of theirs is imported."""
    if not any(_speaks_of_us(file) for file in _entry_point_files()):
        return ()
    from importlib.metadata import entry_points

    found = {(point.name, point.value) for point in entry_points(group=GROUP)}
    return tuple(_plugin(name, value) for name, value in sorted(found))


def package_folders() -> list[str]:
    """The folders that packages are installed in: their listings tell whether a plugin came or went."""
    standard = os.path.dirname(os.__file__)
    ours = [path for path in dict.fromkeys(sys.path) if path and not path.startswith(os.path.join(standard, "lib-dynload"))]
    return [path for path in ours if path != standard and os.path.isdir(path)]


def _entry_point_files() -> Iterator[str]:
    for folder in package_folders():
        try:
            with os.scandir(folder) as entries:
                names = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        yield from (os.path.join(path, "entry_points.txt") for path in names)


def _speaks_of_us(file: str) -> bool:
    try:
        with open(file, "rb") as opened:
            return f"[{GROUP}]".encode() in opened.read()
    except OSError:
        return False


def _plugin(name: str, value: str) -> Plugin:
    from importlib.util import find_spec

    package = value.partition(":")[0].strip()
    try:
        spec = find_spec(package)
    except Exception as error:
        return Plugin(name, package, None, f"`{package}` cannot be imported: {type(error).__name__}: {error}")
    if spec is None or not spec.submodule_search_locations:
        return Plugin(name, package, None, f"`{package}` is no package" if spec else f"there is no package `{package}`")
    return Plugin(name, package, Path(next(iter(spec.submodule_search_locations))))
