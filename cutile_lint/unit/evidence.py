"""Reference evidence: what the kernel that was ported does, by variant and architecture.

Strongest first: ``analysis.json``; reference IR; the same op registered for another backend. Without any, ``unit.reference`` is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.frontends.ir import IrEntry, parse_ir
from cutile_lint.frontends.reference import read_analysis
from cutile_lint.frontends.reference.analysis import Analysis, Variant
from cutile_lint.frontends.reference.configs import COMPILE_OPTIONS, ReferenceConfig
from cutile_lint.sources import Place, Source, Span
from cutile_lint.unit.architecture import (
    KNOWN,
    Arch,
    ArchFolder,
    commented_arch,
    label,
    parse_arch,
    speaks_of_device,
    text_condition_fits,
)
from cutile_lint.unit.config_names import config_names
from cutile_lint.unit.configs import configs_of
from cutile_lint.unit.evidence_files import find_analysis, find_reference_ir, find_registrations
from cutile_lint.unit.flags import agreement
from cutile_lint.unit.machine.values import Condition, Known, Value
from cutile_lint.unit.reference_run import KernelUse, ReferenceRun, TunedConfig, accesses, function_around, run_reference

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit
    from cutile_lint.unit.tensors import Tensors

OWN_BACKEND = "cutile-rs"
_ANALYSIS, _IR, _PYTHON = "analysis.json", "reference IR", "reference op"


@dataclass(frozen=True, slots=True)
class ReferenceValue:
    """What the reference gives to an option. ``value`` None: left to the compiler (auto)."""

    value: int | None
    place: Place
    condition: str = ""
    variant: str = ""


@dataclass(slots=True, eq=False)
class ReferenceVariant:
    """One kernel of the reference for the target.

    ``configs``: what it is tuned over (``tuned``) or launched with, names in their common form (:mod:`config_names`), options among them;
    None when they are not known. ``condition``: when it runs, over the op's parameters. ``speaks``: options that the evidence covers.
    """

    name: str
    kernel: str
    source: str
    place: Place
    condition: Condition = ()
    configs: list[ReferenceConfig] | None = None
    tuned: bool = False
    dispatch: str = ""
    loads: list[ReferenceValue] = field(default_factory=list)
    stores: list[ReferenceValue] = field(default_factory=list)
    uses_views: bool | None = None
    config_function: str = ""

    def values(self, option: str) -> list[ReferenceValue]:
        """The option's value in each config, equal ones once; empty when the configs are not known."""
        found: dict[int | None, ReferenceValue] = {}
        for config in self.configs or []:
            value = config.explicit(option)
            found.setdefault(value, ReferenceValue(value, config.at(option), config.condition, self.name))
        return list(found.values())

    @property
    def words(self) -> frozenset[str]:
        """What its names say: ``static``, ``persistent``, ``nonpersistent``…"""
        return words_of(self.name, self.kernel, self.config_function)


def words_of(*names: str) -> frozenset[str]:
    """Words of names that tell variants apart; "non" and "not" bind to the next word."""
    text = "_".join(name.lower() for name in names)
    text = re.sub(r"(?<![a-z])(non|not)_", r"\1", text)
    return frozenset(word for word in re.split(r"[^a-z0-9]+", text) if word) - {
        "configs",
        "config",
        "autotune",
        "kernel",
        "get",
        "ct",
        "fn",
    }


class Reference:
    """All evidence about one op. ``variants`` are those of the strongest source that has any; options and latencies fall through."""

    def __init__(
        self, unit: KernelUnit, levels: list[list[ReferenceVariant]], python: ReferenceRun | None, analysis: Analysis | None
    ) -> None:
        self.unit = unit
        self.levels = levels
        self.python = python
        self.analysis = analysis

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
        """The variants that a wrapper's path may stand for: by the flags both test, then by names; all when nothing tells them apart."""
        variants = self.levels[level]
        if len(variants) < 2:
            return list(variants)
        scores = {id(one): agreement(path, one.condition) for one in variants}
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
    analysis = read_analysis(source) if source is not None else None
    if analysis is not None and analysis.faults:
        analysis = None
    python = _other_backend(unit) if wrapper is not None else None
    levels = [
        _analysis_variants(unit, analysis, arch) if analysis is not None else [],
        _ir_variants(unit, find_reference_ir(workspace, wrapper, exporting), arch),
        _python_variants(unit, python, arch) if python is not None else [],
    ]
    levels = [level for level in levels if level]
    return Reference(unit, levels, python, analysis) if levels else None


def _other_backend(unit: KernelUnit) -> ReferenceRun | None:
    assert unit.layout.wrapper is not None
    for path in find_registrations(unit.program.workspace, unit.layout.wrapper, unit.name, OWN_BACKEND):
        found = run_reference(unit.program, path, unit.name, OWN_BACKEND)
        if found is not None and found.uses:
            return found
    return None


