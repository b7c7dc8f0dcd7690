"""Ops that launch one fixed config where the reference tunes over several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends.reference.configs import ReferenceConfig
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.flows.config_names import is_tuned_elsewhere
from cutile_lint.unit.machine.trace import Event, Tuning
from cutile_lint.unit.machine.values import Choice, Entries, Items, Record, Term, Value, alternatives
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
    told: list[Tuning] = []
    for group in wrapper_configs(unit, reference):
        if len(group.configs) == 1:
            counted = _tuned(reference, group.variants)
            if counted is not None:
                told.append(group.tuning)
                yield FixedConfig(group.tuning.event, group.place, *counted, True)
    for tuning in [tuning for run in unit.runs for tuning in run.tunings if tuning not in told]:
        if (place := _chosen(tuning)) is not None:
            counted = _tuned(reference, reference.matching(tuning.event.path))
            if counted is not None:
                yield FixedConfig(tuning.event, place, *counted, True)


def _chosen(tuning: Tuning) -> Place | None:
    """Where a list of one config is made, out of several that the wrapper itself has: ``[min(configs, key=…)]``, on all paths."""
    place: Place | None = None
    for _, value in alternatives(tuning.configs) if tuning.configs is not None else ():
        if not isinstance(value, Items) or value.open or len(value.items) != 1 or not _is_one_of_several(value.items[0]):
            return None
        place = place or value.place
    return place


def _is_one_of_several(config: Value) -> bool:
    if isinstance(config, Choice):
        return all(_is_config(one) or _is_one_of_several(one) for _, one in alternatives(config))
    if not isinstance(config, Term) or config.op not in ("call", "index") or not config.args:
        return False
    return all(
        isinstance(given, Items) and not given.open and len(given.items) > 1 and all(map(_is_config, given.items))
        for _, given in alternatives(config.args[0])
    )


def _is_config(value: Value) -> bool:
    return isinstance(value, (Record, Entries))


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
