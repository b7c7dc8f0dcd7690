"""``reference/analysis.json``: what the conversion pipeline recorded about the reference kernel.

The fields are those of the skill's first agent; files of earlier versions lack some, hold null, or nest configurations as tables.
Nothing is required here: a field of the wrong type counts as absent.
"""

from __future__ import annotations

from cutile_lint.frontends.reference.configs import BACKENDS, COMPILE_OPTIONS, Labels, ReferenceConfig, option_name, read_configs
from cutile_lint.frontends.reference.json_places import JsonNode, read_json
from cutile_lint.frontends.syntax import Fault
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place, Source, Span

_OPTION_TABLES = ("compile_options", "optimization_hints", "hints", "kernel_hints", "entry_hints")


@dataclass(frozen=True, slots=True)
class Text:
    """A string and its place; empty when the field is absent (then the place is the owner's)."""

    value: str
    place: Place

    def __bool__(self) -> bool:
        return bool(self.value)


@dataclass(slots=True)
class Variant:
    """One of ``kernel_variants``. ``configs`` None: the field is absent or null; ``options`` hold for all its launches."""

    name: Text
    kernel_function: Text
    dispatch_condition: Text
    reference_ir: Text
    backend: Text
    variant_type: Text
    place: Place
    supplements: dict[str, Text] = field(default_factory=dict)
    constants: dict[str, object] = field(default_factory=dict)
    configs: list[ReferenceConfig] | None = None
    options: list[ReferenceConfig] = field(default_factory=list)
    best: list[ReferenceConfig] = field(default_factory=list)


@dataclass(slots=True)
class Analysis:
    """A read file. With a fault everything is empty. ``configs`` are the top level's, labelled by variant and backend."""

    source: Source
    kernel_name: Text
    launch_path: Text
    pattern: Text
    reference_backend: Text
    variants: list[Variant] = field(default_factory=list)
    configs: list[ReferenceConfig] | None = None
    options: list[ReferenceConfig] = field(default_factory=list)
    best: list[ReferenceConfig] = field(default_factory=list)
    autotune_key: list[Text] = field(default_factory=list)
    autotune_backends: list[Text] = field(default_factory=list)
    ops_used: list[Text] = field(default_factory=list)
    config_to_variant: dict[str, Text] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    root: JsonNode | None = None

    def variant(self, name: str) -> Variant | None:
        return next((variant for variant in self.variants if variant.name.value == name), None)

    def configs_for(self, variant: str = "", backend: str = "") -> list[ReferenceConfig]:
        """A variant's own configurations, else the top level's that fit it; other backends' are left out (default: the
        reference's own backend)."""
        owner = self.variant(variant)
        chosen = backend or (owner.backend.value if owner else "") or self.reference_backend.value
        found = owner.configs if owner is not None and owner.configs else self.configs or []
        return [
            config
            for config in found
            if (not config.variant or not variant or config.variant == variant)
            and (not config.backend or not chosen or config.backend == chosen)
        ]

    @property
    def is_autotuned(self) -> bool:
        """The reference tunes: it says so, or has configurations."""
        tuned = self.launch_path.value.lower().startswith("autotun")
        return tuned or bool(self.configs) or any(variant.configs for variant in self.variants)


def read_analysis(source: Source) -> Analysis:
    """Read ``analysis.json``. Never raises: a malformed file has a fault with its place, an odd field is left out."""
    root, fault = read_json(source)
    node = root if root is not None else JsonNode({}, Span(0, 0))
    owner = Place(source, node.span)
    read = _Fields(source, node)
    analysis = Analysis(
        source,
        read.text("kernel_name", "op_name", "name"),
        read.text("launch_path"),
        read.text("pattern"),
        _backend(read.text("reference_backend"), node, source),
        root=root,
    )
    if fault is not None:
        analysis.faults.append(fault)
        return analysis
    if not isinstance(node.value, dict):
        analysis.faults.append(Fault(node.span, "`analysis.json` is no JSON object"))
        return analysis
    table = node.get("kernel_variants") or node.get("variants")
    names = frozenset(_variant_names(table))
    analysis.variants = list(_variants(source, table, names))
    analysis.configs = _field_configs(source, node, names, Labels())
    analysis.options = _options(source, node, names, Labels())
    analysis.best = _best(source, node, names, Labels())
    analysis.autotune_key = read.texts("autotune_key", "autotune_keys")
    analysis.autotune_backends = read.texts("autotune_backends")
    analysis.ops_used = read.texts("ops_used")
    analysis.config_to_variant = _config_to_variant(source, node.get("config_to_variant"), owner)
    return analysis


@dataclass(slots=True)
class _Fields:
    source: Source
    node: JsonNode

    def text(self, *names: str) -> Text:
        for name in names:
            found = self.node.get(name)
            if found is not None and isinstance(found.value, str):
                return Text(found.value, Place(self.source, found.span))
        return Text("", Place(self.source, self.node.span))

    def texts(self, *names: str) -> list[Text]:
        """Strings of a list; a table's keys; one string alone. Elements that are tables give their ``name``."""
        for name in names:
            found = self.node.get(name)
            if found is None or found.value is None:
                continue
            if isinstance(found.value, str):
                return [Text(found.value, Place(self.source, found.span))]
            if isinstance(found.value, dict):
                return [Text(key, Place(self.source, child.key_span or child.span)) for key, child in found.fields.items()]
            entries = [item if isinstance(item.value, str) else item.get("name") for item in found.items]
            return [Text(item.value, Place(self.source, item.span)) for item in entries if item and isinstance(item.value, str)]
        return []


