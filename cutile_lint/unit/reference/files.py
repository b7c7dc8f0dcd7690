"""Where an op's reference evidence lies: ``analysis.json``, reference IR, and the same op registered for another backend."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cutile_lint.sources.discovery import SKIPPED_FOLDERS
from cutile_lint.sources.workspace import Workspace

#: backends whose wrappers are read as references, best first; others come after them
PREFERRED = ("cutile", "triton")
_BACKEND_FOLDERS = {"cutile": "cutile", "triton": "triton"}


def evidence_folders(wrapper: Path | None, exporting: list[Path]) -> Iterator[Path]:
    """Folders that may hold ``analysis.json`` or reference IR of the op, nearest first."""
    seen: set[Path] = set()
    for folder in dict.fromkeys([*(path.parent for path in exporting), *([wrapper.parent] if wrapper is not None else [])]):
        for candidate in (folder / "reference", folder, folder.parent / "reference"):
            if candidate not in seen:
                seen.add(candidate)
                yield candidate


def find_analysis(workspace: Workspace, wrapper: Path | None, exporting: list[Path], op: str) -> Path | None:
    """The op's ``analysis.json``. One that names another kernel belongs to a neighbour."""
    for folder in evidence_folders(wrapper, exporting):
        path = folder / "analysis.json"
        if workspace.exists(path) and _belongs(workspace, path, op):
            return path
    return None


def _belongs(workspace: Workspace, path: Path, op: str) -> bool:
    source = workspace.source(path)
    if source is None:
        return False
    named = re.search(rb'"(?:kernel_name|op_name|name)"\s*:\s*"([^"]+)"', source.data)
    folder = path.parent.parent.name if path.parent.name == "reference" else path.parent.name
    return named is None or _same(named.group(1).decode("utf-8", "replace"), op) or _same(folder.removesuffix("_kernel"), op)


def _same(first: str, second: str) -> bool:
    return first.removeprefix("get_").lower() == second.removeprefix("get_").lower()


def find_reference_ir(workspace: Workspace, wrapper: Path | None, exporting: list[Path]) -> dict[str, Path]:
    """``reference[_<variant>].mlir`` by variant ("" for the one without)."""
    for folder in evidence_folders(wrapper, exporting):
        if folder.name != "reference" or not workspace.exists(folder):
            continue
        found = {}
        for path in workspace.entries(folder):
            if path.suffix == ".mlir" and path.stem.startswith("reference"):
                found[path.stem.removeprefix("reference").lstrip("_")] = path
        if found:
            return found
    return {}


def find_registrations(workspace: Workspace, wrapper: Path, op: str, own_backend: str) -> list[Path]:
    """Files of neighbouring backend folders that register the same op, the best reference first (a look at bytes only)."""
    named, backend = rb"[\"']" + re.escape(op.encode()) + rb"[\"']", rb"[\"']([\w-]+)[\"']"
    positional = rb"(?:name\s*=\s*)?" + named + rb"\s*,\s*(?:backend\s*=\s*)?" + backend
    pattern = re.compile(rb"\w\(\s*(?:" + positional + rb"|backend\s*=\s*" + backend + rb"\s*,\s*name\s*=\s*" + named + rb")")
    found: list[tuple[int, Path]] = []
    for folder in _backend_folders(workspace, wrapper):
        for path in _candidates(workspace, folder, wrapper):
            source = workspace.source(path)
            if source is None:
                continue
            backends = source.tells(_backends, pattern, op.encode()) - {own_backend}
            if backends:
                found.append((min(_rank(backend) for backend in backends), path))
                if path.name == wrapper.name:
                    break
    return [path for _, path in sorted(found, key=lambda item: item[0])]


def _backends(data: bytes, pattern: re.Pattern[bytes], op: bytes) -> set[str]:
    if b"register_impl" not in data or op not in data:
        return set()
    return {(first or second).decode() for first, second in pattern.findall(data)}


def _rank(backend: str) -> int:
    return PREFERRED.index(backend) if backend in PREFERRED else len(PREFERRED)


def _backend_folders(workspace: Workspace, wrapper: Path) -> list[Path]:
    """Sibling folders of the wrapper's package, the known backends only (others have tuners of their own)."""
    own = wrapper.parent
    while own.name not in ("cutile_rs", "cutile-rs") and own.parent != own and workspace.exists(own.parent / "__init__.py"):
        own = own.parent
    base = own.parent if own.name in ("cutile_rs", "cutile-rs") else wrapper.parent.parent
    folders = [place / name for place in (base, wrapper.parent) for name in _BACKEND_FOLDERS]
    inner = wrapper.parent.relative_to(own) if own.name.startswith("cutile") else Path()
    return [folder / inner if workspace.exists(folder / inner) else folder for folder in folders if workspace.exists(folder)]


def _candidates(workspace: Workspace, folder: Path, wrapper: Path) -> Iterator[Path]:
    """The file of the wrapper's name first, then the rest of the folder and of its folders."""
    same = folder / wrapper.name
    if wrapper.stem not in ("wrapper", "__init__") and workspace.exists(same):
        yield same
    for path in workspace.entries(folder):
        if path.suffix == ".py" and path != same:
            yield path
        elif not path.suffix and path.name not in SKIPPED_FOLDERS and not path.name.startswith((".", "_")):
            yield from (inner for inner in workspace.entries(path) if inner.suffix == ".py")
