"""The project's test files around an op: which name it, and whether others are there. A look at names and bytes only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cutile_lint.records import dataclass, field
from cutile_lint.sources.discovery import SKIPPED_FOLDERS
from cutile_lint.sources.workspace import Workspace

#: more files than this are not looked through
LIMIT = 400
_DEPTH = 4
#: how far above the wrapper ``src`` is looked for
_ABOVE = 6
_FOLDERS = ("tests", "test")


@dataclass(slots=True)
class SuiteFiles:
    """``named`` after the op; ``all``: every test file of the package. ``complete``: not more than the limit."""

    named: list[Path] = field(default_factory=list)
    all: list[Path] = field(default_factory=list)
    complete: bool = True
    conftests: list[Path] = field(default_factory=list)
    #: the test folder that a file was found in
    roots: dict[Path, Path] = field(default_factory=dict)


def find_tests(workspace: Workspace, wrapper: Path, op: str) -> SuiteFiles:
    """Test files of the wrapper's package: in its test folders, beside the package, and beside the wrapper."""
    found = SuiteFiles()
    seen: set[Path] = set()
    for folder, depth in _folders(workspace, wrapper):
        if folder not in seen and workspace.exists(folder):
            seen.add(folder)
            for path in _python_below(workspace, folder, depth):
                if path.name == "conftest.py":
                    found.conftests.append(path)
                elif is_test_file(path):
                    found.all.append(path)
                    found.roots.setdefault(path, folder)
                if len(found.all) > LIMIT:
                    found.complete = False
                    return found
    found.all = list(dict.fromkeys(found.all))
    found.named = [path for path in found.all if _is_named(path, op)]
    return found


def is_test_file(path: Path) -> bool:
    return path.suffix == ".py" and (path.name.startswith("test_") or path.stem.endswith("_test"))


def plain_name(op: str) -> str:
    """The op's name as tests use it: a getter's name without ``get_``."""
    return op.removeprefix("get_")


def names(data: bytes, op: str) -> bool:
    """A text calls or imports the op: ``ops.<op>``, ``<op>(``, ``import <op>``, ``"<op>"``; not ``torch.<op>``."""
    word = plain_name(op).encode()
    if word not in data:
        return False
    pattern = rb"(?:\bops\.|\bimport\b[^\n]*\b|[\"'])(?:get_)?%s\b|(?<![\w.])(?:get_)?%s\(" % (re.escape(word), re.escape(word))
    return re.search(pattern, data) is not None


def _is_named(path: Path, op: str) -> bool:
    return plain_name(op) in path.stem


def package_of(workspace: Workspace, wrapper: Path) -> Path:
    """The folder of the outermost package that the wrapper is in (below ``src``, packages need no ``__init__.py``)."""
    top = wrapper.parent
    for folder in (top, *list(top.parents)[:_ABOVE]):
        if folder.parent.name == "src":
            return folder
    while workspace.exists(top / "__init__.py") and workspace.exists(top.parent / "__init__.py") and top.parent != top:
        top = top.parent
    return top


def _folders(workspace: Workspace, wrapper: Path) -> Iterator[tuple[Path, int]]:
    top = package_of(workspace, wrapper)
    bases = [wrapper.parent]
    while bases[-1] != top:
        bases.append(bases[-1].parent)
    bases.append(top.parent)
    if top.parent.name == "src":
        bases.append(top.parent.parent)
    yield wrapper.parent, 0
    for base in bases:
        for name in _FOLDERS:
            yield base / name, _DEPTH


def _python_below(workspace: Workspace, folder: Path, depth: int) -> list[Path]:
    """Python files of a test folder; walked once for all ops of a run."""
    trees: dict[tuple[Path, int], list[Path]] = workspace.__dict__.setdefault("test_trees", {})
    if (folder, depth) not in trees:
        trees[folder, depth] = list(_below(workspace, folder, depth))
    return trees[folder, depth]


def _below(workspace: Workspace, folder: Path, depth: int) -> Iterator[Path]:
    for path in workspace.entries(folder):
        if path.suffix == ".py":
            yield path
        elif depth and not path.suffix and path.name not in SKIPPED_FOLDERS and not path.name.startswith((".", "_")):
            yield from _below(workspace, path, depth - 1)
