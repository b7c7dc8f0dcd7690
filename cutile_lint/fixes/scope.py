"""Which files a run may write."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from cutile_lint.config import Configurations
from cutile_lint.records import dataclass
from cutile_lint.sources.discovery import repository_root


@dataclass(slots=True)
class Scope:
    """Files given by PATHS, and their partners inside the project root, as far as they are not excluded.

    ``only``: the one file that may change (standard input); None: no such limit.
    """

    roots: tuple[str, ...]
    configurations: Configurations
    only: Path | None = None

    def refusal(self, path: Path) -> str:
        """Why a file may not be written, as the end of a sentence; empty when it may."""
        if self.only is not None:
            return "" if path == self.only else f"it needs `{path}` too, and only the text on standard input may change"
        if self.configurations.for_file(path).excludes(str(path)):
            return f"`{path}` is excluded"
        if not any(inside(os.path.realpath(path), os.path.realpath(root)) for root in self.roots):
            return f"`{path}` is outside the project"
        return ""


def scope_of(paths: Iterable[Path | str], configurations: Configurations, only: Path | None = None) -> Scope:
    """The scope of a run on PATHS: the folder of the configuration file, else the repository, else the paths' common parent."""
    given = [os.path.abspath(path) for path in paths] or [os.getcwd()]
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in given]
    roots = []
    for folder in folders:
        settings = configurations.for_folder(Path(folder))
        root = settings.root if settings.file is not None else repository_root(Path(folder))
        if root is not None and inside(folder, str(root)):
            roots.append(str(root))
        else:
            roots.append(_common(folders))
    return Scope(tuple(dict.fromkeys(roots)), configurations, only)


def _common(folders: list[str]) -> str:
    try:
        common = os.path.commonpath(folders)
    except ValueError:  # different drives
        return folders[0]
    return common if common != os.path.abspath(os.sep) or common in folders else folders[0]


def inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
