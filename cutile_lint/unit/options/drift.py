"""Configs of the wrapper beside those of the reference, variant by variant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cutile_lint.frontends.reference.configs import COMPILE_OPTIONS, ReferenceConfig
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.flows.config_names import config_names, is_tuned_elsewhere
from cutile_lint.unit.flows.configs import Config, configs_of
from cutile_lint.unit.linking.architecture import ArchFolder, device_tests
from cutile_lint.unit.linking.names import fits
from cutile_lint.unit.machine.trace import Tuning
from cutile_lint.unit.machine.values import Known
from cutile_lint.unit.reference.run import function_around
from cutile_lint.unit.reference.variants import ReferenceVariant

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit
    from cutile_lint.unit.reference.evidence import Reference

_AUTO = "auto"
#: one config's numbers, in the order of the compared names
Row = tuple[object, ...]


@dataclass(slots=True, eq=False)
class WrapperConfigs:
    """The wrapper's configs that stand for the same variants of the reference."""

    tuning: Tuning
    function: str
    variants: list[ReferenceVariant]
    configs: list[Config]

    @property
    def place(self) -> Place:
        return next((config.place for config in self.configs if config.place is not None), self.tuning.event.place)


@dataclass(slots=True, eq=False)
class Drift:
    """How the configs differ. ``changed``: (wrapper's config, nearest missing one, names that differ); ``missing`` has no counterpart."""

    group: WrapperConfigs
    variant: ReferenceVariant
    names: list[str]
    missing: list[ReferenceConfig]
    changed: list[tuple[Config, ReferenceConfig, list[str]]]
    total: int
    #: configs that both have
    matched: int = 0

    @property
    def only_smaller(self) -> bool:
        return not self.changed


def wrapper_configs(unit: KernelUnit, reference: Reference) -> Iterator[WrapperConfigs]:
    """The wrapper's static configs for the target, grouped by the reference's variants that they stand for."""
    folder = ArchFolder(reference.target) if reference.target is not None else None
    for run in unit.runs:
        for tuning in run.tunings:
            configs = configs_of(tuning)
            groups: dict[tuple[int, ...], WrapperConfigs] = {}
            for config in configs or []:
                if folder is not None and folder.holds(config.path) is False:
                    continue
                if folder is None and device_tests(config.path):
                    continue
                function = function_around(unit.program, config.place)
                name = function.name if function is not None else ""
                variants = reference.matching(tuning.event.path + config.path, (name,) if name else ())
                key = tuple(id(variant) for variant in variants)
                groups.setdefault(key, WrapperConfigs(tuning, name, variants, [])).configs.append(config)
            yield from groups.values()


def drifts(unit: KernelUnit, ignored: Sequence[str] = ()) -> Iterator[Drift]:
    """Groups whose configs lack some of the reference's; ``ignored`` are (patterns of) fields that are not compared."""
    reference = unit.reference
    if reference is None:
        return
    for group in wrapper_configs(unit, reference):
        found: list[Drift] = []
        for variant in group.variants:
            for configs in reference_branches(variant, reference):
                compared = _compare(group, variant, configs, ignored)
                if compared is None:
                    break
                found.append(compared)
            else:
                continue
            found = []
            break
        if found and all(drift.missing or drift.changed for drift in found):
            best = min(found, key=lambda drift: (-drift.matched, len(drift.missing) + 2 * len(drift.changed)))
            if best.matched or len(found) == 1:  # else it is open which branch the configs were made for
                yield best


def reference_branches(variant: ReferenceVariant, reference: Reference) -> list[list[ReferenceConfig]]:
    """The variant's configs; without a target one list for each branch, any of which will do."""
    if variant.configs is None:
        return []
    if reference.target is not None:
        return [variant.configs]
    by_condition: dict[str, list[ReferenceConfig]] = {}
    for config in variant.configs:
        by_condition.setdefault(config.condition, []).append(config)
    always = by_condition.pop("", [])
    return [always + configs for configs in by_condition.values()] or [always]


def _compare(
    group: WrapperConfigs, variant: ReferenceVariant, configs: list[ReferenceConfig], ignored: Sequence[str]
) -> Drift | None:
    """The difference; None when there is nothing to compare, or values are not known."""
    ours = [(config, _numbers(config)) for config in group.configs]
    own_names = [name for _, numbers in ours for name in numbers]
    names = [name for name in dict.fromkeys(own_names) if any(name in config.values for config in configs)]
    names = [name for name in names if name != "latency" and not is_tuned_elsewhere(name)]
    names = [name for name in names if not any(fits(one, ignored) for one in _spellings(name, group, configs))]
    if not any(name not in COMPILE_OPTIONS for name in names) or not configs:
        return None
    rows: list[tuple[Config, Row]] = [(config, tuple(numbers.get(name, _AUTO) for name in names)) for config, numbers in ours]
    theirs: list[tuple[ReferenceConfig, Row]] = [(config, tuple(_number(config, name) for name in names)) for config in configs]
    if any("unknown" in row for _, row in (*rows, *theirs)):
        return None
    have, wanted = {row for _, row in rows}, {row for _, row in theirs}
    missing = [(config, row) for config, row in _first(theirs) if row not in have]
    extra = [(config, row) for config, row in _first(rows) if row not in wanted]
    changed: list[tuple[Config, ReferenceConfig, list[str]]] = []
    for config, row in extra:
        near = min(missing, key=lambda item: _distance(item[1], row), default=None)
        if near is None or _distance(near[1], row) > max(len(names) // 2, 1):
            continue
        missing.remove(near)
        changed.append((config, near[0], [name for name, a, b in zip(names, row, near[1], strict=True) if a != b]))
    return Drift(group, variant, names, [config for config, _ in missing], changed, len(wanted), len(have & wanted))


def _spellings(name: str, group: WrapperConfigs, configs: list[ReferenceConfig]) -> set[str]:
    """A compared field as it is called here, in the wrapper and in the reference."""
    theirs = {config.written.get(name, name) for config in configs}
    return {name, *theirs, *(written_name(config, name) for config in group.configs)}


def _first(rows: list) -> list:
    """Equal rows once."""
    found: dict[Row, tuple] = {}
    for config, row in rows:
        found.setdefault(row, (config, row))
    return list(found.values())


def _distance(one: Row, other: Row) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def _numbers(config: Config) -> Mapping[str, object]:
    names = config_names(config.fields)
    return {
        names[name]: (_auto(names[name], value.value) if isinstance(value, Known) else "unknown")
        for name, value in config.fields.items()
    }


def _number(config: ReferenceConfig, name: str) -> object:
    value = config.values.get(name, _AUTO)
    return value if value == "unknown" else _auto(name, value)


def _auto(name: str, value: object) -> object:
    if value is None or (name in COMPILE_OPTIONS and isinstance(value, int) and value <= 0):
        return _AUTO
    return value


def written_name(config: Config, name: str) -> str:
    """The wrapper's own name of a compared field."""
    return next((own for own, common in config_names(config.fields).items() if common == name), name)


def shown(config: ReferenceConfig, names: list[str]) -> str:
    """``TILE_M=128, TILE_N=128, num_ctas=1``."""
    return ", ".join(f"{config.written.get(name, name)}={config.values[name]}" for name in names if name in config.values)
