"""The kernels of the reference that stand behind one device entry: how they access memory, with which latencies and math modes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source
from cutile_lint.unit.flows.conditions import admits
from cutile_lint.unit.linking.crate import Entry
from cutile_lint.unit.machine.values import Condition
from cutile_lint.unit.reference.files import find_reference_ir
from cutile_lint.unit.reference.run import KernelUse, accesses
from cutile_lint.unit.reference.variants import ReferenceVariant
from cutile_lint.unit.transposes.owners import path_of

if TYPE_CHECKING:
    from cutile_lint.frontends.ir import IrEntry
    from cutile_lint.frontends.ir.facts import Access
    from cutile_lint.unit.model import KernelUnit
    from cutile_lint.unit.reference.evidence import Reference

_VIEW_WORDS = regex(r"tma|view|load_view|store_view|tensor_view|partition|\bct\.load|\bload\b", re.IGNORECASE)
_POINTER_WORDS = regex(r"pointer|scatter|gather|ptr", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class ReferenceKernel:
    """``patterns``: "view" and "pointer" as far as they occur, empty when that is not known. ``no_tma``: kinds that refuse TMA."""

    variant: ReferenceVariant
    patterns: frozenset[str] = frozenset()
    no_tma: frozenset[str] = frozenset()
    ir: IrEntry | None = None
    ir_source: Source | None = None
    latencies: dict[str, list[int | None]] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        return self.variant.place


class EntryReference:
    """The evidence for one entry: kernels of each source, strongest first."""

    def __init__(self, levels: list[list[ReferenceKernel]]) -> None:
        self.levels = levels

    def patterns(self) -> tuple[frozenset[str], list[ReferenceKernel]]:
        """How all of its kernels access memory, by the first source that knows; (empty, []) when none does."""
        for kernels in self.levels:
            if kernels and all(one.patterns for one in kernels):
                return frozenset().union(*(one.patterns for one in kernels)), kernels
        return frozenset(), []

    def latencies(self, kind: str) -> tuple[set[int | None], list[ReferenceKernel]]:
        """Latencies of a kind by the first source that has any access of the kind."""
        for kernels in self.levels:
            having = [one for one in kernels if one.latencies.get(kind)]
            if having:
                return {value for one in having for value in one.latencies[kind]}, having
        return set(), []

    def refuses_tma(self, kind: str) -> bool:
        return any(kind in one.no_tma for kernels in self.levels for one in kernels)

    @property
    def irs(self) -> list[ReferenceKernel]:
        """The kernels of reference IR; empty when not all that may be meant have some."""
        for kernels in self.levels:
            if kernels and all(one.ir is not None for one in kernels):
                return kernels
        return []


def entry_reference(unit: KernelUnit, entry: Entry) -> EntryReference | None:
    """None without any evidence."""
    reference = unit.reference
    if reference is None:
        return None
    paths = list(_paths(unit, entry))
    files = _ir_entries(unit)
    levels = []
    for level in range(len(reference.levels)):
        found: dict[int, ReferenceVariant] = {}
        for path, names in paths or [((), (entry.name,))]:
            for one in reference.matching(path, names, level):
                found.setdefault(id(one), one)
        levels.append([_kernel(reference, one, files) for one in found.values()])
    return EntryReference(levels)


def _paths(unit: KernelUnit, entry: Entry) -> Iterator[tuple[Condition, tuple[str, ...]]]:
    """The wrapper's paths on which the entry is launched, with names that tell variants apart."""
    seen: set[object] = set()
    for boundary in unit.boundary:
        for kernel in boundary.run.launches:
            if kernel.entry is not entry:
                continue
            for launch in boundary.launches:
                condition = path_of(boundary, launch, kernel)
                path = (*launch.path, *condition)
                key = (id(launch), tuple(literal.key() for literal in path))
                if key not in seen and admits(condition, (), launch.path):
                    seen.add(key)
                    yield path, (entry.name, boundary.symbol)


def _ir_entries(unit: KernelUnit) -> dict[tuple[str, str], tuple[IrEntry, Source]]:
    """Entries of reference IR by (variant, kernel)."""
    found = {}
    exporting = list(dict.fromkeys(unit.layout.exports.values()))
    for name, path in find_reference_ir(unit.program.workspace, unit.layout.wrapper, exporting).items():
        module = unit.program.ir_module(path)
        source = unit.program.workspace.source(path)
        for entry in module.entries if module is not None else ():
            if source is not None:
                found[(name or entry.name, entry.name)] = (entry, source)
    return found


def _kernel(
    reference: Reference, variant: ReferenceVariant, files: dict[tuple[str, str], tuple[IrEntry, Source]]
) -> ReferenceKernel:
    latencies = {kind: [value.value for value in found] for kind, found in (("load", variant.loads), ("store", variant.stores))}
    if (ir := files.get((variant.name, variant.kernel))) is not None and ir[1] is variant.place.source:
        entry, source = ir
        kept = [access for access in entry.accesses if access.kind in ("load", "store")]
        key = f"sm_{target[0]}{target[1]}" if (target := reference.target) is not None else ""
        refused = frozenset(
            access.kind for access in kept if access.through == "view" and _hint(access, "allow_tma", key) is False
        )
        latencies = {
            kind: [_number(_hint(one, "latency", key)) for one in kept if one.kind == kind] for kind in ("load", "store")
        }
        return ReferenceKernel(variant, frozenset(access.through for access in kept), refused, entry, source, latencies)
    use = _use(reference, variant)
    if use is not None:
        found = list(accesses(use.kernel))
        through = frozenset("pointer" if kind in ("gather", "scatter") else "view" for kind, _, _ in found)
        refused = frozenset(kind for kind, call, _ in found if _says_no(call))
        return ReferenceKernel(variant, through, refused, None, None, latencies)
    return ReferenceKernel(variant, _by_words(reference, variant), frozenset(), None, None, latencies)


def _hint(access: Access, name: str, arch: str) -> object:
    """A hint of an access for the target; without a target the first architecture's that has it."""
    found = access.hints.get(name, arch)
    if found is None and not arch:
        return next(iter(access.hints.values(name).values()), None)
    return found.value if found is not None else None


def _number(value: object) -> int | None:
    return value if type(value) is int else None


def _use(reference: Reference, variant: ReferenceVariant) -> KernelUse | None:
    uses = reference.python.uses if reference.python is not None else []
    return next((use for use in uses if use.kernel.function.name == variant.kernel and use.place is variant.place), None)


def _says_no(call: syntax.Call) -> bool:
    return any(arg.name == "allow_tma" and isinstance(arg.value, syntax.Const) and arg.value.value is False for arg in call.args)


def _by_words(reference: Reference, variant: ReferenceVariant) -> frozenset[str]:
    """What ``analysis.json`` says about the pattern or the operations of its only kernel."""
    analysis = reference.analysis
    if analysis is None or len(analysis.variants) > 1:
        return frozenset()
    ops = " ".join(op.value for op in analysis.ops_used if re.search(r"load|store|gather|scatter", op.value))
    text = analysis.pattern.value or ops
    found = set()
    if _POINTER_WORDS.search(text):
        found.add("pointer")
    if _VIEW_WORDS.search(_POINTER_WORDS.sub("", re.sub(r"(?:load|store)_ptr\w*", "", text))):
        found.add("view")
    return frozenset(found)
