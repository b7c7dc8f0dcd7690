"""Reference evidence: what the kernel that was ported does, by variant and architecture.

Strongest first: ``analysis.json``; reference IR; the same op registered for another backend. Without any,
``unit.reference`` is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.frontends.reference.configs import ReferenceConfig
from cutile_lint.sources import Source
from cutile_lint.unit.flows.flags import agreement, flag_literals
from cutile_lint.unit.linking.architecture import Arch
from cutile_lint.unit.linking.target import target_arch
from cutile_lint.unit.machine.values import Condition
from cutile_lint.unit.reference.files import find_analysis, find_reference_ir, find_registrations
from cutile_lint.unit.reference.readers import analysis_variants, ir_variants, python_variants
from cutile_lint.unit.reference.run import ReferenceRun, run_reference
from cutile_lint.unit.reference.variants import ReferenceValue, ReferenceVariant, words_of

if TYPE_CHECKING:
    from cutile_lint.frontends.reference.analysis import Analysis
    from cutile_lint.unit.model import KernelUnit
    from cutile_lint.unit.timed.tensors import Tensors

OWN_BACKEND = "cutile-rs"


class Reference:
    """All evidence about one op. ``variants`` are those of the strongest source that has any.

    Options and latencies are asked of the first source that says something about them.
    """

    def __init__(
        self, unit: KernelUnit, levels: list[list[ReferenceVariant]], python: ReferenceRun | None, analysis: Analysis | None
    ) -> None:
        self.unit = unit
        self.levels = levels
        self.python = python
        self.analysis = analysis
        self._matches: dict[tuple[int, tuple[object, ...], tuple[str, ...]], list[ReferenceVariant]] = {}

    @property
    def variants(self) -> list[ReferenceVariant]:
        return self.levels[0]

    @property
    def source(self) -> str:
        """What the strongest evidence is and where, for messages: ``ops/cutile/matmul.py``."""
        return self.variants[0].source

    @cached_property
    def target(self) -> Arch | None:
        """The architecture that the port is for; None: any branch of the reference will do."""
        return target_arch(self.unit)

    # ── variants ──

    def matching(self, path: Condition = (), names: Iterable[str] = (), level: int = 0) -> list[ReferenceVariant]:
        """The variants that a wrapper's path may stand for: by the flags both test, then by names; all when nothing tells."""
        variants = self.levels[level]
        if len(variants) < 2:
            return list(variants)
        plain = flag_literals(path)
        key = (level, tuple(literal.key() for literal in plain), tuple(names))
        if key not in self._matches:
            self._matches[key] = self._match(plain, key[2], level)
        return list(self._matches[key])

    def _match(self, path: Condition, names: tuple[str, ...], level: int) -> list[ReferenceVariant]:
        variants = self.levels[level]
        scores = {id(one): agreement(path, flag_literals(one.condition)) for one in variants}
        best = max(scores.values())
        if best:
            variants = [one for one in variants if scores[id(one)] == best]
        named = _by_name(variants, words_of(*names), self.levels[level]) if len(variants) > 1 else []
        return named or list(variants)

    def configs(self, variants: Sequence[ReferenceVariant] | str | None = None) -> list[ReferenceConfig]:
        """Configs of some variants (of one by name, or of all), names in their common form; empty when they are not known."""
        return [config for one in self._chosen(variants) for config in one.configs or []]

    def _chosen(self, variants: Sequence[ReferenceVariant] | str | None) -> Sequence[ReferenceVariant]:
        if variants is None:
            return self.variants
        if isinstance(variants, str):
            return [one for level in self.levels for one in level if one.name == variants]
        return variants

    # ── options ──

    def options(self, option: str, path: Condition | None = None, names: Iterable[str] = ()) -> list[ReferenceValue]:
        """What the reference gives to a compile option (on a wrapper's path): the first source that says something about it."""
        names = tuple(names)
        for level, variants in enumerate(self.levels):
            chosen = self.matching(path, names, level) if path is not None else variants
            if chosen and all(one.configs is not None for one in chosen):
                found: dict[tuple[int | None, str], ReferenceValue] = {}
                for one in chosen:
                    found.update({(value.value, value.variant): value for value in one.values(option)})
                if found:
                    return list(found.values())
        return []

    def is_auto(self, option: str, path: Condition | None = None, names: Iterable[str] = ()) -> bool | None:
        """The reference leaves the option to the compiler in every config (True), in none (False); None: mixed or not known."""
        answers = {value.value is None for value in self.options(option, path, names)}
        return answers.pop() if len(answers) == 1 else None

    # ── the kernel and its wrapper ──

    def latencies(self, kind: str = "load", path: Condition | None = None, names: Iterable[str] = ()) -> list[ReferenceValue]:
        """Latencies of tile loads (or ``kind`` "store"); a value of None is left to the compiler."""
        names = tuple(names)
        for level, variants in enumerate(self.levels):
            chosen = self.matching(path, names, level) if path is not None else variants
            found = [value for one in chosen for value in (one.loads if kind == "load" else one.stores)]
            if found:
                return found
        return []

    @cached_property
    def host_work(self) -> frozenset[tuple[str, str]] | None:
        """(kind, function name) of the device work that the reference's wrapper asks PyTorch for; None when that is not known."""
        from cutile_lint.unit.timed.percall import verb_of

        tensors = self.tensors
        return frozenset((work.kind, verb_of(work)) for work in tensors.works()) if tensors is not None else None

    @property
    def tensors(self) -> Tensors | None:
        """The PyTorch work of the reference's own wrapper; None when no wrapper was found."""
        return self.python.tensors if self.python is not None and not self.python.run.trace.gaps else None


def _by_name(variants: list[ReferenceVariant], words: frozenset[str], everyone: list[ReferenceVariant]) -> list[ReferenceVariant]:
    common = frozenset.intersection(*(one.words for one in everyone))
    scores = {id(one): len((one.words - common) & words) for one in variants}
    best = max(scores.values())
    return [one for one in variants if scores[id(one)] == best] if best else []


# ── making it ──────────────────────────────────────────────────────────────


def find_reference(unit: KernelUnit) -> Reference | None:
    """The op's reference evidence; None without any."""
    wrapper, exporting = unit.layout.wrapper, list(dict.fromkeys(unit.layout.exports.values()))
    workspace = unit.program.workspace
    arch = target_arch(unit)
    path = find_analysis(workspace, wrapper, exporting, unit.name)
    source = workspace.source(path) if path is not None else None
    analysis = _read(source) if source is not None else None
    python = _other_backend(unit) if wrapper is not None else None
    levels = [
        analysis_variants(unit, analysis, arch) if analysis is not None else [],
        ir_variants(unit, find_reference_ir(workspace, wrapper, exporting), arch),
        python_variants(unit, python, arch) if python is not None else [],
    ]
    levels = [level for level in levels if level]
    return Reference(unit, levels, python, analysis) if levels else None


def _read(source: Source) -> Analysis | None:
    from cutile_lint.frontends.reference import read_analysis

    analysis = read_analysis(source)
    return analysis if not analysis.faults else None


def _other_backend(unit: KernelUnit) -> ReferenceRun | None:
    program, op = unit.program, unit.name
    assert unit.layout.wrapper is not None
    for path in find_registrations(program.workspace, unit.layout.wrapper, op, OWN_BACKEND):

        def run(path: Path = path) -> ReferenceRun | None:
            return run_reference(program, path, op, OWN_BACKEND)

        found = program.once((run_reference, path, op), run)
        if found is not None and found.uses:
            return found
    return None
