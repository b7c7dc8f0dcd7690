"""From paths to kernel units."""

from __future__ import annotations

from collections.abc import Container, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.sources.watch import apart
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit.linking.layout import Layout
from cutile_lint.unit.linking.program import Parsed, Program
from cutile_lint.unit.model import KernelUnit
from cutile_lint.unit.runs import Run, module_machine, registrations, run_registered, run_unregistered

if TYPE_CHECKING:
    from cutile_lint.config.settings import Settings

#: The backend that wrappers register for.
BACKEND = "cutile-rs"


#: Wrappers that are loaded, checked and let go together.
BATCH = 4


class Plan:
    """The ops that paths belong to, in batches that can be loaded one after the other, or in several processes.

    Finding them reads files and parses none. The last batch is that of the Rust files that no wrapper uses; it needs to know what
    the others covered (:attr:`covered`), so it comes last.
    """

    def __init__(self, workspace: Workspace, paths: Iterable[Path], settings: Settings, parsed: Parsed | None = None) -> None:
        self.workspace = workspace
        self.settings = settings
        markers = [name for role in ("autotune-launch", "bind-kernel-function-cffi") for name in settings.names(role)]
        self._layout = Layout(workspace, paths, markers, settings.root if settings.file is not None else None)
        wrappers = self.wrappers = self._layout.wrappers()
        self._batches = [wrappers[start : start + BATCH] for start in range(0, len(wrappers), BATCH)]
        self._parsed = parsed if parsed is not None else Parsed(passing=True)
        #: Rust files of the units loaded so far
        self.covered: set[Path] = set()

    def __len__(self) -> int:
        """Number of batches, that of the rest included."""
        return len(self._batches) + 1

    def program(self, parsed: Parsed | None = None) -> Program:
        """The files for one more run."""
        return Program(self.workspace, self.settings.runtime_names, parsed or self._parsed)

    def units_of(self, wrapper: Path, program: Program, only: Container[int] | None = None) -> list[KernelUnit]:
        """The units of one wrapper, as often as asked for: an editor's files change in between. ``only``: numbers of its ops."""
        return _wrapper_units(wrapper, self._layout, program, self.settings, only)

    def units_again(self, wrapper: Path, program: Program, units: Iterable[KernelUnit]) -> list[KernelUnit]:
        """The units of a wrapper on the runs that they had, when nothing has changed but Rust: the runs of Python know none of it."""
        again: list[KernelUnit] = []
        for unit in units:
            files = self._layout.files_of(wrapper, _modules(unit.runs))
            made = KernelUnit(unit.name, files, program, self.settings, unit.runs)
            made.entered, made._find_siblings = unit.entered, lambda: again
            again.append(made)
        return again

    def loose_units(self, covered: set[Path], parsed: Parsed | None = None) -> list[KernelUnit]:
        """The units of Rust files that no wrapper uses; ``covered`` are the Rust files of those that have one."""
        return _loose_units(covered, self._layout, self.program(parsed), self.settings)

    def units(self, number: int) -> list[KernelUnit]:
        """The units of a batch, partner files found and read; in order of their wrapper's path."""
        program = self.program()
        if number == len(self._batches):
            return _loose_units(self.covered, self._layout, program, self.settings)
        units = [
            unit for wrapper in self._batches[number] for unit in _wrapper_units(wrapper, self._layout, program, self.settings)
        ]
        for unit in units:
            self.covered.update(path for path in (*unit.layout.rust, unit.layout.library) if path is not None)
        return units


def load(workspace: Workspace, paths: Iterable[Path], settings: Settings) -> list[KernelUnit]:
    """All kernel units that the paths belong to; in order of their wrapper's path."""
    plan = Plan(workspace, paths, settings)
    return [unit for number in range(len(plan)) for unit in plan.units(number)]


def _wrapper_units(
    wrapper: Path, layout: Layout, program: Program, settings: Settings, only: Container[int] | None = None
) -> list[KernelUnit]:
    module = program.module(wrapper)
    if module is None or module.faults or module.refused:
        return [KernelUnit(wrapper.stem, layout.files_of(wrapper), program, settings, [])]
    unused = [module_machine(program, wrapper)]
    found = registrations(unused[0][1], program)
    names = [(at, one) for at, one in enumerate(found) if one.backend in (BACKEND, "")]
    if found and not names:
        return []
    if not names:
        with apart() as entered:
            loose = run_unregistered(program, wrapper)
        name = wrapper.parent.name if wrapper.stem in ("wrapper", "__init__") else wrapper.stem
        if not loose:
            files = layout.files_of(wrapper)
            return [KernelUnit(name, files, program, settings, [])] if files.exports else []
        whole = KernelUnit(name, layout.files_of(wrapper, _modules(loose)), program, settings, loose)
        whole.entered = entered
        return [whole]
    made: dict[int, KernelUnit] = {}

    def unit(number: int) -> KernelUnit:
        if number not in made:
            at, one = names[number]
            with apart() as entered:
                run = run_registered(program, wrapper, at, unused.pop() if unused else None)
            files = layout.files_of(wrapper, _modules([run]))
            made[number] = KernelUnit(one.name or one.closure.function.name, files, program, settings, [run])
            made[number].entered, made[number]._find_siblings = entered, siblings
        return made[number]

    def siblings() -> list[KernelUnit]:
        return [unit(number) for number in range(len(names))]

    return [unit(number) for number in range(len(names)) if only is None or number in only]


def _modules(runs: list[Run]) -> set[Path]:
    return {stop.source.path for run in runs for event in run.trace.events for stop in event.stack}


def _loose_units(covered: set[Path], layout: Layout, program: Program, settings: Settings) -> list[KernelUnit]:
    """Units of given Rust files that no wrapper uses (yet), one per exporting file; and of other files that belong to the domain."""
    covered = set(covered)
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
    return b"cutile" in data and (b'"C"' in data or b"::entry" in data or b"macro_rules!" in data)
