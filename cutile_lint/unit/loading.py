"""From paths to kernel units."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit.layout import Layout, OpFiles
from cutile_lint.unit.model import KernelUnit
from cutile_lint.unit.program import Program
from cutile_lint.unit.runs import Run, module_machine, registrations, run_registered, run_unregistered

if TYPE_CHECKING:
    from cutile_lint.config.settings import Settings

#: The backend that wrappers register for.
BACKEND = "cutile-rs"


def load(workspace: Workspace, paths: Iterable[Path], settings: Settings) -> list[KernelUnit]:
    """The kernel units that the paths belong to, partner files found and read; in order of their wrapper's path."""
    program = Program(workspace, settings.runtime_names)
    markers = [name for role in ("autotune-launch", "bind-kernel-function-cffi") for name in settings.names(role)]
    layout = Layout(workspace, paths, markers)
    units: list[KernelUnit] = []
    for wrapper in layout.wrappers():
        units += _wrapper_units(wrapper, layout, program, settings)
    units += _loose_units(units, layout, program, settings)
    return units


def _wrapper_units(wrapper: Path, layout: Layout, program: Program, settings: Settings) -> list[KernelUnit]:
    module = program.module(wrapper)
    if module is None or module.faults or module.refused:
        return [KernelUnit(wrapper.stem, layout.files_of(wrapper), program, settings, [])]
    _, scope = module_machine(program, wrapper)
    found = registrations(scope, program)
    names = [(at, one) for at, one in enumerate(found) if one.backend in (BACKEND, "")]
    if found and not names:
        return []
    runs: list[tuple[str, Run]] = [(one.name or one.closure.function.name, run_registered(program, wrapper, at)) for at, one in names]
    if not runs:
        loose = run_unregistered(program, wrapper)
        name = wrapper.parent.name if wrapper.stem in ("wrapper", "__init__") else wrapper.stem
        if not loose:
            files = layout.files_of(wrapper)
            return [KernelUnit(name, files, program, settings, [])] if files.exports else []
        return [KernelUnit(name, layout.files_of(wrapper, _modules(loose)), program, settings, loose)]
    return [KernelUnit(name, layout.files_of(wrapper, _modules([run])), program, settings, [run]) for name, run in runs]


def _modules(runs: list[Run]) -> set[Path]:
    return {stop.source.path for run in runs for event in run.trace.events for stop in event.stack}


def _loose_units(units: list[KernelUnit], layout: Layout, program: Program, settings: Settings) -> list[KernelUnit]:
    """Units of given Rust files that no wrapper uses (yet), one per exporting file; and of other files that belong to the domain."""
    covered = {path for unit in units for path in (*unit.layout.rust, unit.layout.library) if path is not None}
    loose: list[KernelUnit] = []
    rust = [path for path in layout.given if path.suffix == ".rs" and path not in covered]
    for path in [*(path for path in rust if layout._exporting(path)), *rust]:
        if path in covered or not _is_op_file(layout.data(path)):
            continue
        files = layout.files_of_export(path)
        files.rust = files.rust or [path]
        covered.update(files.rust)
        loose.append(KernelUnit(path.parent.name.removesuffix("_kernel"), files, program, settings, []))
    return loose


def _is_op_file(data: bytes) -> bool:
    return b"cutile" in data and (b'extern "C"' in data or b"::entry" in data or b"macro_rules!" in data)


