"""CTL208: the wrapper's configs differ from the reference's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cutile_lint.findings import Finding, Level, Related
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.options.drift import Drift, drifts, shown, written_name

_SHOWN = 3


def check(unit: KernelUnit, options: Mapping[str, Any]) -> Iterator[Finding]:
    for drift in drifts(unit, options["ignore-fields"]):
        if drift.group.configs[1:] or drift.changed or drift.total == 1:  # one config for many: CTL112
            yield _finding(unit, drift)


def _finding(unit: KernelUnit, drift: Drift) -> Finding:
    assert unit.reference is not None
    reference = f"`{drift.variant.kernel or drift.variant.name}` in {drift.variant.source}"
    place = drift.group.place
    related: list[Related] = []
    if drift.changed:
        config, near, names = drift.changed[0]
        place = _place(drift, names)
        pairs = [f"`{written_name(config, name)}` {_own(config, name)} for {near.values.get(name)}" for name in names]
        message = f"a config has {' and '.join(pairs)} of {reference}"
        related = [Related(near.at(names[0]), f"the reference's config: {shown(near, drift.names)}")]
        more = len(drift.changed) - 1 + len(drift.missing)
        if more:
            message += f", {more} more differ"
    else:
        count = len(drift.missing)
        owner = f"`{drift.group.function}`" if drift.group.function else "the tuner"
        message = f"{owner} lacks {count} of the {drift.total} configs of {reference}"
    by_place: dict[Place, list[str]] = {}
    for config in drift.missing:
        by_place.setdefault(config.place, []).append(shown(config, drift.names))
    related += [Related(at, f"missing: {_listed(texts)}") for at, texts in list(by_place.items())[:_SHOWN]]
    return Finding(
        place,
        message,
        help="tune over the reference's configs for the target, so that the best one for a shape can be found",
        related=tuple(related),
        symbol=drift.group.function,
        level_override=Level.INFO if drift.only_smaller else None,
    )


def _listed(texts: list[str]) -> str:
    more = len(texts) - _SHOWN
    return "; ".join(texts[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _place(drift: Drift, names: list[str]) -> Place:
    config = drift.changed[0][0]
    return config.place_of(written_name(config, names[0])) or drift.group.place


def _own(config, name: str) -> object:
    value = config.fields.get(written_name(config, name))
    return getattr(value, "value", "nothing")
