"""What lies beside the source: the built library, generated IR, the package and its tests."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from cutile_lint.checklist.context import Context, line_place
from cutile_lint.checklist.elf import NotElf, exported_functions
from cutile_lint.checklist.verdict import Evidence, Failed, Open, Shown
from cutile_lint.frontends import syntax
from cutile_lint.sources import Place

#: How far above a wrapper its tests may be.
_UP = 6


# ── the library ────────────────────────────────────────────────────────────


def artifact(context: Context) -> Iterator[Evidence]:
    unit = context.unit
    symbols = [export.symbol for export in unit.launched_exports]
    if not symbols:
        yield Open("no export was found")
        return
    folder = _crate(context)
    if folder is None:
        yield Open("no crate was found around the export")
        return
    wanted = f"lib{_library_name(context)}.so"
    path = next((one for one in _built(folder, wanted) if one.is_file()), None)
    if path is None:
        yield Open(f"not built: there is no `target/release/{wanted}`", path=folder)
        return
    try:
        found = exported_functions(path)
    except NotElf as problem:
        yield Failed(f"`{path.name}` cannot be read as an ELF library: {problem}", path=path)
        return
    for symbol in symbols:
        if symbol in found:
            yield Shown(f"`T {symbol}`", path=path)
        else:
            yield Failed(f"the library does not export `{symbol}`", path=path)
    layout = unit.layout
    sources = [one for one in (*layout.rust, layout.library, layout.manifest) if one is not None]
    yield from context.newer_than(path, sources)


def _crate(context: Context) -> Path | None:
    layout = context.unit.layout
    if layout.manifest is not None:
        return layout.manifest.parent
    return layout.library.parent.parent if layout.library is not None else None


def _library_name(context: Context) -> str:
    manifest = context.unit.manifest
    for setting in (manifest.lib_name, manifest.package_name) if manifest is not None else ():
        if setting is not None and isinstance(setting.value, str):
            return setting.value.replace("-", "_")
    return "cutile_kernels"


def _built(folder: Path, name: str) -> Iterator[Path]:
    """Where cargo puts the library: ``CARGO_TARGET_DIR``, the crate's own target, that of a workspace above it."""
    given = os.environ.get("CARGO_TARGET_DIR")
    if given:
        yield Path(given) / "release" / name
    for place in (folder, *list(folder.parents)[:3]):
        yield place / "target" / "release" / name


# ── the pipeline ───────────────────────────────────────────────────────────


def pipeline(context: Context) -> Iterator[Evidence]:
    test = _pipeline_test(context)
    if not context.generated:
        if test is not None:
            yield Open(f"`{test.name}` is there and nothing says that it ran: no `generated/*.mlir`", path=test)
        else:
            yield Open("neither a pipeline test nor `generated/*.mlir` was found")
        return
    wanted = {entry.name: entry for entry in context.entries}
    if not wanted:
        yield from context.kernel_gaps
    for path, module in context.generated:
        if module is None or module.faults or module.refused:
            yield Open("the generated IR could not be read", path=path)
            continue
        for one in module.entries:
            if wanted.pop(one.name, None) is not None:
                yield Shown(f"the generated IR holds `{one.name}`", Place(module.source, one.span))
                kernel = next(entry for entry in context.entries if entry.name == one.name)
                yield from context.newer_than(path, [kernel.source.path])
    for name in wanted:
        yield Open(f"the generated IR has no entry `{name}`", path=context.generated[0][0])


def _pipeline_test(context: Context) -> Path | None:
    names = {context.unit.name, *(folder.name.removesuffix("_kernel") for folder in context.folders)}
    names |= {folder.name for folder in context.folders}
    for folder in context.folders:
        for place in (folder, folder / "tests", folder.parent, folder.parent / "tests"):
            for name in sorted(names):
                path = place / f"{name}_pipeline.rs"
                if context.workspace.exists(path):
                    return path
    return None


# ── the package ────────────────────────────────────────────────────────────


def registration(context: Context) -> Iterator[Evidence]:
    unit = context.unit
    if unit.wrapper is None or not unit.runs:
        yield from context.wrapper_gaps
        return
    for run in unit.runs:
        if run.registered is None:
            yield Open(f"`{run.function.name}` is not registered with `register_impl`", Place(run.source, run.function.span))
        else:
            name = run.function.name_span or run.function.span
            told = f"registered as `{run.registered.name}` for `{run.registered.backend or 'cutile-rs'}`"
            yield Shown(told, Place(run.source, name))
    yield from _imported(context)
    yield from _included(context)


def _imported(context: Context) -> Iterator[Evidence]:
    wrapper = context.unit.wrapper
    assert wrapper is not None
    package = wrapper.path.with_name("__init__.py")
    if wrapper.path.name == "__init__.py":
        return
    module = context.unit.program.module(package) if context.workspace.exists(package) else None
    if module is None:
        yield Open("there is no package `__init__.py` beside the wrapper: whether it is imported is not known", path=wrapper.path)
        return
    word = re.compile(rf"\b{re.escape(wrapper.path.stem)}\b")
    for node in module.walk():
        if isinstance(node, syntax.Import) and word.search(Place(module.source, node.span).text):
            yield Shown("the package imports it", Place(module.source, node.span))
            return
    yield Open(f"how the package imports `{wrapper.path.stem}` was not seen", path=package)


def _included(context: Context) -> Iterator[Evidence]:
    library = context.unit.layout.library
    source = context.workspace.source(library) if library is not None else None
    if source is None:
        yield Open("no crate root (`lib.rs`) was found")
        return
    for path in dict.fromkeys(export.place.path for export in context.unit.launched_exports):
        relative = os.path.relpath(path, source.path.parent).replace(os.sep, "/")
        row = next((at for at in range(1, len(source.line_starts) + 1) if relative in source.line(at)), None)
        if path == library:
            continue
        if row is not None:
            yield Shown(f"the crate root includes `{relative}`", line_place(source, row))
        else:
            yield Open(f"how the crate root includes `{relative}` was not seen", path=library)


# ── tests ──────────────────────────────────────────────────────────────────


def op_tests(context: Context) -> Iterator[Evidence]:
    path = _test_file(context)
    if path is None:
        yield Open(f"no `test_{context.unit.name}.py` was found above the wrapper")
        return
    source = context.workspace.source(path)
    for row in range(1, len(source.line_starts) + 1) if source is not None else ():
        if re.search(r"cutile[-_]rs", source.line(row).split("#")[0]):  # type: ignore[union-attr]
            yield Shown("the op's tests name the backend", line_place(source, row))  # type: ignore[arg-type]
            return
    yield Open("the op's tests do not name cutile-rs", path=path)


def _test_file(context: Context) -> Path | None:
    wrapper = context.unit.layout.wrapper
    if wrapper is None:
        return None
    stem = wrapper.parent.name if wrapper.stem in ("wrapper", "__init__") else wrapper.stem
    names = dict.fromkeys([f"test_{context.unit.name.removeprefix('get_')}.py", f"test_{stem}.py"])
    for folder in list(wrapper.parents)[:_UP]:
        for place in (folder / "tests" / "ops", folder / "tests", folder):
            for name in names:
                if context.workspace.exists(place / name):
                    return place / name
    return None
