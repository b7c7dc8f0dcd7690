"""The configs of a tuned launch, one by one, as far as they are static."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.flows.fold import Folder, Neutral
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.trace import Tuning
from cutile_lint.unit.machine.values import (
    Choice,
    Class,
    Condition,
    Entries,
    Items,
    Known,
    Record,
    Term,
    Value,
    alternatives,
    subterms,
    with_conditions,
)
from cutile_lint.unit.options.option_names import option_named


@dataclass(frozen=True, slots=True, eq=False)
class Config:
    """One config with the condition under which it is in the list.

    ``kind``: "attributes" (``cfg.X``), "keys" (``cfg["X"]``) or "places" (``cfg[0]``); ``cls``: its class, where that is the project's.
    """

    fields: Mapping[str, Value]
    path: Condition
    place: Place | None
    kind: str
    cls: Class | None = None

    def field_of(self, option: str) -> str | None:
        """The field that holds a compile option."""
        return next((name for name in self.fields if option_named(name) == option), None)

    def explicit(self, option: str) -> int | None:
        """The positive number that the config gives to a compile option; None when it leaves it open or that is not known."""
        name = self.field_of(option)
        value = self.fields[name] if name is not None else None
        if isinstance(value, Known) and type(value.value) is int and value.value > 0:
            return value.value
        return None

    def place_of(self, name: str) -> Place | None:
        """Where a field's value is written."""
        value = self.fields.get(name)
        return (value.place if value is not None else None) or self.place

    def declared_at(self, name: str) -> Place | None:
        """Where its class declares a field."""
        return _declared_at(self.cls, name) if self.cls is not None else None

    def folder(self, tuning: Tuning) -> Folder:
        """Evaluates with this config as the tuner's ``cfg``."""
        return tuning.answers.once(self, lambda: self._folder(tuning, lambda term: self._lookup(term, tuning), ("config",)))

    def undisturbed_folder(self, tuning: Tuning) -> Folder:
        """The same where nothing is raised that would be caught."""

        def lookup(term: Term) -> Value | None:
            return Known(False) if term.op == "raised" else self._lookup(term, tuning)

        return tuning.answers.once((self, "undisturbed"), lambda: self._folder(tuning, lookup, ("config", "raised")))

    def _folder(self, tuning: Tuning, lookup: Callable[[Term], Value | None], symbols: tuple[str, ...]) -> Folder:
        return Folder(lookup, tuning.answers.once((Neutral, symbols), lambda: Neutral(lambda term: term.op in symbols)))

    def _lookup(self, term: Term, tuning: Tuning) -> Value | None:
        if term.op == "field" and is_config(term.base, tuning):
            return self.fields.get(term.name)
        if term.op == "call" and term.name == "hasattr" and is_config(term.base, tuning) and isinstance(term.args[1], Known):
            return Known(term.args[1].value in self.fields)
        if term.op == "compare" and term.name in ("in", "not in") and is_config(term.args[1], tuning):
            name = term.base
            return Known((name.value in self.fields) is (term.name == "in")) if isinstance(name, Known) else None
        return None


def _declared_at(cls: Class, name: str) -> Place | None:
    for statement in cls.definition.body:
        if isinstance(statement, syntax.Assign) and statement.declares and statement.name == name:
            return Place(cls.scope.source, statement.targets[0].span)
    found = (_declared_at(base, name) for base in cls.bases if isinstance(base, Class))
    return next((place for place in found if place is not None), None)


def is_config(value: Value, tuning: Tuning) -> bool:
    return isinstance(value, Term) and value.op == "config" and value.name == str(tuning.number)


def configs_of(tuning: Tuning) -> list[Config] | None:
    """All configs of a tuner call with their conditions; None when some are not known."""
    configs = tuning.configs
    if configs is None:
        return None
    found = tuning.answers.once(_configs, lambda: _configs(configs, ()))
    return [*found] if found is not None else None


def _configs(configs: Value, base: Condition) -> list[Config] | None:
    found: list[Config] = []
    for path, value in alternatives(configs):
        path = base + path
        if isinstance(value, Term) and value.op == "or":  # `[… if fits] or [fallback]`
            for part in value.args:
                inner = _configs(part, path)
                if inner is None:
                    return None
                found += inner
            continue
        if not isinstance(value, Items) or value.open:
            return None
        for item, condition in zip(value.items, value.conditions, strict=True):
            for more, one in alternatives(item):
                config = _config(one, path + condition + more)
                if config is None:
                    return None
                found += _by_options(config)
    return found


def _by_options(config: Config) -> list[Config]:
    """The config, once for each value that a compile option of it may have: fields hold what they have on the config's path."""
    found = [config]
    for name in [name for name, value in config.fields.items() if isinstance(value, Choice)]:
        following: list[Config] = []
        for one in found:
            value = one.fields[name]
            if not isinstance(value, Choice):
                following.append(one)
                continue
            kept = [(more, leaf) for more, leaf in alternatives(value) if not contradictory(one.path, more)]
            if len(kept) == 1:
                following.append(Config({**one.fields, name: kept[0][1]}, one.path, one.place, one.kind, one.cls))
            elif kept and len(kept) < 5 and option_named(name) is not None:
                following += [
                    Config({**one.fields, name: leaf}, one.path + more, one.place, one.kind, one.cls) for more, leaf in kept
                ]
            else:
                following.append(one)
        found = following
    return found


def _config(value: Value, path: Condition) -> Config | None:
    if isinstance(value, Record):
        fields = dict(value.fields)
        if value.cls is not None:
            for name in value.cls.fields_in_order():
                if name not in fields and (default := value.cls.member(name)) is not None:
                    fields[name] = default
        return Config(fields, path, value.place, "attributes", value.cls)
    if isinstance(value, Entries) and not value.open:
        named = {key.value: item for key, item in value.items() if isinstance(key, Known) and isinstance(key.value, str)}
        return Config(named, path, value.place, "keys")
    if isinstance(value, Items) and not value.open:
        return Config({str(index): item for index, item in enumerate(value.items)}, path, value.place, "places")
    return None


def fields_read(value: Value, conditions: bool = False) -> set[str]:
    """Names of the config fields that a value, or a condition in it, is made of."""
    parts = with_conditions(value) if conditions else subterms(value)
    return {part.name for part in parts if isinstance(part, Term) and part.op == "field"}
