"""Whether an op is reachable: its module in the crate root, its import in the package, its registration."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source, Span
from cutile_lint.sources.lines import line_end
from cutile_lint.unit.linking.rust_imports import included

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


#: A crate of more files than this is not followed.
_MAX_FILES = 300


@dataclass(frozen=True, slots=True)
class NotRegistered:
    place: Place
    message: str
    related: tuple[tuple[Place, str], ...] = ()
    fix: Fix | None = None


def not_registered(unit: KernelUnit) -> Iterator[NotRegistered]:
    if unit.wrapper is None or not unit.launches:
        return
    yield from _in_library(unit)
    yield from _in_package(unit)
    yield from _as_implementation(unit)


# ── the crate root ─────────────────────────────────────────────────────────


def _in_library(unit: KernelUnit) -> Iterator[NotRegistered]:
    path = unit.layout.library
    library = unit.program.module(path) if path is not None else None
    if library is None or library.faults or path is None:
        return
    included = unit.program.once((_reached, path), lambda: _reached(unit, path))
    if included is None:
        return
    for export in unit.launched_exports:
        own = export.place.path
        if own == path or own in included:
            continue
        if any(node.body is None and node.name == own.stem for node in library.walk() if isinstance(node, syntax.ModuleDef)):
            continue
        yield NotRegistered(
            Place(library.source, _first_line(library.source)),
            f"the crate root does not include `{own.parent.name}/{own.name}`: the library has no `{export.symbol}`",
            ((export.place, "the export"),),
            _add_module(unit, library, own),
        )


#: what makes a Rust file bring in others
_NAMES_FILES = regex(rb"\binclude!|\bmod\s+\w+\s*;|#\[path\b")


def _reached(unit: KernelUnit, library: Path) -> set[Path] | None:
    """The files that the crate root includes or declares as modules, and those that they do; None when some cannot be told."""
    reached, waiting = {library}, [library]
    while waiting:
        path = waiting.pop()
        source = unit.program.workspace.source(path)
        if source is not None and path != library and not source.matches(_NAMES_FILES):
            continue  # other ops' kernels and exports need not be parsed for this
        module = unit.program.module(path)
        if module is None:
            continue
        if len(reached) > _MAX_FILES or (_dynamic(module) if path == library else module.source.has(b"include!(concat!")):
            return None
        found = list(_included(module, path))
        for node in module.walk():
            if isinstance(node, syntax.ModuleDef) and node.body is None and not node.path:
                found += _files_of(unit, path, node.name, path == library)
        waiting += [other for other in dict.fromkeys(found) if other not in reached and unit.program.workspace.exists(other)]
        reached.update(found)
    return reached


def _files_of(unit: KernelUnit, path: Path, name: str, is_root: bool) -> list[Path]:
    """Where ``mod name;`` in a file may have its own."""
    folders = [path.parent] if is_root or path.name == "mod.rs" else [path.parent / path.stem, path.parent]
    places = [place for folder in folders for place in (folder / f"{name}.rs", folder / name / "mod.rs")]
    return [place for place in places if unit.program.workspace.exists(place)][:1]


def _included(library: syntax.Module, path: Path) -> Iterator[Path]:
    names = [*included(library), *(node.path for node in library.nodes(syntax.ModuleDef) if node.body is None and node.path)]
    for name in names:
        yield Path(os.path.normpath(path.parent / name))


def _dynamic(library: syntax.Module) -> bool:
    """The crate root includes files by names that are put together (``concat!``, ``env!``) or through macros of its own."""
    data = library.source.data
    return any(word in data for word in (b"concat!", b"env!(", b"OUT_DIR", b"macro_rules!", b"automod"))


def _first_line(source: Source) -> Span:
    start = 3 if source.data.startswith(b"\xef\xbb\xbf") else 0
    end = next((at for at in source.line_starts[1:]), len(source.data))
    text = source.data[start:end].rstrip(b"\r\n")
    return Span(start, max(start + len(text), start + 1)) if source.data else Span(0, 0)


def _add_module(unit: KernelUnit, library: syntax.Module, own: Path) -> Fix | None:
    """``mod op { include!(kernel); include!(ffi); }`` at the end, when no module has the name."""
    source = library.source
    name = own.parent.name.removesuffix("_kernel") if own.name == "ffi.rs" else own.stem
    if not name.isidentifier() or any(isinstance(node, syntax.ModuleDef) and node.name == name for node in library.walk()):
        return None
    lines = []
    for path in (own.with_name("kernel.rs"), own):
        if unit.program.workspace.exists(path):
            lines.append(f'    include!("{Path(os.path.relpath(path, source.path.parent)).as_posix()}");')
    newline = source.newline
    added = newline + newline.join([f"mod {name} {{", *lines, "}"])
    text = added + newline if source.data.endswith(b"\n") else newline + added
    end = len(source.data)
    return Fix(f"add the module `{name}`", (Edit(source, end, end, text),), Applicability.UNSAFE)


# ── the package ────────────────────────────────────────────────────────────


def _in_package(unit: KernelUnit) -> Iterator[NotRegistered]:
    wrapper = unit.wrapper
    assert wrapper is not None
    package = wrapper.path.with_name("__init__.py")
    if wrapper.path.name == "__init__.py" or not unit.program.workspace.exists(package):
        return
    module = unit.program.module(package)
    if module is None or module.faults or not _registers(unit) or not module.body:
        return
    stem = wrapper.path.stem
    siblings = _imported(module)
    if stem in siblings or "*" in siblings or _imports_dynamically(module) or not siblings & _wrappers_beside(unit, wrapper.path):
        return
    if any(stem in _imported(other) for name in siblings if (other := _sibling(unit, wrapper.path, name)) is not None):
        return
    yield NotRegistered(
        Place(module.source, _import_span(module)),
        f"the package does not import `{stem}`: its op is never registered",
        ((Place(wrapper, _first_line(wrapper)), "the wrapper"),),
        _add_import(module, stem),
    )


def _registers(unit: KernelUnit) -> bool:
    return any(run.registered is not None for run in unit.runs)


def _imported(module: syntax.Module) -> set[str]:
    """Names that a module imports from its own package."""
    found: set[str] = set()
    for node in module.walk():
        if isinstance(node, syntax.Import):
            for name in node.names:
                parts = [part for part in name.module.split(".") if part]
                if node.level and not parts and name.name is not None:
                    found.add(name.name)
                elif parts:
                    found.add(parts[0] if node.level else parts[-1])
                    if not node.level and name.name is not None:
                        found.add(name.name)
    return found


def _imports_dynamically(module: syntax.Module) -> bool:
    words = (b"import_module", b"__import__", b"iter_modules", b"walk_packages", b"lazy", b"__getattr__", b"exec(")
    return any(module.source.has(word) for word in words)


def _wrappers_beside(unit: KernelUnit, wrapper: Path) -> set[str]:
    """Other modules of the folder that register an op: the package is one that imports its ops."""
    found = set()
    for path in unit.program.workspace.entries(wrapper.parent):
        if path.suffix == ".py" and path != wrapper:
            source = unit.program.workspace.source(path)
            if source is not None and source.has(b"register_impl"):
                found.add(path.stem)
    return found


def _sibling(unit: KernelUnit, wrapper: Path, name: str) -> syntax.Module | None:
    path = wrapper.with_name(f"{name}.py")
    return unit.program.module(path) if name.isidentifier() and unit.program.workspace.exists(path) else None


def _relative_imports(module: syntax.Module) -> list[syntax.Import]:
    found = [node for node in module.walk() if isinstance(node, syntax.Import) and node.level]
    return sorted(found, key=lambda node: node.span.start)


def _import_span(module: syntax.Module) -> Span:
    imports = _relative_imports(module)
    return imports[-1].span if imports else _first_line(module.source)


def _add_import(module: syntax.Module, stem: str) -> Fix | None:
    from cutile_lint.frontends.python import rewrite

    imports = _relative_imports(module)
    if not imports:
        return None
    comments = {_comment_behind(module.source, name.span.end) for node in imports for name in node.names}
    added = rewrite.insert_after(module, imports[-1], [f"from . import {stem}{comments.pop() if len(comments) == 1 else ''}"])
    return Fix(f"import `{stem}`", added.edits, Applicability.UNSAFE) if added is not None else None


# ── the registration ───────────────────────────────────────────────────────


def _as_implementation(unit: KernelUnit) -> Iterator[NotRegistered]:
    """A wrapper that launches kernels, in a package whose other modules register theirs, and registers nothing."""
    wrapper = unit.wrapper
    assert wrapper is not None
    if _registers(unit) or wrapper.has(b"register_impl") or wrapper.path.name.startswith("_"):
        return
    beside = _wrappers_beside(unit, wrapper.path)
    if not beside:
        return
    run = next((run for run in unit.runs if run.source.path == wrapper.path and not run.function.name.startswith("_")), None)
    if run is None:
        return
    yield NotRegistered(
        Place(wrapper, run.function.name_span or run.function.span),
        f"`{run.function.name}` launches a kernel and is registered for no op",
    )


def _comment_behind(source: Source, at: int) -> str:
    """The comment at the end of a name's line, with the blanks before it."""
    _, sign, comment = source.part(at, line_end(source, at)).rstrip().partition(b"#")
    return f"  {(sign + comment).decode()}" if sign else ""
