"""From the paths of the command line to the files that are checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from cutile_lint.inputs import UNLISTED, Inputs, digest, listing, stamp_of
from cutile_lint.records import dataclass, field
from cutile_lint.sources.ignore import Patterns

SUFFIXES = (".py", ".rs", ".mlir")
NAMES = frozenset({"analysis.json", "Cargo.toml"})
#: folders that are never walked into, unless configuration says ``exclude``; hidden ones (``.git``, ``.venv``, …) neither
SKIPPED_FOLDERS = frozenset({"target", "venv", "node_modules", "__pycache__", "site-packages"})

#: (absolute path, is it a folder) -> whether configuration excludes it
Excluded = Callable[[str, bool], bool]
#: folder -> what configuration excludes of its entries; None: nothing
Exclusions = Callable[[str], "Excluded | None"]


@dataclass(slots=True)
class Discovery:
    """``files``: absolute, sorted, each once; ``missing``: paths that cannot be reached, with the reason; ``excluded``: passed by
    name; ``unlisted``: folders whose files nobody knows, with the reason."""

    files: list[Path] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    unlisted: dict[Path, str] = field(default_factory=dict)
    excluded: list[Path] = field(default_factory=list)


def is_candidate(name: str) -> bool:
    """Whether a file of this name can be part of an op."""
    return name.endswith(SUFFIXES) or name in NAMES


def discover(
    paths: Iterable[Path | str],
    exclusions: Exclusions = lambda folder: None,
    skip: frozenset[str] = SKIPPED_FOLDERS,
    inputs: Inputs | None = None,
) -> Discovery:
    """Files to check under ``paths`` (files or folders; none: the current folder).

    A file passed by name is taken unless excluded; ``.gitignore`` and ``skip`` hold for what is found in folders.
    Links to folders are not followed, so that a walk ends and stays in its tree. What is looked at is put on ``inputs``.
    """
    found: dict[str, None] = {}
    inputs = inputs or Inputs()
    result = Discovery()
    for path in paths or (".",):
        start = os.path.abspath(path)
        excluded = exclusions(os.path.dirname(start))
        kind = inputs.look(start)
        if kind == "d":
            if not (excluded and excluded(start, True)):
                _walk(start, _ignore_files_above(start, inputs), exclusions, skip, found, inputs, result.unlisted)
        elif kind == "-":
            result.missing[str(path)] = _why_missing(start)
        elif excluded and excluded(start, False):
            result.excluded.append(Path(start))
        elif is_candidate(os.path.basename(start)):
            found[start] = None
    result.files = [Path(path) for path in sorted(found)]
    return result


def _why_missing(path: str) -> str:
    try:
        os.stat(path)
    except PermissionError as error:
        return f"cannot be reached: {error.strerror}"
    except (OSError, ValueError):
        pass
    return "no such file or directory"


def _walk(
    folder: str,
    ignores: list[tuple[int, Patterns]],
    exclusions: Exclusions,
    skip: frozenset[str],
    found: dict[str, None],
    inputs: Inputs,
    unlisted: dict[Path, str],
) -> None:
    try:
        with os.scandir(folder) as scan:
            entries = list(scan)
    except OSError as error:
        inputs.folders[folder] = UNLISTED
        if not isinstance(error, (FileNotFoundError, NotADirectoryError)):  # else it has just been removed
            unlisted[Path(folder)] = error.strerror or str(error)
            inputs.usable = False
        return
    inputs.folders[folder] = listing(entries)
    if any(entry.name == ".gitignore" for entry in entries):
        ignores = ignores + _ignore_file(folder, ".gitignore", inputs)
    excluded = exclusions(folder)
    for entry in entries:
        name = entry.name
        if name[0] == ".":
            continue
        try:
            is_dir = entry.is_dir(follow_symlinks=False)
            if not (is_dir or (is_candidate(name) and entry.is_file())):
                continue
        except OSError:
            continue
        if is_dir and name in skip:
            continue
        path = entry.path
        if (ignores and _ignored(path, is_dir, ignores)) or (excluded and excluded(path, is_dir)):
            continue
        if is_dir:
            _walk(path, ignores, exclusions, skip, found, inputs, unlisted)
        else:
            found[path] = None


def _ignored(path: str, is_dir: bool, ignores: list[tuple[int, Patterns]]) -> bool:
    """The nearest ignore file that speaks of the path decides."""
    for base, patterns in reversed(ignores):
        relative = path[base:]
        verdict = patterns.match(relative.replace(os.sep, "/") if os.sep != "/" else relative, is_dir)
        if verdict is not None:
            return verdict
    return False


def _ignore_files_above(folder: str, inputs: Inputs) -> list[tuple[int, Patterns]]:
    """Ignore files between the repository's root and ``folder``, outermost first; none outside a repository."""
    above = []
    current = folder
    while True:
        if inputs.look(os.path.join(current, ".git")) != "-":
            break
        parent = os.path.dirname(current)
        if parent == current:
            return []
        above.append(parent)
        current = parent
    ignores = _ignore_file(current, os.path.join(".git", "info", "exclude"), inputs)
    for parent in reversed(above):
        ignores += _ignore_file(parent, ".gitignore", inputs)
    return ignores


def _ignore_file(folder: str, name: str, inputs: Inputs) -> list[tuple[int, Patterns]]:
    path = os.path.join(folder, name)
    try:
        with open(path, "rb") as file:
            stamp = stamp_of(os.fstat(file.fileno()))
            data = file.read(1 << 20)
    except OSError as error:
        inputs.looked[path] = "-"
        inputs.usable = inputs.usable and isinstance(error, (FileNotFoundError, NotADirectoryError))
        return []
    inputs.files[path] = (stamp, digest(data) if len(data) < 1 << 20 else "")
    patterns = Patterns(data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return [(len(folder.rstrip(os.sep)) + 1, patterns)] if patterns else []


def repository_root(folder: Path) -> Path | None:
    """The nearest folder at or above ``folder`` that holds a ``.git``."""
    for parent in (folder, *folder.parents):
        if os.path.exists(parent / ".git"):
            return parent
    return None