def _backend(text: Text, node: JsonNode, source: Source) -> Text:
    """The reference's backend; older files say it in ``reference_backend_selection.winner`` only."""
    if not text:
        selection = node.get("reference_backend_selection")
        winner = selection.get("winner") if selection is not None else None
        if winner is not None and isinstance(winner.value, str):
            text = Text(winner.value, Place(source, winner.span))
    return Text(BACKENDS.get(text.value.lower(), text.value), text.place)


def _variant_names(table: JsonNode | None) -> list[str]:
    if table is None:
        return []
    if isinstance(table.value, dict):
        return list(table.fields)
    names = [item.get("variant_name") or item.get("name") for item in table.items]
    return [name.value for name in names if name is not None and isinstance(name.value, str)]


def _variants(source: Source, table: JsonNode | None, names: frozenset[str]) -> list[Variant]:
    """Variants of a list, or of a table whose keys are their names."""
    if table is None:
        return []
    if isinstance(table.value, dict):
        pairs = [(Text(key, Place(source, child.key_span or child.span)), child) for key, child in table.fields.items()]
    else:
        pairs = [(_Fields(source, item).text("variant_name", "name"), item) for item in table.items]
    return [_variant(source, name, node, names) for name, node in pairs if isinstance(node.value, dict)]


def _variant(source: Source, name: Text, node: JsonNode, names: frozenset[str]) -> Variant:
    read = _Fields(source, node)
    labels = Labels(variant=name.value)
    return Variant(
        name,
        read.text("kernel_function", "kernel"),
        read.text("dispatch_condition", "condition"),
        read.text("reference_ir"),
        _backend(read.text("reference_backend", "backend"), node, source),
        read.text("variant_type"),
        Place(source, node.span),
        {
            key: Text(child.value, Place(source, child.span))
            for key, child in node.fields.items()
            if key.startswith("reference_ir_") and isinstance(child.value, str)
        },
        _constants(node.get("constants")),
        _field_configs(source, node, names, labels),
        _options(source, node, names, labels),
        _best(source, node, names, labels),
    )


def _constants(node: JsonNode | None) -> dict[str, object]:
    """A table; or a list of names, of ``NAME=value`` texts, or of tables with ``name`` and ``value`` (None: no value given)."""
    if node is None:
        return {}
    if isinstance(node.value, dict):
        return {key: child.plain() for key, child in node.fields.items()}
    result: dict[str, object] = {}
    for item in node.items:
        if isinstance(item.value, str):
            name, equals, value = item.value.partition("=")
            text = value.strip()
            result[name.strip()] = (
                int(text) if text.isascii() and text.isdigit() and len(text) < 19 else (text if equals else None)
            )
        else:
            named, value_node = item.get("name"), item.get("value")
            if named is not None and isinstance(named.value, str):
                result[named.value] = value_node.plain() if value_node is not None else None
    return result


def _field_configs(source: Source, node: JsonNode, names: frozenset[str], labels: Labels) -> list[ReferenceConfig] | None:
    found = node.get("autotune_configs")
    return None if found is None or found.value is None else read_configs(source, found, names, labels)


def _options(source: Source, node: JsonNode, names: frozenset[str], labels: Labels) -> list[ReferenceConfig]:
    """Options outside configurations: in a table of hints (perhaps by architecture), or beside the other fields."""
    result: list[ReferenceConfig] = []
    for key in _OPTION_TABLES:
        result.extend(read_configs(source, node.get(key), names, labels))
    loose = {key: child for key, child in node.fields.items() if option_name(key) in COMPILE_OPTIONS}
    if loose:
        result.extend(read_configs(source, JsonNode(loose, node.span), names, labels))
    return result


def _best(source: Source, node: JsonNode, names: frozenset[str], labels: Labels) -> list[ReferenceConfig]:
    found = node.get("best_config") or node.get("best_configs")
    return read_configs(source, found, names, labels)


def _config_to_variant(source: Source, node: JsonNode | None, owner: Place) -> dict[str, Text]:
    """Test configuration → variant; older files have a list of tables with ``config`` and ``variant``."""
    if node is None:
        return {}
    result: dict[str, Text] = {}
    for key, child in node.fields.items():
        target = child if isinstance(child.value, str) else child.get("variant") or child.get("variant_name")
        if target is not None and isinstance(target.value, str):
            result[key] = Text(target.value, Place(source, target.span))
    for item in node.items:
        config, variant = item.get("config") or item.get("name"), item.get("variant") or item.get("variant_name")
        if config is not None and variant is not None and isinstance(variant.value, str):
            result[str(config.plain())] = Text(variant.value, Place(source, variant.span))
    return result
