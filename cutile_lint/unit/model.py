"""The kernel unit: one op with its layers, and what rules ask about it.

Everything is computed on first use. Answers come in three kinds: yes, no, and "not known" (None, an empty list, or a gap in a trace).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.regex import regex
from cutile_lint.sources import Source
from cutile_lint.sources.watch import Watch, know_nothing, looked
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.linking.crate import Crate, Entry, Export
from cutile_lint.unit.linking.layout import OpFiles
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.runs import EntryRun, ExportRun, Run, run_entry, run_export

if TYPE_CHECKING:
    from cutile_lint.config.settings import Settings
    from cutile_lint.frontends.manifest import Manifest
    from cutile_lint.frontends.versions import Version
    from cutile_lint.unit.boundary.slots import Boundary
    from cutile_lint.unit.device.effects import BufferUse, Effects
    from cutile_lint.unit.device.kernel import Kernel
    from cutile_lint.unit.device.types import DeviceFunction
    from cutile_lint.unit.generated.ir import GeneratedIr
    from cutile_lint.unit.linking.health import Health
    from cutile_lint.unit.machine.values import Value
    from cutile_lint.unit.options.arguments import OptionArgument
    from cutile_lint.unit.reference.evidence import Reference
    from cutile_lint.unit.reference.kernels import EntryReference
    from cutile_lint.unit.suite.questions import OpSuite
    from cutile_lint.unit.timed.percall import CallWork
    from cutile_lint.unit.timed.region import TimedWork
    from cutile_lint.unit.transposes.copies import TransposedCopy
    from cutile_lint.unit.transposes.flags import IgnoredFlag
    from cutile_lint.unit.transposes.owners import TransposedTwice

#: A crate root without these only says which files there are.
_DEFINES = regex(rb"\bfn\s+\w|\bmacro_rules!")


class KernelUnit:
    """One op (or, for a file that is no op yet, that file) with everything that belongs to it."""

    def __init__(self, name: str, files: OpFiles, program: Program, settings: Settings, runs: list[Run]) -> None:
        self.name = name
        self.layout = files
        self.program = program
        self.settings = settings
        self.runs = runs
        #: what its runs looked at, where somebody wants to know
        self.entered: Watch | None = None
        self._find_siblings: Callable[[], list[KernelUnit]] = lambda: [self]
        self._entry_references: dict[str, EntryReference | None] = {}

    def __repr__(self) -> str:
        return f"KernelUnit({self.name!r})"

    @property
    def siblings(self) -> list[KernelUnit]:
        """The ops of the same wrapper, this one among them: they share its helpers."""
        found = self._find_siblings()
        if len(found) > 1:
            know_nothing()
        for unit in found if len(found) > 1 else ():
            for one in unit.entered.looked if unit.entered is not None else ():
                looked(one)
        return found

    def knows(self, layer: str, needs: Iterable[str] = ()) -> bool:
        """Whether silence of a rule of this layer means *no*: everything was followed and its evidence is there."""
        from cutile_lint.unit.linking.completeness import followed

        return followed(self, layer, needs)

    # ── files ──

    @property
    def wrapper(self) -> Source | None:
        """The Python module that registers the op."""
        return self.program.workspace.source(self.layout.wrapper) if self.layout.wrapper is not None else None

    @cached_property
    def python_modules(self) -> list[syntax.Module]:
        """The wrapper and the project modules that the op's runs went through, the wrapper first."""
        paths: dict[Path, None] = {}
        if self.layout.wrapper is not None:
            paths[self.layout.wrapper] = None
        for run in self.runs:
            paths.update((stop.source.path, None) for event in run.trace.events for stop in event.stack)
        return [module for path in paths if (module := self.program.module(path)) is not None]

    @cached_property
    def rust_modules(self) -> list[syntax.Module]:
        """The op's Rust files, exporting ones first, shared ones last; the crate root among them when it defines something."""
        paths, root = self.layout.rust, self.layout.root
        source = self.program.workspace.source(root) if root is not None else None
        if root is not None and source is not None and source.matches(_DEFINES):
            paths = [*paths, root]
        return [module for path in paths if (module := self.program.module(path)) is not None]

    @cached_property
    def files(self) -> list[Source]:
        """All sources that were parsed for the unit."""
        return [module.source for module in (*self.python_modules, *self.rust_modules)]

    @property
    def modules(self) -> Iterator[syntax.Module]:
        yield from self.python_modules
        yield from self.rust_modules

    # ── the Rust side ──

    @cached_property
    def crate(self) -> Crate:
        return self.program.crate(self.rust_modules)

    @cached_property
    def exports(self) -> dict[str, Export]:
        """The exports that the op's symbols mean, by symbol."""
        found: dict[str, Export] = {}
        for export in self.crate.exports:
            expected = self.layout.exports.get(export.symbol)
            if expected is None or expected == export.place.path:
                found.setdefault(export.symbol, export)
        return found

    def export_run(self, export: Export) -> ExportRun:
        return self.crate.once(("export", id(export)), lambda: run_export(export, self.crate))

    def entry_run(self, entry: Entry) -> EntryRun:
        return self.crate.once(("entry", entry.name), lambda: run_entry(entry, self.crate))

    @property
    def entries(self) -> list[Entry]:
        """Device entries of the unit's own files (kernel.rs)."""
        return list(self.crate.entries.values())

    # ── launches ──

    @cached_property
    def launches(self) -> list[Launch]:
        """FFI launches of all runs, in order."""
        return [launch for run in self.runs for launch in run.launches]

    @cached_property
    def launched_exports(self) -> list[Export]:
        """The exports that the wrapper launches; without a wrapper all exports of the unit."""
        if not self.runs:
            return list(self.exports.values())
        symbols = dict.fromkeys(launch.symbol for launch in self.launches)
        return [self.exports[symbol] for symbol in symbols if symbol in self.exports]

    # ── the boundary and the compile options ──

    @cached_property
    def boundary(self) -> list[Boundary]:
        """The boundary map of each launched export."""
        from cutile_lint.unit.boundary.slots import boundary_map

        return boundary_map(self)

    @cached_property
    def option_arguments(self) -> list[OptionArgument]:
        """What each launch gives to each compile option slot."""
        from cutile_lint.unit.options.arguments import option_arguments

        return list(option_arguments(self))

    # ── what launches do to buffers ──

    @cached_property
    def effects(self) -> Effects:
        """What launches read, write and accumulate into; answers by slot or tensor."""
        from cutile_lint.unit.device.effects import Effects

        return Effects(self)

    def buffer_use(self, launch: Launch, slot: int) -> BufferUse:
        """What a launch does to the buffer in a slot."""
        return self.effects.buffer_use(launch, slot)

    def tensor_use(self, launch: Launch, tensor: Value) -> BufferUse | None:
        """What a launch does to a tensor; None when the tensor is in none of its slots."""
        return self.effects.tensor_use(launch, tensor)

    def written_tensors(self, launch: Launch) -> list[Value] | None:
        """The tensors that a launch writes; None when that is not known."""
        return self.effects.tensors(launch, self.effects.written_slots(launch))

    def read_tensors(self, launch: Launch) -> list[Value] | None:
        """The tensors that a launch reads; None when that is not known."""
        return self.effects.tensors(launch, self.effects.read_slots(launch))

    # ── the device kernels ──

    @cached_property
    def target_version(self) -> Version:
        """The cutile version that the crate is written against; the oldest one when nothing names it."""
        from cutile_lint.frontends.manifest import target_version

        return target_version(self.manifest).version

    @cached_property
    def kernels(self) -> list[Kernel]:
        """The device entries with their loads, stores and persistent loops."""
        from cutile_lint.unit.device.kernel import Kernel

        return self.crate.once("kernels", lambda: [Kernel(self.entry_run(entry)) for entry in self.entries])

    @cached_property
    def device_functions(self) -> list[DeviceFunction]:
        """The functions inside of ``#[cutile::module]``s."""
        from cutile_lint.unit.device.types import device_functions

        return self.crate.once(device_functions, lambda: list(device_functions(self.crate)))

    # ── transposes ──

    @cached_property
    def transposed_twice(self) -> list[TransposedTwice]:
        """Tensors whose axes two layers exchange on one launch."""
        from cutile_lint.unit.transposes.owners import transposed_twice

        return list(transposed_twice(self.boundary, self.entry_run, self.program))

    @cached_property
    def transposed_copies(self) -> list[TransposedCopy]:
        """Tensors that the wrapper transposes and copies on their way to a launch."""
        from cutile_lint.unit.transposes.copies import transposed_copies

        return list(transposed_copies(self))

    @cached_property
    def ignored_transposes(self) -> list[IgnoredFlag]:
        """Transpose flags that the op or a variant of its export takes and does nothing with."""
        from cutile_lint.unit.transposes.flags import ignored_flags

        return list(ignored_flags(self))

    # ── the timed region ──

    @cached_property
    def timed_work(self) -> list[TimedWork]:
        """PyTorch's device work that the tuner measures, place by place."""
        from cutile_lint.unit.timed.region import timed_work

        return timed_work(self)

    # ── what could not be read, and what hangs together with nothing ──

    @cached_property
    def health(self) -> Health:
        """Syntax errors and refused files among all that was read for the unit."""
        from cutile_lint.unit.linking.health import Health

        return Health(self)

    @cached_property
    def manifest(self) -> Manifest | None:
        """The crate's ``Cargo.toml``."""
        from cutile_lint.frontends.manifest import read_manifest

        path = self.layout.manifest
        source = self.program.workspace.source(path) if path is not None else None
        return self.program.once((read_manifest, path), lambda: read_manifest(source)) if source is not None else None

    # ── generated IR ──

    @cached_property
    def generated(self) -> GeneratedIr:
        """The Tile IR that was generated from the op's kernels; empty without any."""
        from cutile_lint.unit.generated.ir import generated_ir

        return generated_ir(self)

    # ── the tests ──

    @cached_property
    def suite(self) -> OpSuite:
        """The project's tests of the op."""
        from cutile_lint.unit.suite.questions import OpSuite

        return OpSuite(self)

    # ── the reference ──

    @cached_property
    def reference(self) -> Reference | None:
        """What the ported kernel does, by variant and architecture; None without any evidence."""
        from cutile_lint.unit.reference.evidence import find_reference

        return find_reference(self)

    def entry_reference(self, entry: Entry) -> EntryReference | None:
        """The reference's kernels that stand behind a device entry; None without any evidence."""
        from cutile_lint.unit.reference.kernels import entry_reference

        if entry.name not in self._entry_references:
            self._entry_references[entry.name] = entry_reference(self, entry)
        return self._entry_references[entry.name]

    @cached_property
    def call_work(self) -> list[CallWork]:
        """PyTorch's work on the device on every call, outside of the timed region."""
        from cutile_lint.unit.timed.percall import find_call_work

        return list(find_call_work(self))
