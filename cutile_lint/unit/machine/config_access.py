"""What is known of the tuner's ``cfg`` before its configs are told apart: its fields, its places, the members of its class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.unit.machine.values import (
    Arguments,
    Choice,
    Class,
    Closure,
    Entries,
    Hop,
    Items,
    Known,
    Record,
    Term,
    Value,
    alternatives,
)

if TYPE_CHECKING:
    from cutile_lint.unit.machine.statements import Statements as Machine


def is_config(value: Value) -> bool:
    return isinstance(value, Term) and value.op == "config"


def configs(value: Value) -> Iterator[Value | None]:
    """The configs in a tuner's list, one by one; None stands for some that are not known."""
    for _, part in alternatives(value):
        if isinstance(part, Term) and part.op == "or":
            for inner in part.args:
                yield from configs(inner)
        elif isinstance(part, Items):
            for item in part.items:
                for _, leaf in alternatives(item):
                    yield leaf
            if part.open:
                yield None
        else:
            yield None


def names_of(config: Value | None) -> list[str] | None:
    """The names that one config has, in order; None when there may be others."""
    if isinstance(config, Record):
        inherited = config.cls.fields_in_order() if config.cls is not None else []
        return list(dict.fromkeys([*config.fields, *(name for name in inherited if config.cls and config.cls.member(name))]))
    if isinstance(config, Entries) and not config.open:
        return [str(key.value) for key, _ in config.items() if isinstance(key, Known)]
    if isinstance(config, Items) and not config.open:
        return [str(place) for place in range(len(config.items))]
    return None


def common_names(config: Term) -> list[str] | None:
    """The names that all configs have, when they all have the same."""
    first: list[str] | None = None
    for one in configs(config.base):
        names = names_of(one)
        if names is None or (first is not None and set(names) != set(first)):
            return None
        first = first or names
    return first


def has(config: Term, name: str) -> bool | None:
    """Whether ``cfg`` has a field or member; None when only some configs have it, or they are not known."""
    answers = {has_one(one, name) for one in configs(config.base)}
    return answers.pop() if len(answers) == 1 else None


def has_one(config: Value | None, name: str) -> bool | None:
    if isinstance(config, Record) and config.cls is not None and config.cls.member(name) is not None:
        return True
    names = names_of(config)
    return name in names if names is not None else None


def field(machine: Machine, config: Value, name: str, node: syntax.Node) -> Term:
    place = machine.place(node)
    return Term("field", name, (config,), place=place, trail=Hop(place, "made", name))


def member(machine: Machine, config: Term, name: str, node: syntax.Node) -> Value | None:
    """``cfg.name`` when it is no field: its dict, a method or property of the configs' class, a constant of the class."""
    if name == "__dict__":
        return config
    owner: Class | None = None
    for one in configs(config.base):
        if not isinstance(one, Record) or one.cls is None or name in one.fields or (owner is not None and one.cls is not owner):
            return None
        owner = one.cls
    found = owner.member(name) if owner is not None else None
    if owner is None or found is None or name in owner.fields_in_order():
        return None
    if isinstance(found, Closure):
        if any(isinstance(tag, Term) and tag.name == "classmethod" for tag in found.tags):
            return machine.dialect.bind_class_member(machine, found, owner)
        return machine.dialect.bind_member(machine, found, config, node)  # type: ignore[arg-type]
    return found if isinstance(found, Known) else None


def entries(machine: Machine, config: Term, node: syntax.Node) -> Entries:
    """``vars(cfg)`` as a dict of its fields (open when the configs differ in them)."""
    result = Entries(machine.place(node))
    names = common_names(config)
    for name in names or ():
        result.put(Known(name), field(machine, config, name, node))
    result.open = names is None
    return result


def items(machine: Machine, config: Term) -> Items | None:
    """The places of ``cfg`` when all configs are tuples of one length."""
    names = common_names(config)
    if names is None or not all(_is_tuple(machine, one) for one in configs(config.base)):
        return None
    place = config.place
    hops = [Hop(place, "made", name) if place is not None else None for name in names]
    return Items("tuple", [Term("field", name, (config,), place=place, trail=hop) for name, hop in zip(names, hops, strict=True)])


def _is_tuple(machine: Machine, config: Value | None) -> bool:
    return isinstance(config, Items) or (isinstance(config, Record) and machine.dialect.is_tuple_record(config))


def spread(machine: Machine, value: Value, node: syntax.Node) -> Entries | None:
    """The mapping that ``**value`` spreads: a dict, ``cfg``, or one of several dicts."""
    if isinstance(value, Entries):
        return value
    if is_config(value):
        return entries(machine, value, node)  # type: ignore[arg-type]
    if not isinstance(value, Choice):
        return None
    found = [(path, spread(machine, one, node)) for path, one in alternatives(value)]
    result = Entries(machine.place(node))
    for _, one in found:
        if one is None:
            return None
        result.keys.update(one.keys)
        result.open = result.open or one.open
    for key in result.keys:
        options = [(path, one.entries[key]) for path, one in found if one is not None and key in one.entries]
        if len(options) == len(found):
            result.entries[key] = machine.choice(options, machine.place(node))
    result.open = result.open or len(result.entries) < len(result.keys)
    result.keys = {key: name for key, name in result.keys.items() if key in result.entries}
    return result


def pattern_names(value: Value) -> list[str]:
    """The fields that the places of a class pattern mean: those of a dataclass or tuple, in order."""
    first = next(configs(value.base), None) if isinstance(value, Term) and is_config(value) else value
    return first.cls.fields_in_order() if isinstance(first, Record) and first.cls is not None else []


def replaced(machine: Machine, config: Term, arguments: Arguments, node: syntax.Node) -> Value | None:
    """``cfg._replace(…)`` and ``replace(cfg, …)``: an object with the fields of ``cfg`` but for those given."""
    fields = entries(machine, config, node)
    first = next(configs(config.base), None)
    if fields.open or not arguments.exact or not isinstance(first, Record):
        return None
    named = {str(key.value): item for key, item in fields.items() if isinstance(key, Known)}
    return Record(first.name, {**named, **arguments.keywords}, first.cls, machine.place(node))
