"""Autotune configurations as ``analysis.json`` writes them: lists, tables by variant, backend or architecture, search spaces.

Option names become the compile option's: ``num_ctas``, ``NUM_CTAS``, ``num_cta_in_cga`` are one thing. Tile names stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, product
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source

if TYPE_CHECKING:
    from cutile_lint.frontends.reference.json_places import JsonNode

#: configurations read from one field at most (a search space multiplies)
MAX_CONFIGS = 1000

OPTIONS = {
    "num_ctas": "num_cta_in_cga",
    "num_cta": "num_cta_in_cga",
    "num_cta_in_cga": "num_cta_in_cga",
    "ctas_per_cga": "num_cta_in_cga",
    "occupancy": "occupancy",
    "latency": "latency",
    "num_stages": "num_stages",
    "num_warps": "num_warps",
    "num_worker_warps": "num_worker_warps_per_cta",
    "num_worker_warps_per_cta": "num_worker_warps_per_cta",
    "opt_level": "opt_level",
    "max_divisibility": "max_divisibility",
}
#: options that become a setter of ``CompileOptions`` or an entry hint
COMPILE_OPTIONS = frozenset({"num_cta_in_cga", "occupancy", "num_worker_warps_per_cta", "max_divisibility"})
_SENTINEL_OPTIONS = COMPILE_OPTIONS | {"latency"}

BACKENDS = {
    "cutile": "cutile",
    "cutile_python": "cutile",
    "cutile-python": "cutile",
    "triton": "triton",
    "triton_tileir": "triton",
    "triton-tileir": "triton",
    "cutile-rs": "cutile-rs",
    "cutile_rs": "cutile-rs",
}
_WRAPPERS = frozenset(
    {"configs", "config", "autotune_configs", "search_space", "space", "candidates", "values", "hints", "options"}
)
_INNER = frozenset({"kwargs", "meta", "hints", "options", "compile_options", "optimization_hints", "constants", "params"})
_METADATA = frozenset({"source", "note", "notes", "comment", "description", "num_configs", "count", "id", "name", "label"})
_CONDITIONS = ("condition", "dispatch_condition", "arch", "architecture", "when", "target", "gpu")
_TILE_NAME = regex(r"(?i)(?:block|tile|group|split).*|b?[mnk]")


@dataclass(slots=True)
class ReferenceConfig:
    """One configuration. ``values``: option or tile name → value as written; ``place`` of the whole.

    ``condition``: what it holds for ("sm_100", "dtype == f16"; "" always); ``variant``/``backend`` when the file says so.
    ``places``: name → the value's place; ``written``: name → the name in the file.
    """

    values: dict[str, object]
    place: Place
    condition: str = ""
    variant: str = ""
    backend: str = ""
    places: dict[str, Place] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)

    def explicit(self, option: str) -> int | None:
        """The option's value if one is pinned; None when it is absent, null, "auto" or a sentinel (``<= 0``)."""
        value = self.values.get(option)
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        return None if option in _SENTINEL_OPTIONS and value <= 0 else value

    def is_auto(self, option: str) -> bool:
        return self.explicit(option) is None

    def at(self, name: str) -> Place:
        """Where a value stands; the configuration itself if it does not name it."""
        return self.places.get(name, self.place)


@dataclass(frozen=True, slots=True)
class Labels:
    """What the keys around a configuration say about it."""

    condition: str = ""
    variant: str = ""
    backend: str = ""


def option_name(name: str) -> str:
    """The compile option's name for any spelling of it; other names as they are."""
    return OPTIONS.get(name.lower(), name)


def read_configs(
    source: Source, node: JsonNode | None, variants: frozenset[str], labels: Labels | None = None
) -> list[ReferenceConfig]:
    """Every configuration below a field; what does not look like one is passed over."""
    labels = labels or Labels()
    if node is None:
        return []
    return list(islice(_configs(source, node, variants, labels), MAX_CONFIGS))


