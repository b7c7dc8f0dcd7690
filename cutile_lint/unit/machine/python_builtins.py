"""Functions of Python and its standard library that the machine computes instead of recording."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.sources import Place
from cutile_lint.unit.machine import config_access, python_methods, types
from cutile_lint.unit.machine.paths import extend, literals, truth
from cutile_lint.unit.machine.values import (
    SETS,
    Arguments,
    Choice,
    Class,
    Closure,
    Entries,
    Items,
    Known,
    Partial,
    Record,
    SuperRecord,
    Term,
    Value,
)

if TYPE_CHECKING:
    from cutile_lint.unit.machine.statements import Statements as Machine

_Handler = "Callable[[Machine, Arguments, syntax.Node], Value | None]"
_MAX_PRODUCT = 400
#: Conversions that read a tensor's data, and the values that may be a tensor.
_CONVERSIONS = frozenset(["int", "float", "bool", "str", "repr"])
_COMPUTED = frozenset(["call", "method", "binary", "unary", "compare", "index", "element", "input"])


def call(machine: Machine, name: str, arguments: Arguments, node: syntax.Node) -> Value | None:
    """The result of a function that is known here; None for others."""
    name = _ALIASES.get(name, name)
    handler = _FUNCTIONS.get(name)
    if handler is not None:
        result = handler(machine, arguments, node)
        if result is not None:
            return result
    if name in _PURE:
        return _pure(machine, name, arguments, node)
    return None


def _pure(machine: Machine, name: str, arguments: Arguments, node: syntax.Node) -> Value:
    """A function without effects: equal arguments give equal results."""
    values = [machine.resolve(value) for value in arguments.positional]
    if name in _NUMERIC and values and all(isinstance(value, Known) for value in values) and not arguments.keywords:
        try:
            return Known(_NUMERIC[name](*(value.value for value in values)), machine.place(node), values[0].trail)  # type: ignore[attr-defined]
        except Exception:
            pass
    if len(values) == 1 and isinstance(values[0], Choice) and name in _NUMERIC:
        return machine.distribute(values[0], lambda one: _pure(machine, name, Arguments([one]), node))
    trail = values[0].trail if values and name in ("int", "float", "bool") else None
    result = Term("call", name, tuple(values), arguments.keywords, place=machine.place(node), trail=trail)
    if name in _CONVERSIONS and len(values) == 1 and isinstance(values[0], Term) and values[0].op in _COMPUTED:
        machine.emit("convert", node, name, value=result, arguments=arguments, target=values[0])
    return result


def field_default(machine: Machine, default: Value, node: syntax.Node) -> Value:
    """A dataclass field's default: ``field(default=…)`` / ``field(default_factory=…)`` are opened."""
    if isinstance(default, Term) and default.op == "call" and default.name in ("field", "dataclasses.field"):
        if "default" in default.keywords:
            return default.keywords["default"]
        if "default_factory" in default.keywords:
            return machine.call(default.keywords["default_factory"], Arguments(), node)
    return default


