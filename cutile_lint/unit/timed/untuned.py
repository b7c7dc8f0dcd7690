"""Ops that launch one fixed config where the reference tunes over several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends.reference.configs import ReferenceConfig
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.flows.config_names import is_tuned_elsewhere
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.options.drift import reference_branches, wrapper_configs
from cutile_lint.unit.reference.variants import ReferenceVariant

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit
    from cutile_lint.unit.reference.evidence import Reference


@dataclass(slots=True, eq=False)
class FixedConfig:
    """A launch with one config (``tuned``: the tuner gets a single one); the reference's ``variant`` has ``count``."""

    event: Event
    place: Place
    variant: ReferenceVariant
    count: int
    tuned: bool
    symbol: str = ""


def fixed_configs(unit: KernelUnit) -> Iterator[FixedConfig]:
    reference = unit.reference
    if reference is None:
        return
    for run in unit.runs:
        seen: set[str] = set()
        for launch in run.launches if not run.tunings else ():
            counted = _tuned(reference, reference.matching(launch.path, (launch.symbol,)))
            if counted is not None and launch.symbol not in seen:
                seen.add(launch.symbol)
                yield FixedConfig(launch.event, launch.place, *counted, False, launch.symbol)
    for group in wrapper_configs(unit, reference):
        if len(group.configs) == 1:
            counted = _tuned(reference, group.variants)
            if counted is not None:
                yield FixedConfig(group.tuning.event, group.place, *counted, True)


def _tuned(reference: Reference, variants: list[ReferenceVariant]) -> tuple[ReferenceVariant, int] | None:
    """The variant with the fewest configs, if each of them is tuned over more than one."""
    counted: list[tuple[int, ReferenceVariant]] = []
    for variant in variants:
        if not variant.tuned or variant.configs is None:
            return None
        counts = [len({_row(config) for config in configs}) for configs in reference_branches(variant, reference)]
        if not counts or min(counts) < 2:
            return None
        counted.append((min(counts), variant))
    if not counted:
        return None
    count, variant = min(counted, key=lambda item: item[0])
    return variant, count


def _row(config: ReferenceConfig) -> tuple[tuple[str, str], ...]:
    """What tells two configs of the reference apart for a cutile-rs port."""
    return tuple(
        sorted((name, repr(value)) for name, value in config.values.items() if name != "latency" and not is_tuned_elsewhere(name))
    )