def _configs(source: Source, node: JsonNode, variants: frozenset[str], labels: Labels) -> Iterator[ReferenceConfig]:
    if isinstance(node.value, list):
        for item in node.items:
            own = _own_labels(item, labels)
            if isinstance(item.value, dict) and _is_config(item):  # a list in it is a tuple, not a choice
                yield from _expand(source, item, own, space=False)
            else:
                yield from _configs(source, item, variants, labels)
    elif isinstance(node.value, dict):
        labels = _own_labels(node, labels)
        if _is_config(node):
            yield from _expand(source, node, labels)
            return
        for key, child in node.fields.items():
            if isinstance(child.value, (dict, list)):
                yield from _configs(source, child, variants, _labelled(key, variants, labels))


def _own_labels(node: JsonNode, labels: Labels) -> Labels:
    for key in _CONDITIONS:
        found = node.get(key)
        if found is not None and isinstance(found.value, str):
            labels = Labels(_both(labels.condition, found.value), labels.variant, labels.backend)
    for key in ("variant", "variant_name"):
        found = node.get(key)
        if found is not None and isinstance(found.value, str):
            labels = Labels(labels.condition, found.value, labels.backend)
    for key in ("backend", "reference_backend"):
        found = node.get(key)
        if found is not None and isinstance(found.value, str):
            labels = Labels(labels.condition, labels.variant, BACKENDS.get(found.value.lower(), found.value))
    return labels


def _labelled(key: str, variants: frozenset[str], labels: Labels) -> Labels:
    if key in variants:
        return Labels(labels.condition, key, labels.backend)
    if key.lower() in BACKENDS:
        return Labels(labels.condition, labels.variant, BACKENDS[key.lower()])
    if key.lower() in _WRAPPERS:
        return labels
    return Labels(_both(labels.condition, key), labels.variant, labels.backend)


def _both(outer: str, inner: str) -> str:
    return f"{outer} and {inner}" if outer and inner and outer != inner else outer or inner


def _is_config(node: JsonNode) -> bool:
    """A table whose keys are options or tile sizes, not one of further tables."""
    numbers = nested = False
    for key, child in node.fields.items():
        if key.lower() in _METADATA or key in _CONDITIONS:
            continue
        tables = isinstance(child.value, dict) or any(isinstance(item.value, (dict, list)) for item in child.items)
        if key in ("kwargs", "meta") and tables:
            return True
        if not tables and (key.lower() in OPTIONS or _TILE_NAME.fullmatch(key)) and child.value != []:
            return True
        nested = nested or (tables and key not in _INNER)
        numbers = numbers or isinstance(child.value, (int, float))
    return numbers and not nested


def _expand(source: Source, node: JsonNode, labels: Labels, space: bool = True) -> Iterator[ReferenceConfig]:
    """The configuration, or the product of a search space (``"occupancy": [1, 2]``)."""
    names: list[str] = []
    choices: list[list[JsonNode]] = []
    written: dict[str, str] = {}
    for key, child in _settings(node):
        name = option_name(key)
        values = (child.items or [child]) if space else [child]
        if name in written:
            choices[names.index(name)] = values
        else:
            names.append(name)
            choices.append(values)
        written[name] = key
    place = Place(source, node.span)
    for combination in product(*choices):
        chosen_values = {name: _value(name, chosen) for name, chosen in zip(names, combination, strict=True)}
        places = {name: Place(source, chosen.span) for name, chosen in zip(names, combination, strict=True)}
        yield ReferenceConfig(chosen_values, place, labels.condition, labels.variant, labels.backend, places, dict(written))


def _settings(node: JsonNode) -> Iterator[tuple[str, JsonNode]]:
    for key, child in node.fields.items():
        if key in _INNER and isinstance(child.value, dict):
            yield from _settings(child)
        elif isinstance(child.value, dict) or key.lower() in _METADATA or key in _CONDITIONS:
            continue
        elif key not in ("variant", "variant_name", "backend", "reference_backend"):
            yield key, child


def _value(name: str, node: JsonNode) -> object:
    """As written; for options "auto" is None and text that is a number is the number."""
    value = node.plain()
    if name in OPTIONS.values() and isinstance(value, str):
        text = value.strip()
        if text.lower() in ("auto", "none", "null", "default", ""):
            return None
        return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else value
    if name in OPTIONS.values() and isinstance(value, float) and value.is_integer():
        return int(value)
    return value