def target_arch(unit: KernelUnit) -> Arch | None:
    """``target-arch``, else the one architecture that comments of the wrapper's config functions name."""
    if unit.settings.target_arch:
        return parse_arch(unit.settings.target_arch)
    found: set[Arch] = set()
    for run in unit.runs:
        for tuning in run.tunings:
            for config in configs_of(tuning) or []:
                function = function_around(unit.program, config.place)
                if config.place is not None and function is not None:
                    arch = commented_arch(config.place, _with_comments_above(config.place.source, function.span))
                    if arch is not None:
                        found.add(arch)
    return found.pop() if len(found) == 1 else None


def _with_comments_above(source: Source, span: Span) -> Span:
    """A function's span, and the comment rows right above it."""
    start = source.data.rfind(b"\n", 0, span.start) + 1
    while start:
        row = source.data.rfind(b"\n", 0, start - 1) + 1
        if not source.data[row:start].lstrip().startswith((b"#", b"@")):
            break
        start = row
    return Span(start, span.end)


def _common(config: ReferenceConfig) -> ReferenceConfig:
    """The config under common names."""
    names = config_names(config.values)
    return ReferenceConfig(
        {names[name]: value for name, value in config.values.items()},
        config.place,
        config.condition,
        config.variant,
        config.backend,
        {names[name]: place for name, place in config.places.items() if name in names},
        {names[name]: config.written.get(name, name) for name in config.values},
    )


# ── analysis.json ──────────────────────────────────────────────────────────


def _analysis_variants(unit: KernelUnit, analysis: Analysis, arch: Arch | None) -> list[ReferenceVariant]:
    label_ = _short(unit, analysis.source)
    variants = [_analysis_variant(unit, analysis, one, arch, label_) for one in analysis.variants]
    if not variants and (analysis.configs is not None or analysis.options):
        configs = [*analysis.configs_for(), *analysis.options]
        place = configs[0].place if configs else analysis.kernel_name.place
        chosen = _for_arch(configs, arch)
        return [ReferenceVariant(analysis.kernel_name.value, "", label_, place, (), chosen, analysis.is_autotuned)]
    return variants


def _analysis_variant(unit: KernelUnit, analysis: Analysis, one: Variant, arch: Arch | None, source: str) -> ReferenceVariant:
    tuned = analysis.configs_for(one.name.value)
    known = one.configs is not None or analysis.configs is not None
    configs: list[ReferenceConfig] | None = _for_arch(tuned, arch) if known and tuned else None
    if not configs:
        options = _for_arch([*one.options, *analysis.options], arch)
        configs = options or ([ReferenceConfig({}, one.place, variant=one.name.value)] if known else None)
    condition = dispatch_condition(unit, one.dispatch_condition.value)
    return ReferenceVariant(
        one.name.value, one.kernel_function.value, source, one.place, condition, configs, len(tuned) > 1, one.dispatch_condition.value,
        config_function=one.variant_type.value,
    )  # fmt: skip


def _for_arch(configs: list[ReferenceConfig], arch: Arch | None) -> list[ReferenceConfig]:
    kept = [config for config in configs if arch is None or text_condition_fits(config.condition, arch) is not False]
    return [_common(config) for config in kept]


def dispatch_condition(unit: KernelUnit, text: str) -> Condition:
    """A ``dispatch_condition`` (``not static_persistent``) as literals over the op's parameters; () when it is no expression of them."""
    from cutile_lint.frontends import python
    from cutile_lint.unit.machine.machine import Machine
    from cutile_lint.unit.machine.paths import literals
    from cutile_lint.unit.machine.python import PythonDialect
    from cutile_lint.unit.machine.scopes import Scope
    from cutile_lint.unit.machine.values import Term

    if not text or len(text) > 300:
        return ()
    source = Source(Path("dispatch_condition"), f"condition = ({text})\n".encode())
    module = python.parse(source)
    if module.faults or module.refused:
        return ()
    scope = Scope(source)
    for node in module.walk():
        if isinstance(node, syntax.Name) and node.id != "condition":
            scope.names[node.id] = Term("input", node.id)
    Machine(PythonDialect(unit.program)).load(module, scope)
    value = scope.names.get("condition")
    return literals(value, True) if value is not None else ()


# ── reference IR ───────────────────────────────────────────────────────────


def _ir_variants(unit: KernelUnit, paths: dict[str, Path], arch: Arch | None) -> list[ReferenceVariant]:
    found = []
    for name, path in paths.items():
        source = unit.program.workspace.source(path)
        module = parse_ir(source) if source is not None else None
        for entry in module.entries if module is not None else []:
            assert source is not None
            found.append(_ir_variant(unit, name, entry, source, arch))
    return found