def _range(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    values = [machine.resolve(value) for value in arguments.positional]
    if values and all(isinstance(value, Known) and isinstance(value.value, int) for value in values):
        numbers = range(*(value.value for value in values))  # type: ignore[attr-defined]
        if len(numbers) <= 64:
            return Items("range", [Known(number, machine.place(node)) for number in numbers], machine.place(node))
    return Term("call", "range", tuple(values), place=machine.place(node))


def _sequence(kind: str) -> Callable[[Machine, Arguments, syntax.Node], Value | None]:
    def make(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
        result = Items(kind, [], machine.place(node), born=machine.path)
        if not arguments.positional:
            return result
        value = machine.resolve(arguments.positional[0])
        items = machine.iterate(value)
        if items is None:
            return Term("call", kind, (value,), place=machine.place(node), trail=value.trail)
        machine.steps += len(items.items)
        result.extend(items)
        return result

    return make


def _zip(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    columns = [machine.iterate(machine.resolve(value)) for value in arguments.positional]
    if any(column is None or column.open or any(column.conditions) for column in columns):
        return _one_row(machine, [_element(machine, value, node) for value in arguments.positional], node)
    rows = zip(*(column.items for column in columns if column is not None), strict=False)
    return Items("generator", [Items("tuple", list(row)) for row in rows], machine.place(node))


def _element(machine: Machine, value: Value, node: syntax.Node) -> Value:
    """A symbol for an item of an iterable whose items are not known."""
    value = machine.resolve(value)
    if isinstance(value, Items) and value.open and len(value.items) == 1:
        return value.items[0]
    return Term("element", args=(value,), place=machine.place(node), serial=machine.fresh())


def _one_row(machine: Machine, parts: list[Value], node: syntax.Node) -> Items:
    """An iterable of tuples of which one stands for all."""
    rows = Items("generator", [Items("tuple", parts)], machine.place(node), born=machine.path)
    rows.open = True
    return rows


def _enumerate(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    items = machine.iterate(machine.resolve(arguments.positional[0])) if arguments.positional else None
    if not arguments.positional:
        return None
    if items is None or items.open:
        position = Term("unknown", "position", serial=machine.fresh(), place=machine.place(node))
        return _one_row(machine, [position, _element(machine, arguments.positional[0], node)], node)
    machine.steps += len(items.items)
    rows: list[Value] = [Items("tuple", [Known(at), item]) for at, item in enumerate(items.items)]
    return Items("generator", rows, machine.place(node), list(items.conditions))


def _product(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    columns = [machine.iterate(machine.resolve(value)) for value in arguments.positional]
    repeat = arguments.keywords.get("repeat")
    if any(column is None or column.open or any(column.conditions) for column in columns):
        return None
    pools = [column.items for column in columns if column is not None]
    if isinstance(repeat, Known) and isinstance(repeat.value, int):
        pools = pools * repeat.value
    if math.prod(len(pool) for pool in pools) > _MAX_PRODUCT:
        return None
    return Items("generator", [Items("tuple", list(row)) for row in product(*pools)], machine.place(node))


def _map(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    if len(arguments.positional) < 2:
        return None
    columns = [machine.iterate(machine.resolve(value)) for value in arguments.positional[1:]]
    if any(column is None for column in columns):
        return None
    result = Items("generator", [], machine.place(node), born=machine.path)
    first = columns[0]
    for row in zip(*(column.items for column in columns if column is not None), strict=False):
        result.append(
            machine.call(arguments.positional[0], Arguments(list(row), {}, [machine.place(node)] * len(row)), node), machine.path
        )
    result.open = bool(first and first.open)
    return result


def _filter(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    """``filter(keep, items)``: each item under the condition that it is kept."""
    items = machine.iterate(machine.resolve(arguments.positional[1])) if len(arguments.positional) == 2 else None
    if items is None:
        return None
    result = Items("generator", [], machine.place(node), born=machine.path)
    result.open = items.open
    keep, saved = machine.resolve(arguments.positional[0]), machine.path
    for item, condition in zip(list(items.items), list(items.conditions), strict=True):
        machine.path = extend(saved, condition)
        plain = isinstance(keep, Known) and keep.value is None
        test = item if plain else machine.resolve(machine.call(keep, Arguments([item], {}, [machine.place(node)]), node))
        if truth(test) is not False:
            machine.path = extend(machine.path, literals(test, True))
            result.append(item, machine.path)
        machine.path = saved
    return result


def _loads(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    """``json.loads`` of a text that is known."""
    text = machine.resolve(arguments.positional[0]) if arguments.positional else None
    if not isinstance(text, Known) or not isinstance(text.value, str) or arguments.keywords:
        return None
    try:
        return _from_json(json.loads(text.value), text.place, machine)
    except (ValueError, RecursionError):
        return None


def _from_json(value: object, place: Place | None, machine: Machine) -> Value:
    if isinstance(value, dict):
        entries = Entries(place)
        for key, item in value.items():
            entries.put(Known(key, place), _from_json(item, place, machine))
        return entries
    if isinstance(value, list):
        return Items("list", [_from_json(item, place, machine) for item in value], place, born=machine.path)
    return Known(value, place)


def _any_all(op: str) -> Callable[[Machine, Arguments, syntax.Node], Value | None]:
    def decide(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
        items = machine.iterate(machine.resolve(arguments.positional[0])) if arguments.positional else None
        if items is None:
            return None
        parts = [machine.resolve(item) for item in items.items]
        decisive = op == "or"
        if any(truth(part) is decisive for part in parts) and not items.open:
            return Known(decisive, machine.place(node))
        parts = [part for part in parts if truth(part) is None]
        if items.open:
            parts.append(Term("unknown", op, serial=machine.fresh()))
        if not parts:
            return Known(not decisive, machine.place(node))
        return parts[0] if len(parts) == 1 else Term(op, "", tuple(parts), place=machine.place(node))

    return decide


def _next(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    """The first item of an iterator that is made in the call itself, so that nobody has taken one before."""
    made = node.args[0].value if isinstance(node, syntax.Call) and node.args else None
    if not isinstance(made, (syntax.Comprehension, syntax.Call)) or not arguments.positional:
        return None
    items = machine.iterate(machine.resolve(arguments.positional[0]))
    if items is None or (items.open and not items.items):
        return None
    if not items.items:
        return arguments.positional[1] if len(arguments.positional) > 1 else None
    return None if items.conditions[0] else items.items[0]


def _len(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    value = machine.resolve(arguments.positional[0]) if arguments.positional else None
    if isinstance(value, Items) and not value.open and not any(value.conditions):
        if value.kind not in SETS:
            return Known(len(value.items), machine.place(node))
        different = {item.key() for item in value.items}
        if len(different) < 2 or all(isinstance(item, Known) for item in value.items):
            return Known(len(different), machine.place(node))
        return None  # items that are not known may be equal
    if isinstance(value, Entries) and not value.open:
        return Known(len(value.entries), machine.place(node))
    return None


def _getattr(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    if len(arguments.positional) < 2:
        return None
    base, name = machine.resolve(arguments.positional[0]), machine.resolve(arguments.positional[1])
    if not isinstance(name, Known) or not isinstance(name.value, str):
        return None
    default = arguments.positional[2] if len(arguments.positional) > 2 else None
    if default is not None:
        if (
            isinstance(base, Record)
            and name.value not in base.fields
            and (base.cls is None or base.cls.member(name.value) is None)
        ):
            return default
        if isinstance(base, Term) and base.op == "config" and config_access.has(base, name.value) is False:
            return default
        if types.has_attribute(base, name.value) is False:
            return default
    at = node.args[1].value if name.value.startswith("cutile_") and isinstance(node, syntax.Call) and len(node.args) > 1 else node
    return machine.attribute(base, name.value, at)


def _hasattr(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    base, name = machine.resolve(arguments.positional[0]), machine.resolve(arguments.positional[1])
    if isinstance(base, Record) and isinstance(name, Known):
        return Known(config_access.has_one(base, str(name.value)), machine.place(node))
    if isinstance(base, Term) and base.op == "config" and isinstance(name, Known):
        known = config_access.has(base, str(name.value))
        return Known(known, machine.place(node)) if known is not None else None
    if isinstance(name, Known) and (found := types.has_attribute(base, str(name.value))) is not None:
        return Known(found, machine.place(node))
    return None


def _isinstance(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    if len(arguments.positional) != 2:
        return None
    known = types.is_instance(*(machine.resolve(value) for value in arguments.positional))
    return Known(known, machine.place(node)) if known is not None else None


def _is_tensor(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    return _isinstance(machine, Arguments([*arguments.positional, Term("external", "torch.Tensor")]), node)


def _setattr(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    base, name = machine.resolve(arguments.positional[0]), machine.resolve(arguments.positional[1])
    if isinstance(base, Record) and isinstance(name, Known) and isinstance(name.value, str):
        machine.journal.write(base.fields, name.value, base.held(arguments.positional[2]))
        return Known(None)
    return None


def _namespace(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    if not arguments.exact:
        return None
    return Record("SimpleNamespace", dict(arguments.keywords), place=machine.place(node))


def _dict(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    result = Entries(machine.place(node))
    for value in arguments.positional:
        source = machine.resolve(value)
        if (spread := machine.dialect.spread_entries(machine, source, node)) is not None:
            machine.steps += len(spread.entries)
            for key, item in spread.items():
                result.put(key, item)
            result.open = result.open or spread.open
        elif isinstance(source, Items) and all(isinstance(item, Items) and len(item.items) == 2 for item in source.items):
            for item in source.items:
                result.put(item.items[0], item.items[1])  # type: ignore[attr-defined]
        else:
            result.open = True
    machine.steps += len(arguments.keywords)
    for name, value in arguments.keywords.items():
        result.put(Known(name), value)
    result.open = result.open or not arguments.exact
    return result


def _vars(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    base = machine.resolve(arguments.positional[0]) if arguments.positional else None
    if isinstance(base, Record):
        result = Entries(machine.place(node))
        for name, value in base.fields.items():
            result.put(Known(name), value)
        return result
    return base if isinstance(base, Term) and base.op == "config" else None


def _replace(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    base = machine.resolve(arguments.positional[0]) if arguments.positional else None
    if isinstance(base, Term) and base.op == "config":
        return config_access.replaced(machine, base, arguments, node)
    if isinstance(base, (Items, Entries)):  # ``copy``
        return python_methods.call(machine, base, "copy", Arguments(), node)
    if not isinstance(base, Record):
        return None
    place = machine.place(node)
    kept = base.fields if arguments.exact else {name: overridden(machine, name, place) for name in base.fields}
    return Record(base.name, {**kept, **arguments.keywords}, base.cls, place)


def overridden(machine: Machine, name: str, place: Place) -> Value:
    """A field that a ``**`` of unknown content may have set."""
    return Term("unknown", f"field `{name}`", serial=machine.fresh(), place=place)


def _partial(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    if not arguments.positional:
        return None
    return Partial(arguments.positional[0], arguments.positional[1:], dict(arguments.keywords), machine.place(node))


def _cached(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    value = arguments.positional[0] if arguments.positional else None
    return _tagged(value, "functools.cache") if isinstance(value, Closure) else None


def _super(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    frame = next(
        (frame for frame in reversed(machine.frames) if frame.closure is not None and frame.closure.owner is not None), None
    )
    if frame is None or frame.closure is None or frame.closure.owner is None or not frame.closure.function.params:
        return None
    owner = frame.closure.owner
    bound = machine.resolve(machine.scope.lookup(frame.closure.function.params[0].name) or Known(None))
    if not isinstance(bound, Record):
        return None
    bases = Class(owner.definition, owner.scope, owner.place)
    bases.bases = owner.bases
    return SuperRecord(bound, bases, machine.place(node))


def _method_kind(kind: str) -> Callable[[Machine, Arguments, syntax.Node], Value | None]:
    """``staticmethod(function)`` and ``classmethod(function)`` in a class body."""

    def make(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
        value = arguments.positional[0] if arguments.positional else None
        return _tagged(value, kind) if isinstance(value, Closure) else value

    return make


def _tagged(value: Closure, tag: str) -> Closure:
    copy = Closure(value.function, value.scope, value.place)
    copy.defaults, copy.owner, copy.tags = value.defaults, value.owner, [*value.tags, Term("external", tag)]
    return copy


def _namedtuple(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    names = machine.resolve(arguments.positional[1]) if len(arguments.positional) > 1 else None
    title = machine.resolve(arguments.positional[0]) if arguments.positional else None
    order: list[str] = []
    if isinstance(names, Known) and isinstance(names.value, str):
        order = names.value.replace(",", " ").split()
    elif isinstance(names, Items):
        order = [str(item.value) if isinstance(item, Known) else str(_first(item)) for item in names.items]
    if not order or not isinstance(title, Known):
        return None
    definition = syntax.ClassDef(node.span, str(title.value), [], [])
    cls = Class(definition, machine.scope, machine.place(node))
    cls.order = order
    cls.bases = [Term("external", "NamedTuple")]
    defaults = machine.resolve(arguments.keywords["defaults"]) if "defaults" in arguments.keywords else None
    if isinstance(defaults, Items):
        for name, value in zip(reversed(order), reversed(defaults.items), strict=False):
            cls.members[name] = value
    return cls


def _first(value: Value) -> object:
    if isinstance(value, Items) and value.items and isinstance(value.items[0], Known):
        return value.items[0].value
    return ""


def _identity(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    return arguments.positional[0] if arguments.positional else None


def _chain(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    result = Items("generator", [], machine.place(node), born=machine.path)
    for value in arguments.positional:
        machine.extend_items(result, value)
    return result


def _dedent(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    value = machine.resolve(arguments.positional[0]) if arguments.positional else None
    if isinstance(value, Known) and isinstance(value.value, str):
        import textwrap

        return Known(textwrap.dedent(value.value), value.place, value.trail)
    return value


def _check(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    """``torch._check(test, message)`` raises where the test does not hold."""
    test = arguments.get(0, "cond") or arguments.get(0, "condition")
    if test is None:
        return None
    machine.require(machine.resolve(test), node)
    return Known(None, machine.place(node))


def _reduce(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    items = machine.iterate(machine.resolve(arguments.positional[1])) if len(arguments.positional) > 1 else None
    if items is None or items.open or any(items.conditions):
        return None
    rest = [*arguments.positional[2:3], *items.items]
    result = rest[0] if rest else None
    for value in rest[1:]:
        result = machine.call(arguments.positional[0], Arguments([result, value], {}, [machine.place(node)] * 2), node)  # type: ignore[list-item]
    return result


def _methodcaller(machine: Machine, arguments: Arguments, node: syntax.Node) -> Value | None:
    name = machine.resolve(arguments.positional[0]) if arguments.positional else None
    if not isinstance(name, Known) or not isinstance(name.value, str):
        return None
    return Term("call", "operator.methodcaller", tuple(arguments.positional), arguments.keywords, 0, machine.place(node))


_NUMERIC: dict[str, Callable[..., object]] = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "abs": abs,
    "min": min,
    "max": max,
    "round": round,
    "divmod": divmod,
    "math.ceil": math.ceil,
    "math.floor": math.floor,
    "math.log2": math.log2,
    "math.sqrt": math.sqrt,
    "math.prod": math.prod,
}
_PURE = frozenset(_NUMERIC) | frozenset(
    """
    len isinstance issubclass callable type id hash repr range sum any all hasattr sorted reversed set frozenset tuple
    list os.environ.get os.getenv torch.is_grad_enabled math.log math.exp super slice
    """.split()
)
_ALIASES = {
    "types.SimpleNamespace": "SimpleNamespace",
    "argparse.Namespace": "SimpleNamespace",
    "functools.partial": "partial",
    "functools.reduce": "reduce",
    "functools.cache": "cache",
    "functools.lru_cache": "lru_cache",
    "collections.namedtuple": "namedtuple",
    "itertools.product": "product",
    "itertools.chain": "chain",
    "dataclasses.replace": "replace",
    "object.__setattr__": "setattr",
    "copy.copy": "copy",
    "copy.deepcopy": "copy",
    "collections.OrderedDict": "dict",
    "textwrap.dedent": "dedent",
    "inspect.cleandoc": "dedent",
    "builtins.getattr": "getattr",
    "operator.attrgetter": "attrgetter",
    "operator.methodcaller": "methodcaller",
    "torch._check": "torch._assert",
    "typing.cast": "cast",
    "dataclasses.asdict": "vars",
}
_FUNCTIONS: dict[str, Callable[[Machine, Arguments, syntax.Node], Value | None]] = {
    "range": _range,
    "list": _sequence("list"),
    "tuple": _sequence("tuple"),
    "set": _sequence("set"),
    "frozenset": _sequence("frozenset"),
    "sorted": _sequence("list"),
    "iter": _sequence("generator"),
    "zip": _zip,
    "enumerate": _enumerate,
    "product": _product,
    "chain": _chain,
    "map": _map,
    "filter": _filter,
    "json.loads": _loads,
    "types.MappingProxyType": _identity,
    "any": _any_all("or"),
    "all": _any_all("and"),
    "len": _len,
    "next": _next,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "isinstance": _isinstance,
    "torch.is_tensor": _is_tensor,
    "setattr": _setattr,
    "SimpleNamespace": _namespace,
    "dict": _dict,
    "vars": _vars,
    "replace": _replace,
    "copy": _replace,
    "partial": _partial,
    "cache": _cached,
    "lru_cache": _cached,
    "namedtuple": _namedtuple,
    "reduce": _reduce,
    "methodcaller": _methodcaller,
    "torch._assert": _check,
    "dedent": _dedent,
    "super": _super,
    "torch.compile": _identity,
    "torch.jit.script": _identity,
    "staticmethod": _method_kind("staticmethod"),
    "classmethod": _method_kind("classmethod"),
    "cast": lambda machine, arguments, node: arguments.positional[1] if len(arguments.positional) > 1 else None,
    "contextlib.nullcontext": _identity,
    "torch.compiler.disable": _identity,
    "torch._dynamo.disable": _identity,
}
