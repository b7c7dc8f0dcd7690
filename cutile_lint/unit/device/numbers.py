"""Reading numbers of a device kernel: without conversions, in summands and factors, down to block numbers."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.unit.device.buffers import last_name
from cutile_lint.unit.machine.values import Choice, Items, Known, Term, Value

#: Operations that leave a number as it is.
_SAME = frozenset(
    "exti trunci scalar_to_tile tile_to_scalar broadcast_scalar convert_tile convert_scalar broadcast broadcast_to reshape bitcast constant "
    "assume_div_by assume_bounds_lower assume_bounds_upper assume_bounds int unwrap value dim_new dim_value dim_from_i32".split()
)
#: A leaf of an expression: ("own", axis), ("own-count",), ("own-stride", axis), ("block",), ("lane",), ("item",), ("free", …) for
#: tile sizes and constants of the launch, ("data",) for loaded values, ("other", …).
Leaf = tuple


def plain(value: Value | None) -> Value:
    """A number without conversions and broadcasts."""
    while isinstance(value, Term) and value.args and value.op in ("call", "method") and last_name(value.name) in _SAME:
        value = value.args[0]
    return value if value is not None else Known(None)


def product(value: Value) -> tuple[Value, ...] | None:
    if isinstance(value, Term) and ((value.op == "binary" and value.name == "*") or last_name(value.name) == "muli"):
        return value.args[:2]
    return None


def computed(value: Value) -> bool:
    return isinstance(value, Term) and value.op in ("binary", "unary", "call")


def terms(value: Value) -> Iterator[Term]:
    """All terms of a value, elements of loops not entered."""
    stack, seen = [value], set()
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Term):
            yield item
            if item.op != "element" and block_axis(item) is None:
                stack += item.args
        elif isinstance(item, Choice):
            stack += [inner for _, inner in item.alternatives]
        elif isinstance(item, Items):
            stack += item.items


def block_axis(value: Value) -> int | None:
    """The axis of ``get_tile_block_id().k``."""
    if isinstance(value, Term) and value.op in ("attr", "index") and value.args:
        base = value.args[0]
        if isinstance(base, Term) and base.op == "call" and last_name(base.name) == "get_tile_block_id":
            if value.op == "attr" and value.name.isdigit():
                return int(value.name)
            if value.op == "index" and isinstance(value.args[1], Known) and isinstance(value.args[1].value, int):
                return value.args[1].value
    return None


def is_block(value: Value) -> bool:
    return block_axis(plain(value)) is not None


def loop_range(value: Value) -> tuple[Value | None, Value, bool]:
    """(end, start, stepped by the number of blocks or something else) of what a loop iterates over."""
    stepped = False
    while isinstance(value, Term) and value.op == "method" and value.args and value.name in ("step_by", "rev"):
        if value.name == "step_by":
            stepped = True
        value = value.args[0]
    if isinstance(value, Term) and value.op == "range" and value.name == "..":
        return value.args[1], value.args[0], stepped
    return None, Known(None), stepped


def moving(leaves: set[Leaf]) -> bool:
    return any(leaf[0] in ("block", "item", "lane") for leaf in leaves)


def predicate(value: Value) -> str:
    return last_name(value.name) if isinstance(value, Term) else ""


def summands(value: Value) -> Iterator[Value]:
    value = plain(value)
    if isinstance(value, Term) and ((value.op == "binary" and value.name == "+") or last_name(value.name) == "addi"):
        for part in value.args[:2]:
            yield from summands(part)
    else:
        yield value


def factors(value: Value) -> Iterator[Value]:
    value = plain(value)
    if isinstance(value, Term) and ((value.op == "binary" and value.name == "*") or last_name(value.name) == "muli"):
        for part in value.args[:2]:
            for inner in summands(part):
                yield from factors(inner)
    else:
        yield value
