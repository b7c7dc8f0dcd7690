"""Symbols that have no partner: calls of what no export is named, and exports that nobody calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.linking.crate import Export

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: Symbol names that are put together at run time.
_BUILT = regex(rb"""["']cutile_(?:\{|["']\s*(?:\+|%|\.join)|%s)""")
#: and names of exports that a macro puts together (``paste!``, ``concat!``)
_PUT_TOGETHER = regex(rb"\bfn\s+\[<|\bexport_name\s*=\s*concat!")
_SKIPPED = frozenset(["tests", "test", "__pycache__"])


def calls_without_export(unit: KernelUnit) -> Iterator[tuple[Launch, Place]]:
    """Launches of symbols that no file of the found crate exports, with the place of the name; one per symbol."""
    if unit.layout.library is None:
        return
    seen: set[str] = set()
    for launch in unit.launches:
        symbol = launch.symbol
        if symbol in seen or not symbol.startswith("cutile_"):
            continue
        seen.add(symbol)
        if symbol not in unit.layout.exports and symbol not in unit.exports and not _made_in_crate(unit, symbol):
            yield launch, _name_place(launch)


def _name_place(launch: Launch) -> Place:
    node = launch.event.node
    if isinstance(node, syntax.Call) and isinstance(node.func, syntax.Attr):
        return Place(launch.place.source, node.func.name_span)
    return launch.place


def _made_in_crate(unit: KernelUnit, symbol: str) -> bool:
    """A file of the crate names the symbol outside of comments and texts: a macro may make the export."""
    workspace = unit.program.workspace
    word = re.compile(rb"\b" + re.escape(symbol.encode()) + rb"\b")
    library = unit.layout.library
    assert library is not None
    folders = dict.fromkeys([library.parent, library.parent.parent, library.parent.parent.parent])
    if unit.layout.wrapper is not None:
        beside = workspace.entries(unit.layout.wrapper.parent)
        folders.update(dict.fromkeys(folder for folder in beside if folder.name.endswith("_kernel")))
    paths = [path for folder in folders for path in workspace.entries(folder) if path.suffix == ".rs"]
    for path in dict.fromkeys([library, *unit.layout.rust, *paths]):
        source = workspace.source(path)
        if source is not None and source.matches(_PUT_TOGETHER):
            return True
        if source is None or not source.matches(word):
            continue
        module = unit.program.module(path)
        if module is None or module.faults or module.refused:
            return True
        for node in module.walk():
            if (isinstance(node, syntax.Name) and node.last == symbol) or (
                isinstance(node, syntax.Function) and node.name == symbol
            ):
                return True
    return False


def exports_without_caller(unit: KernelUnit) -> Iterator[Export]:
    """Exports of the found crate that no Python file of the package calls."""
    library = unit.layout.library
    if library is None:
        return
    launched = {launch.symbol for launch in unit.launches}
    for export in unit.exports.values() if unit.layout.wrapper is None else unit.crate.exports:
        if export.symbol in launched or not export.symbol.startswith("cutile_") or not _is_exported(export):
            continue
        if not _called_in_crate(unit, export) and not _called_in_python(unit, export.symbol, library):
            yield export


def _is_exported(export: Export) -> bool:
    texts = [attribute.path + attribute.text for attribute in export.function.attributes]
    return any("no_mangle" in text or "export_name" in text for text in texts)


def _called_in_crate(unit: KernelUnit, export: Export) -> bool:
    for module in unit.rust_modules:
        for node in module.walk():
            if isinstance(node, syntax.Name) and node.last == export.function.name:
                if Place(module.source, node.span) != export.place:  # where a macro gets it to make the export
                    return True
    return False


def _called_in_python(unit: KernelUnit, symbol: str, library: Path) -> bool:
    """A Python file of the package names the symbol as code does, cannot be read, or builds names of symbols."""
    workspace = unit.program.workspace
    word = re.compile(rb"\b" + re.escape(symbol.encode()) + rb"\b")
    for path in _python_files(unit, library):
        source = workspace.source(path)
        if source is None:
            continue
        if source.matches(_BUILT):
            return True
        if source.matches(word):
            module = unit.program.module(path)
            if module is None or module.faults or module.refused:
                return True
            for node in module.walk():
                if isinstance(node, syntax.Attr) and node.name == symbol:
                    return True
                if isinstance(node, syntax.Const) and node.value == symbol and _is_looked_up(module, node):
                    return True
    return False


def _is_looked_up(module: syntax.Module, text: syntax.Const) -> bool:
    """A text that is the symbol counts when the module looks names up in a library."""
    return any(isinstance(node, syntax.Name) and node.id == "getattr" for node in module.walk())


def _python_files(unit: KernelUnit, library: Path) -> Iterator[Path]:
    """Python files of the packages around the crate: its folder's siblings and everything below them."""
    workspace = unit.program.workspace
    crate = library.parent.parent if library.parent.name == "src" else library.parent
    base = crate.parent
    if workspace.exists(base.parent / "__init__.py") and not workspace.exists(base / "__init__.py"):
        base = base.parent
    yield from _below(unit, base, 4)
    if unit.layout.wrapper is not None and base not in unit.layout.wrapper.parents:
        yield from _below(unit, unit.layout.wrapper.parent, 2)


def _below(unit: KernelUnit, folder: Path, depth: int) -> Iterator[Path]:
    for path in unit.program.workspace.entries(folder):
        if path.suffix == ".py":
            yield path
        elif depth and not path.suffix and path.name not in _SKIPPED and not path.name.startswith("."):
            yield from _below(unit, path, depth - 1)
