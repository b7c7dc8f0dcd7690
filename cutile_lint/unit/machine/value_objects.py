"""Objects as parts of a key: compared by what they hold, by identity, or not hashable at all; and sequences that are joined."""

from __future__ import annotations

from cutile_lint.unit.machine.values import Choice, Class, Closure, Items, Known, Record, Term, Value

#: decorators (by their last name) that write ``__eq__``, with the ones that also write ``__hash__``
_MAKES_EQUAL, _MAKES_HASHABLE = frozenset(["dataclass", "define", "mutable", "attrs", "s"]), frozenset(["frozen"])
_TUPLES = frozenset(["NamedTuple", "namedtuple"])
_NO_MORE = frozenset(["object", "ABC", "Generic", "Protocol"])


def kind_of(record: Record) -> str:
    """ "value": equal and hashed by its fields; "identity"; "unhashable"; "" where that is not known."""
    if record.cls is None:
        return "unhashable" if record.name == "SimpleNamespace" else ""
    return _kind(record.cls)


def _kind(cls: Class) -> str:
    """By Python's rules: who defines ``__eq__`` alone has no ``__hash__``."""
    if isinstance(cls.members.get("__hash__"), Closure):
        return "value"
    if isinstance(cls.members.get("__eq__"), Closure):
        return "unhashable"
    for decorator in cls.decorators:
        name = decorator.name.rsplit(".", 1)[-1] if isinstance(decorator, Term) else ""
        if name in _MAKES_HASHABLE:
            return "value"
        if name not in _MAKES_EQUAL:
            if name in ("total_ordering", "runtime_checkable", "final"):
                continue
            return ""
        options = decorator.keywords if isinstance(decorator, Term) and decorator.op == "call" else {}
        given = {key: option.value if isinstance(option, Known) else None for key, option in options.items()}
        if None in given.values():
            return ""
        if given.get("frozen") or given.get("unsafe_hash"):
            return "value" if given.get("eq", True) else "identity"
        return "unhashable" if given.get("eq", True) else "identity"
    kinds = [_base(base) for base in cls.bases]
    return next((kind for kind in kinds if kind != "identity"), "identity")


def _base(base: Value) -> str:
    if isinstance(base, Class):
        return _kind(base)
    if not isinstance(base, Term):
        return ""
    last = base.name.rsplit(".", 1)[-1]
    return "value" if last in _TUPLES else "identity" if last in _NO_MORE else ""


def opened(value: Value) -> Value:
    """The value with a tuple of its fields for each object that is compared by them, and one of the parts for sequences that are joined."""
    if isinstance(value, Record) and kind_of(value) == "value":
        return Items("tuple", [opened(field) for field in value.fields.values()], value.place)
    if isinstance(value, Items) and value.kind == "tuple":
        items = [opened(item) for item in value.items]
        if any(new is not old for new, old in zip(items, value.items, strict=True)):
            return value.with_items(items)
    if isinstance(value, Choice):
        return Choice([(path, opened(inner)) for path, inner in value.alternatives], value.place, value.trail)
    if isinstance(value, Term) and value.op == "call" and value.name in _TELLS_ALL and len(value.args) == 1:
        inner = opened(value.args[0])
        if isinstance(inner, Items) and value.name in _TO_TUPLE:
            return Items("tuple", inner.items, value.place)
        if inner is not value.args[0]:
            return Term(value.op, value.name, (inner,), value.keywords, value.serial, value.place, value.trail)
    if (parts := _joined(value)) is not None:
        kind = "list" if any(_is_list(part) for part in parts) else "tuple"
        return Items(kind, [opened(item) for part in parts for item in _items_of(part)], value.place)
    return value


#: functions whose result tells values of their argument apart
_TO_TUPLE = frozenset(["tuple", "torch.Size"])
_TELLS_ALL = _TO_TUPLE | frozenset(["hash", "repr", "str"])


def _joined(value: Value) -> list[Value] | None:
    """The sequences that ``a.shape + (n,)`` and ``sum((a.shape, b.shape), ())`` put one behind the other; None for a sum of numbers."""
    if not isinstance(value, Term):
        return None
    if value.op == "binary" and value.name == "+":
        found = [_joined(arg) or [arg] for arg in value.args]
        parts = [part for one in found for part in one]
        return parts if any(_is_sequence(part) for part in parts) else None
    if value.op == "call" and value.name == "sum" and isinstance(value.args[0], Items):
        start = value.args[1] if len(value.args) > 1 else value.keywords.get("start")
        return [start, *value.args[0].items] if isinstance(start, Items) and not value.args[0].open else None
    return None


def _is_sequence(value: Value) -> bool:
    """A tuple or list, a shape, or a part of one."""
    if isinstance(value, Term):
        if value.op == "index" and isinstance(value.args[1], Term) and value.args[1].op == "slice":
            return _is_sequence(value.args[0])
        return (value.op == "attr" and value.name == "shape") or (value.op == "call" and value.name in (*_TO_TUPLE, "list"))
    return isinstance(value, Items)


def _items_of(sequence: Value) -> list[Value]:
    """The items of a sequence; one that is not known item by item stands for its own."""
    if isinstance(sequence, Term) and sequence.op == "call" and sequence.name in (*_TO_TUPLE, "list") and sequence.args:
        return _items_of(sequence.args[0])
    return sequence.items if isinstance(sequence, Items) and not sequence.open and not any(sequence.conditions) else [sequence]


def _is_list(value: Value) -> bool:
    return (
        value.kind == "list"
        if isinstance(value, Items)
        else isinstance(value, Term) and value.op == "call" and value.name == "list"
    )
