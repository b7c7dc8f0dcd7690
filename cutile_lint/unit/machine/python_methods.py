"""Methods of lists, dicts, strings and configs that the machine computes; and the tensor methods that have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.unit.machine import config_access
from cutile_lint.unit.machine.texts import is_short_method, joined
from cutile_lint.unit.machine.values import SETS, Arguments, Choice, Entries, Items, Known, Record, Term, Value
from cutile_lint.unit.timed import torch_api

if TYPE_CHECKING:
    from cutile_lint.unit.machine.statements import Statements as Machine

#: Methods whose result depends on the object alone: calling twice gives the same value.
PURE = frozenset(
    """
    size dim ndimension numel nelement stride is_contiguous element_size data_ptr get_device storage_offset
    is_floating_point is_complex type index is_pinned untyped_storage
    """.split()
)
#: Views of one tensor with the same arguments are one value, so that two reads of ``x.t()`` compare equal.
_VIEWS = frozenset(
    """
    view reshape transpose permute t unsqueeze squeeze flatten view_as detach expand
    """.split()
)
PURE = PURE | _VIEWS
#: Methods whose result is a tensor, never None.
GIVES_TENSOR = _VIEWS | {
    "contiguous",
    "clone",
    "to",
    "float",
    "half",
    "bfloat16",
    "cuda",
    "new_empty",
    "new_zeros",
    "requires_grad_",
}

#: Attributes and methods that describe a tensor without touching its data …
METADATA = frozenset(["shape", "dtype", "device", "ndim", "is_cuda", "layout", "itemsize", "requires_grad"])
METADATA_METHODS = frozenset(
    """
    size dim ndimension numel nelement element_size get_device
    """.split()
)
#: … and that these keep: the result of ``x.detach().contiguous()`` has the shape of ``x``.
_KEEPS = frozenset(["detach", "contiguous", "clone", "requires_grad_", "detach_", "alias", "data"])
#: A view or copy of a tensor that requires grad requires grad, and of one that does not, not.
_KEEPS_GRAD = (torch_api.VIEWS | torch_api.VIEW_ATTRIBUTES | torch_api.KEEP_LAYOUT | {"contiguous"}) - torch_api.names(
    "detach detach_ data requires_grad_ int short char byte long bool"
)


def same_metadata(base: Value, name: str) -> Value:
    """The earliest tensor whose ``name`` (shape, dtype, …) is that of ``base``."""
    keeps = _KEEPS_GRAD if name == "requires_grad" else _KEEPS
    while isinstance(base, Term) and base.op in ("method", "attr") and base.name in keeps:
        base = base.args[0]
    return base


#: Methods without arguments, and the attributes that say the same.
_ATTRIBUTES = {"size": "shape", "dim": "ndim", "ndimension": "ndim"}


def as_attribute(machine: Machine, base: Term, name: str, arguments: Arguments, node: syntax.Node) -> Value | None:
    """``x.size()`` is ``x.shape``, ``x.size(0)`` is ``x.shape[0]``, ``x.dim()`` is ``x.ndim``."""
    if name not in _ATTRIBUTES or not arguments.exact:
        return None
    fact = machine.dialect.attribute(machine, base, _ATTRIBUTES[name], node)
    axis = arguments.get(0, "dim")
    return fact if axis is None else machine.item(fact, axis, node) if name == "size" else None


def call(machine: Machine, base: Value, name: str, arguments: Arguments, node: syntax.Node) -> Value | None:
    """The result of a method that is known here; None for others."""
    if isinstance(base, Items):
        return _items(machine, base, name, arguments, node)
    if isinstance(base, Entries):
        return _entries(machine, base, name, arguments, node)
    if isinstance(base, Known) and isinstance(base.value, str):
        return _text(machine, base, name, arguments, node)
    if isinstance(base, Record):
        return _record(machine, base, name, arguments, node)
    if isinstance(base, Term) and base.op == "config" and name in ("get", "__getitem__") and arguments.positional:
        key = machine.resolve(arguments.positional[0])
        if isinstance(key, Known):
            if name == "get" and config_access.has(base, str(key.value)) is False:
                return arguments.positional[1] if len(arguments.positional) > 1 else Known(None, machine.place(node))
            return config_access.field(machine, base, str(key.value), node)
    if config_access.is_config(base) and name in ("_asdict", "copy", "items", "keys", "values"):
        fields = config_access.entries(machine, base, node)  # type: ignore[arg-type]
        return fields if name == "_asdict" else _entries(machine, fields, name, arguments, node)
    if config_access.is_config(base) and name == "_replace":
        return config_access.replaced(machine, base, arguments, node)  # type: ignore[arg-type]
    return None


def on_exit(machine: Machine, base: Term, name: str, arguments: Arguments, node: syntax.Node) -> Value | None:
    """What an ``ExitStack`` is given runs with the block that it is of: ``callback(f, …)``, ``enter_context(x)``, ``push(x)``."""
    stack = base.args[0] if base.op == "entered" else base
    if not isinstance(stack, Term) or stack.op != "call" or not stack.name.endswith("ExitStack") or not arguments.positional:
        return None
    given = machine.resolve(arguments.positional[0])
    if name == "callback":
        rest = Arguments(
            arguments.positional[1:], arguments.keywords, arguments.places[1:], arguments.keyword_places, arguments.exact
        )
        machine.call(given, rest, node)
        return given
    if name not in ("enter_context", "push") or not isinstance(given, Record):
        return None
    entered = machine.enter(given, node) if name == "enter_context" else given
    machine.leave(given, node)
    return entered


def _items(machine: Machine, base: Items, name: str, arguments: Arguments, node: syntax.Node) -> Value | None:
    if name in ("append", "add", "appendleft") and len(arguments.positional) == 1:
        machine.add_item(base, arguments.positional[0], machine.path)
        if name == "appendleft":
            base.move_last(0)
        base.open = base.open or bool(machine.loops)
        return Known(None)
    if name in ("extend", "update") and len(arguments.positional) == 1:
        machine.extend_items(base, arguments.positional[0])
        base.open = base.open or bool(machine.loops)
        return Known(None)
    if name == "insert" and len(arguments.positional) == 2:
        machine.add_item(base, arguments.positional[1], machine.path)
        at = machine.resolve(arguments.positional[0])
        if isinstance(at, Known) and isinstance(at.value, int):
            base.move_last(at.value)
        return Known(None)
    if name == "copy" or (name == "union" and base.kind in SETS):
        machine.steps += len(base.items)
        made = base.with_items(list(base.items))
        for other in arguments.positional:
            machine.extend_items(made, other)
        return made
    if name in ("pop", "popleft"):
        at = arguments.positional[0] if arguments.positional else Known(-1 if name == "pop" else 0)
        item = machine.taken_out(base, at)
        if item is None or isinstance(item, Known):
            return None
        machine.emit("call", node, name, value=item, arguments=arguments, target=base)
        return item
    if name == "clear":
        for item in [] if machine.loops else base.left(machine.path):
            base.take(item, machine.path)
    if name in ("remove", "clear", "discard", "sort", "reverse"):
        base.open = base.open or name in ("remove", "clear", "discard")
        return Known(None)
    return None


def _entries(machine: Machine, base: Entries, name: str, arguments: Arguments, node: syntax.Node) -> Value | None:
    if name in ("get", "setdefault", "pop") and arguments.positional:
        key = machine.resolve(arguments.positional[0])
        if name == "get" and isinstance(key, Choice):
            rest = arguments.positional[1:]
            return machine.distribute(key, lambda one: _looked_up(machine, base, Arguments([one, *rest]), node))
        found = base.get(key)
        if found is not None:
            if name == "pop":
                machine.drop_entry(base, key.key())
            return machine.resolve(found)
        if isinstance(key, Known) and not base.open:
            given = arguments.positional[1] if len(arguments.positional) > 1 else Known(None, machine.place(node))
            if name == "setdefault":
                machine.journal.write(base.keys, key.key(), key)
                machine.journal.write(base.entries, key.key(), base.held(given))
            return given
        return None
    if name in ("items", "keys", "values", "copy"):
        machine.steps += len(base.entries)
    if name == "items":
        pairs = Items("list", [Items("tuple", [key, value]) for key, value in base.items()], machine.place(node))
        pairs.open = base.open
        return pairs
    if name in ("keys", "values"):
        column = list(base.keys.values()) if name == "keys" else [value for _, value in base.items()]
        result = Items("list", column, machine.place(node))
        result.open = base.open
        return result
    if name == "clear" and not base.open:
        for known in list(base.entries):
            machine.drop_entry(base, known)
        return Known(None)
    if name == "update":
        for value in arguments.positional:
            other = machine.dialect.spread_entries(machine, machine.resolve(value), node)
            if other is not None:
                machine.steps += len(other.entries)
                for key, item in other.items():
                    base.put(key, item)
                base.open = base.open or other.open
            else:
                base.open = True
        for key, item in arguments.keywords.items():
            base.put(Known(key), item)
        return Known(None)
    if name == "copy":
        result_copy = Entries(base.place)
        result_copy.entries, result_copy.keys, result_copy.open = dict(base.entries), dict(base.keys), base.open
        return result_copy
    return None


def _looked_up(machine: Machine, base: Entries, arguments: Arguments, node: syntax.Node) -> Value:
    found = _entries(machine, base, "get", arguments, node)
    return found if found is not None else Term("unknown", "entry", serial=machine.fresh(), place=machine.place(node))


def _text(machine: Machine, base: Known, name: str, arguments: Arguments, node: syntax.Node) -> Value | None:
    values = [machine.resolve(value) for value in arguments.positional]
    if name in ("format", "join") and not all(isinstance(value, Known) for value in values):
        if name == "join" and values and (items := machine.iterate(values[0])) is not None:
            if not items.open and all(isinstance(item, Known) for item in items.items):
                text = joined([item.value for item in items.items], str(base.value))  # type: ignore[attr-defined]
                return machine.constant(text, machine.place(node)) if text is not None else None
        return None
    keywords = {key: machine.resolve(value) for key, value in arguments.keywords.items()}
    known = all(isinstance(value, Known) for value in [*values, *keywords.values()])
    if known and name in (
        "format",
        "replace",
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "removeprefix",
        "removesuffix",
        "startswith",
    ):
        given = [value.value for value in values]  # type: ignore[attr-defined]
        named = {key: value.value for key, value in keywords.items()}  # type: ignore[attr-defined]
        if not is_short_method(str(base.value), name, [*given, *named.values()]):
            return None
        try:
            result = getattr(str(base.value), name)(*given, **named)
        except Exception:
            return None
        return machine.constant(result, base.place, base.trail)
    return None


def _record(machine: Machine, base: Record, name: str, arguments: Arguments, node: syntax.Node) -> Value | None:
    if name == "_replace":
        from cutile_lint.unit.machine.python_builtins import overridden

        place = machine.place(node)
        kept = base.fields if arguments.exact else {field: overridden(machine, field, place) for field in base.fields}
        return Record(base.name, {**kept, **arguments.keywords}, base.cls, place)
    if name == "_asdict":
        result = Entries(machine.place(node))
        for key, value in base.fields.items():
            result.put(Known(key), value)
        return result
    if name == "get" and arguments.positional and isinstance(arguments.positional[0], Known):
        return base.fields.get(str(arguments.positional[0].value))
    return None