def _ir_variant(unit: KernelUnit, name: str, entry: IrEntry, source: Source, arch: Arch | None) -> ReferenceVariant:
    key = f"sm_{arch[0]}{arch[1]}" if arch is not None else next((arch for arch in entry.hints.by_arch), "default")
    values: dict[str, object] = {}
    places: dict[str, Place] = {}
    for option in COMPILE_OPTIONS:
        hint = entry.hints.get(option, key)
        if hint is not None and type(hint.value) is int:
            values[option], places[option] = hint.value, Place(source, hint.span)
    place = Place(source, entry.name_span)
    variant = ReferenceVariant(
        name or entry.name, entry.name, _short(unit, source), place, (), [ReferenceConfig(values, place, "", name, "", places)]
    )
    for access in entry.accesses:
        if access.kind in ("load", "store"):
            latencies = variant.loads if access.kind == "load" else variant.stores
            latencies.append(ReferenceValue(access.latency(key), Place(source, access.span), "", variant.name))
    variant.uses_views = entry.uses_views
    return variant


# ── another backend ────────────────────────────────────────────────────────


def _python_variants(unit: KernelUnit, run: ReferenceRun, arch: Arch | None) -> list[ReferenceVariant]:
    tuned = {id(use.kernel) for use in run.uses if use.tuned}
    found: dict[tuple[int, object], ReferenceVariant] = {}
    for use in run.uses:
        if not use.tuned and id(use.kernel) in tuned:
            continue  # the untuned fallback of a tuned kernel
        variant = _python_variant(unit, run, use, arch)
        known = found.setdefault((id(use.kernel), use.place), variant)
        if known is not variant and known.configs is not None:
            known.configs = [*known.configs, *(variant.configs or [])] if variant.configs is not None else None
    return list(found.values())


def _python_variant(unit: KernelUnit, run: ReferenceRun, use: KernelUse, arch: Arch | None) -> ReferenceVariant:
    chosen = [config for config in use.configs if arch is None or ArchFolder(arch).holds(config.condition) is not False]
    configs = [_python_config(config, use) for config in chosen] if use.complete and chosen else None
    kernel = use.kernel
    variant = ReferenceVariant(
        kernel.function.name, kernel.function.name, _short(unit, use.place.source), use.place, use.condition, configs,
        use.tuned, config_function=use.config_function,
    )  # fmt: skip
    for kind, call, latency in accesses(kernel):
        place = Place(kernel.scope.source, call.span)
        value = _latency(latency, chosen)
        if value is not False:
            latencies = variant.loads if kind in ("load", "gather") else variant.stores
            latencies.append(ReferenceValue(value, place, "", variant.name))
        if kind in ("load", "gather"):
            variant.uses_views = bool(variant.uses_views) or kind == "load"
    return variant


def _latency(node: syntax.Expr | None, configs: list[TunedConfig]) -> int | None | bool:
    """A latency argument: a number, None for auto; False when it cannot be told."""
    if node is None or (isinstance(node, syntax.Const) and node.value is None):
        return None
    if isinstance(node, syntax.Const) and type(node.value) is int:
        return node.value if node.value > 0 else None
    if isinstance(node, syntax.Name) and configs:
        given = [config.fields.get(node.id) for config in configs]
        numbers = {value.value for value in given if isinstance(value, Known) and type(value.value) is int}
        if len(numbers) == 1 and all(isinstance(value, Known) for value in given):
            number = numbers.pop()
            return number if number > 0 else None
    return False


def _python_config(config: TunedConfig, use: KernelUse) -> ReferenceConfig:
    """The config's fields under common names, with the hints that its kernel really gets in place of fields of the same name."""
    fields: dict[str, Value] = dict(config.fields)
    names = config_names(fields)
    values: dict[str, object] = {}
    places: dict[str, Place] = {}
    written: dict[str, str] = {}
    hints = config_names(config.hints)
    for name, value in [
        *((name, value) for name, value in fields.items() if names[name] not in COMPILE_OPTIONS),
        *config.hints.items(),
    ]:
        common = names.get(name) or hints[name]
        written[common] = name
        if value.place is not None:
            places[common] = value.place
        if isinstance(value, Known):
            values[common] = value.value
        elif common in COMPILE_OPTIONS:
            values[common] = "unknown"
    return ReferenceConfig(values, config.place or use.place, label(config.condition), use.name, "", places, written)


def branches(config: TunedConfig) -> list[Arch]:
    """The known architectures that a config is offered on."""
    if not speaks_of_device(config.condition):
        return list(KNOWN)
    return [arch for arch in KNOWN if ArchFolder(arch).holds(config.condition) is not False]


def _short(unit: KernelUnit, source: Source) -> str:
    """The file as messages name it: its last three parts."""
    return "/".join(source.path.parts[-3:] if source.path.name != "analysis.json" else source.path.parts[-2:])
