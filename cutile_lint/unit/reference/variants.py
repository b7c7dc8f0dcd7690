"""What one kernel of the reference does: its configs, compile options and latencies, in common names."""

from __future__ import annotations

import re

from cutile_lint.frontends.reference.configs import ReferenceConfig
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place
from cutile_lint.unit.machine.values import Condition

#: stands for an option's value that is given and could not be evaluated
UNKNOWN = "unknown"


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

    ``configs``: what it is tuned over (``tuned``) or launched with, under common names (:mod:`config_names`), options among
    them; None when they are not known. ``condition``: when it runs, over the op's parameters.
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
        if any(config.values.get(option) == UNKNOWN for config in self.configs or []):
            return []
        for config in self.configs or []:
            value = config.explicit(option)
            found.setdefault(value, ReferenceValue(value, config.at(option), config.condition, self.name))
        return list(found.values())

    @property
    def words(self) -> frozenset[str]:
        """What its names say: ``static``, ``persistent``, ``nonpersistent``…"""
        return words_of(self.name, self.kernel, self.config_function)


_EMPTY_WORDS = frozenset(["configs", "config", "autotune", "kernel", "get", "ct", "fn"])


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
