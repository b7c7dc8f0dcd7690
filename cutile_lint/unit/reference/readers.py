"""The three kinds of evidence as variants: ``analysis.json``, reference IR, a run of the op of another backend."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.frontends.reference.configs import COMPILE_OPTIONS, ReferenceConfig
from cutile_lint.sources import Place, Source
from cutile_lint.unit.flows.config_names import config_names
from cutile_lint.unit.linking.architecture import Arch, ArchFolder, by_target, label, text_condition_fits
from cutile_lint.unit.machine.values import Condition, Known, Value
from cutile_lint.unit.reference.run import KernelUse, ReferenceRun, TunedConfig, accesses
from cutile_lint.unit.reference.variants import UNKNOWN, ReferenceValue, ReferenceVariant

if TYPE_CHECKING:
    from cutile_lint.frontends.ir import IrEntry
    from cutile_lint.frontends.reference.analysis import Analysis, Variant
    from cutile_lint.unit.model import KernelUnit


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


def analysis_variants(unit: KernelUnit, analysis: Analysis, arch: Arch | None) -> list[ReferenceVariant]:
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
        one.name.value, one.kernel_function.value, source, one.place, condition, configs, len(tuned) > 1,
        one.dispatch_condition.value,
        config_function=one.variant_type.value,
    )  # fmt: skip


def _for_arch(configs: list[ReferenceConfig], arch: Arch | None) -> list[ReferenceConfig]:
    kept = [config for config in configs if arch is None or text_condition_fits(config.condition, arch) is not False]
    return [_common(config) for config in kept]


def dispatch_condition(unit: KernelUnit, text: str) -> Condition:
    """A ``dispatch_condition`` (``not static_persistent``) as literals over the op's parameters; () for what is no expression."""
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


def ir_variants(unit: KernelUnit, paths: dict[str, Path], arch: Arch | None) -> list[ReferenceVariant]:
    if not paths:
        return []
    found = []
    for name, path in paths.items():
        source = unit.program.workspace.source(path)
        module = unit.program.ir_module(path)
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


def python_variants(unit: KernelUnit, run: ReferenceRun, arch: Arch | None) -> list[ReferenceVariant]:
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
    configs = [_python_config(config, use, arch) for config in chosen] if use.complete and chosen else None
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


def _latency(node: syntax.Expr | None, configs: list[TunedConfig]) -> int | bool | None:
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


def _python_config(config: TunedConfig, use: KernelUse, arch: Arch | None) -> ReferenceConfig:
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
        value = by_target(value, arch)
        if isinstance(value, Known):
            values[common] = value.value
        elif common in COMPILE_OPTIONS:
            values[common] = UNKNOWN
    return ReferenceConfig(values, config.place or use.place, label(config.condition), use.name, "", places, written)


def _short(unit: KernelUnit, source: Source) -> str:
    """The file as messages name it: its last three parts."""
    return "/".join(source.path.parts[-3:] if source.path.name != "analysis.json" else source.path.parts[-2:])
