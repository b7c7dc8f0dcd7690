"""Methods of Rust's standard types that the machine computes: options, results, vectors, conversions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.sources import Place
from cutile_lint.unit.machine.paths import truth
from cutile_lint.unit.machine.values import Arguments, Choice, Closure, Items, Known, Term, Value, alternatives, beyond
from cutile_lint.unit.options.option_names import SETTERS

if TYPE_CHECKING:
    from cutile_lint.unit.machine.statements import Statements as Machine

#: Methods that give the object itself, as far as its content goes.
_SAME = frozenset(
    """
    to_string to_owned clone into as_ref as_mut borrow as_str as_slice iter into_iter copied cloned collect to_vec
    into_boxed_slice as_deref by_ref try_into
    """.split()
)
#: Adapters that give an iterator, whose ``map`` goes over elements (an option's has at most one).
_ADAPTERS = frozenset(
    ["take", "skip", "rev", "step_by", "zip", "enumerate", "chain", "windows", "chunks", "take_while", "skip_while"]
)
#: Methods that exchange elements of a slice in place.
_EXCHANGES = frozenset(["swap", "reverse", "rotate_left", "rotate_right"])
#: Methods of vectors behind which it is not known what stands where, or how many there are.
_REARRANGES = frozenset(
    """
    sort sort_by sort_by_key sort_by_cached_key sort_unstable sort_unstable_by sort_unstable_by_key rotate_left rotate_right reverse swap
    fill dedup dedup_by dedup_by_key retain retain_mut remove swap_remove pop pop_front pop_back truncate clear drain split_off resize splice
    """.split()
)
#: Methods that compare a number with 0.
_SIGNS = {"is_positive": ">", "is_negative": "<"}
#: Methods that ask whether there is something inside.
_PRESENT = {"is_some": True, "is_ok": True, "is_none": False, "is_err": False}
#: Methods of the launch builder: never looked up among the crate's own methods.
_BUILDER = SETTERS | frozenset(["generics", "grid", "const_grid", "compile_options", "sync_on", "async_on", "sync"])


def is_builder(name: str) -> bool:
    return name in _BUILDER


def _none(value: Value) -> bool:
    return isinstance(value, Term) and value.op == "external" and value.name == "None"


def _some(value: Value) -> Value | None:
    """The payload of ``Some(x)`` / ``Ok(x)``."""
    if isinstance(value, Term) and value.op == "call" and value.name in ("Some", "Ok") and value.args:
        return value.args[0]
    return None


def _fails(value: Value) -> bool:
    """``None`` or ``Err(e)``."""
    return _none(value) or (isinstance(value, Term) and value.op == "call" and value.name == "Err")


def _zipped(value: Value) -> tuple[Value, ...] | None:
    """The two options of ``a.zip(b)``: there is something in it where there is in both."""
    if isinstance(value, Term) and value.op == "method" and value.name == "zip" and len(value.args) == 2:
        return value.args
    return None


def inside(value: Value, place: Place, variant: str = "Some") -> Value:
    """What an option or result of unknown content holds, where it is this variant."""
    if (both := _zipped(value)) is not None and variant == "Some":
        return Items("tuple", [inside(one, place) for one in both], place)
    some = _some(value)
    return some if some is not None else Term("payload", f"{variant}.0", (value,), place=place)


def unwrap(machine: Machine, value: Value, node: syntax.Node) -> Value:
    """What is inside an option or result, on the path on which there is something."""
    if isinstance(value, Choice):
        kept = [(path, unwrap(machine, one, node)) for path, one in alternatives(value) if not _fails(one)]
        return machine.choice(kept, machine.place(node)) if kept else value
    return inside(value, machine.place(node))


def is_some(value: Value, place: Place, holds: bool = True) -> Value:
    """The test whether there is something inside (``holds`` False: nothing). ``Some`` and ``None``, ``Ok`` and ``Err`` are complements."""
    if isinstance(value, Choice):
        return Choice([(path, is_some(one, place, holds)) for path, one in value.alternatives], place)
    if _fails(value):
        return Known(not holds, place)
    if not isinstance(value, Term) or _some(value) is not None:
        return Known(holds, place)
    test = _is_some_unknown(value, place)
    return test if holds else Term("not", "", (test,), place=place)


def _is_some_unknown(value: Term, place: Place) -> Term:
    if (both := _zipped(value)) is not None:
        return Term("and", "", tuple(is_some(one, place) for one in both), place=place)
    return Term("compare", "is-variant", (value, Known("Some")), place=place)


def unwrap_or_leave(machine: Machine, value: Value, node: syntax.Node, leave: Callable[[], None]) -> Value:
    """What is inside; where there is nothing, ``leave`` ends the path."""
    value = machine.resolve(value)
    machine.go_on_if(is_some(value, machine.place(node)), leave)
    return unwrap(machine, machine.resolve(value), node)


def call(machine: Machine, base: Value, name: str, arguments: Arguments, node: syntax.Node) -> Value | None:
    """The result of a method that is known here; None for others."""
    if name in _SAME and not arguments.positional:
        if isinstance(base, Items) and name in ("clone", "to_vec", "to_owned", "collect"):
            machine.steps += len(base.items)
            return base.with_items(list(base.items))
        return base
    args = arguments.positional
    place = machine.place(node)
    if name in _SIGNS and not args:
        return machine.compare(_SIGNS[name], base, Known(0), node)
    if name == "contains" and len(args) == 1 and isinstance(base, Term) and base.op == "range":
        return _in_range(machine, base, args[0], node)
    if name in ("then", "then_some") and len(args) == 1:
        yes, no = machine.split(base)
        none = Term("external", "None", place=place)
        if truth(base) is False:
            return none

        def make() -> Value:
            inner = machine.call(args[0], Arguments(), node) if name == "then" else args[0]
            return Term("call", "Some", (inner,), place=place)

        return machine.choice(machine.branches([(yes, make), (no, lambda: none)]), place)
    if name in ("map", "and_then", "filter", "inspect") and len(args) == 1:
        if isinstance(args[0], Closure) or (isinstance(base, Items) and name == "map"):
            return _map(machine, base, name, args[0], node)
    if name in ("unwrap_or", "unwrap_or_else", "unwrap_or_default", "map_or", "map_or_else", "fold") and name != "fold":
        return _unwrap_or(machine, base, name, args, node)
    if name in ("unwrap", "expect", "unwrap_unchecked"):
        if name == "unwrap_unchecked":
            return unwrap(machine, base, node)
        machine.emit("panic", node, name, value=base)
        return unwrap_or_leave(machine, base, node, lambda: machine.stop("raise"))
    if name in _PRESENT and not args and isinstance(base, (Term, Choice)):
        return is_some(base, place, _PRESENT[name])
    if name in ("ok", "ok_or", "ok_or_else") and isinstance(base, (Term, Choice)):
        return _converted(machine, base, name, args, node)
    if name in _EXCHANGES and isinstance(base, Term):
        return _exchange(machine, base, name, args, node)
    if isinstance(base, Items):
        return _items(machine, base, name, args, node)
    if isinstance(base, Known) and name in ("max", "min") and len(args) == 1 and isinstance(args[0], Known):
        try:
            return Known((max if name == "max" else min)(base.value, args[0].value), place)  # type: ignore[type-var, call-overload]
        except TypeError:
            return None
    return None


def _converted(machine: Machine, base: Value, name: str, args: list[Value], node: syntax.Node) -> Value:
    """``.ok_or(code)`` and ``.ok()``: an option as a result, and back."""
    place = machine.place(node)
    if isinstance(base, Choice):
        options = [(path, lambda one=one: _converted(machine, one, name, args, node)) for path, one in alternatives(base)]
        return machine.choice(machine.branches(options), place)  # type: ignore[arg-type]
    yes, no = machine.split(is_some(base, place))

    def filled() -> Value:
        return Term("call", "Some" if name == "ok" else "Ok", (inside(base, place),), place=place)

    def empty() -> Value:
        if name == "ok":
            return Term("external", "None", place=place)
        code = machine.call(args[0], Arguments(), node) if name == "ok_or_else" and args else args[0] if args else Known(None)
        return Term("call", "Err", (code,), place=place)

    if _fails(base):
        return empty()
    if not yes and not no:
        return filled()
    return machine.choice(machine.branches([(yes, filled), (no, empty)]), place)


def _in_range(machine: Machine, bounds: Term, value: Value, node: syntax.Node) -> Value:
    """``(low..high).contains(&value)`` as the comparisons that it is."""
    low, high = bounds.args
    tests = [machine.compare(">=", value, low, node)] if not _is_open(low) else []
    if not _is_open(high):
        tests.append(machine.compare("<=" if bounds.name == "..=" else "<", value, high, node))
    return machine._all(tests, node)


def _is_open(bound: Value) -> bool:
    return isinstance(bound, Known) and bound.value is None


def _exchange(machine: Machine, base: Term, name: str, args: list[Value], node: syntax.Node) -> Value | None:
    """``shape.swap(0, 1)`` on a copy of unknown content: the local variable, or the field, stands for the exchanged content from here on."""
    target = node.func.base if isinstance(node, syntax.Call) and isinstance(node.func, syntax.Attr) else None
    if not isinstance(target, (syntax.Name, syntax.Attr)):
        return None
    place = machine.place(node)
    result = Term("method", name, (base, *args), place=place)
    machine.emit("call", node, name, value=result, arguments=Arguments(list(args)), target=base)
    machine.assign(target, result, node)
    return Known(None, place)


def _apply(machine: Machine, closure: Value, value: Value, node: syntax.Node) -> Value:
    return machine.call(closure, Arguments([value], {}, [machine.place(node)]), node)


def _map(machine: Machine, base: Value, name: str, closure: Value, node: syntax.Node) -> Value | None:
    place = machine.place(node)
    none = Term("external", "None", place=place)
    if isinstance(base, Items):
        if name != "map":
            return None
        result = Items("list", [_apply(machine, closure, item, node) for item in base.items], place, born=machine.path)
        result.open = base.open
        return result
    if isinstance(base, Choice):
        options = [(path, lambda one=one: _map(machine, one, name, closure, node) or one) for path, one in alternatives(base)]
        return machine.choice(machine.branches(options), place)  # type: ignore[arg-type]
    if _none(base):
        return none
    if isinstance(base, Term) and (base.op == "range" or (base.op == "method" and base.name in _ADAPTERS)):
        element = Term("element", args=(base,), place=place, serial=machine.fresh())
        result = Items("list", [_apply(machine, closure, element, node)], place)
        result.open = True
        return result
    inner = _some(base)
    if inner is None and isinstance(base, Term):
        test = is_some(base, place)
        inner = inside(base, place)
    elif inner is None:
        return None
    else:
        test = Known(True)
    if name == "filter":
        condition = _apply(machine, closure, inner, node)
        both = condition if truth(test) is True else Term("and", "", (test, condition), place=place)
        yes, no = machine.split(both)
        return machine.choice([(yes, Term("call", "Some", (inner,), place=place)), (no, none)], place)
    yes, no = machine.split(test)

    def apply() -> Value:
        value = _apply(machine, closure, inner, node)
        return value if name == "and_then" else Term("call", "Some", (value,), place=place)

    if not yes and not no:
        return apply()
    return machine.choice(machine.branches([(yes, apply), (no, lambda: none)]), place)


def _unwrap_or(machine: Machine, base: Value, name: str, args: list[Value], node: syntax.Node) -> Value | None:
    place = machine.place(node)

    def otherwise() -> Value:
        if name in ("unwrap_or", "map_or") and args:
            return args[0]
        if name in ("unwrap_or_else", "map_or_else") and args:
            return machine.call(args[0], Arguments(), node)
        return Known(0, place)

    def present(inner: Value) -> Value:
        if name in ("map_or", "map_or_else") and len(args) == 2:
            return machine.call(args[1], Arguments([inner], {}, [place]), node)
        return inner

    if isinstance(base, Choice):
        options = [
            (path, lambda one=one: otherwise() if _none(one) else present(unwrap(machine, one, node)))
            for path, one in alternatives(base)
        ]
        return machine.choice(machine.branches(options), place)  # type: ignore[arg-type]
    if _none(base):
        return otherwise()
    if (inner := _some(base)) is not None:
        return present(inner)
    if isinstance(base, Term):
        yes, no = machine.split(is_some(base, place))
        return machine.choice(machine.branches([(yes, lambda: present(inside(base, place))), (no, otherwise)]), place)
    return None


def _is_certain(machine: Machine, base: Items) -> bool:
    """All items are known, and what happens to them here happens on each path on which they are there."""
    return not (base.open or any(base.conditions) or machine.loops or beyond(machine.path, base.born))


def _items(machine: Machine, base: Items, name: str, args: list[Value], node: syntax.Node) -> Value | None:
    if name == "push" and args:
        machine.add_item(base, args[0], machine.path)
        base.open = base.open or bool(machine.loops)
        return Known(None)
    if name in ("extend", "append", "extend_from_slice") and args:
        machine.extend_items(base, args[0])
        return Known(None)
    if name == "insert" and len(args) == 2:
        at = args[0]
        machine.add_item(base, args[1], base.born)
        if isinstance(at, Known) and isinstance(at.value, int) and base.items:
            base.move_last(at.value)
            return Known(None)
        base.open = True
        return Known(None)
    if name == "swap" and len(args) == 2 and all(isinstance(arg, Known) and isinstance(arg.value, int) for arg in args):
        first, second = (arg.value for arg in args)  # type: ignore[attr-defined]
        if max(first, second) < len(base.items) and _is_certain(machine, base):
            base.items[first], base.items[second] = base.items[second], base.items[first]
            return Known(None)
    if name == "reverse" and _is_certain(machine, base):
        base.items.reverse()
        return Known(None)
    if name in _REARRANGES:
        base.open = True
        return None
    if name == "len" and not base.open and not any(base.conditions):
        return Known(len(base.items), machine.place(node))
    machine.steps += len(base.items)
    if (
        name == "windows"
        and not base.open
        and len(args) == 1
        and isinstance(size := args[0], Known)
        and isinstance(size.value, int)
    ):
        parts = [base.items[at : at + size.value] for at in range(len(base.items) - size.value + 1)] if size.value > 0 else []
        return Items("list", [Items("list", part) for part in parts], machine.place(node))
    if name == "chain" and args:
        result = Items("list", list(base.items), machine.place(node), list(base.conditions), machine.path)
        result.open = base.open
        machine.extend_items(result, args[0])
        return result
    if name in ("rev", "into_iter") and name == "rev":
        return Items("list", base.items[::-1], machine.place(node), base.conditions[::-1])
    if name == "enumerate":
        return Items("list", [Items("tuple", [Known(at), item]) for at, item in enumerate(base.items)], machine.place(node))
    if name in ("any", "all") and args and not base.open:
        parts = [_apply(machine, args[0], item, node) for item in base.items]  # type: ignore[arg-type]
        op = "or" if name == "any" else "and"
        return parts[0] if len(parts) == 1 else Term(op, "", tuple(parts), place=machine.place(node))
    if name in ("concat", "flatten") and all(isinstance(item, Items) for item in base.items):
        result = Items("list", [], machine.place(node), born=machine.path)
        result.open = base.open
        for item in base.items:
            machine.extend_items(result, item)
        return result
    if not base.open and not any(base.conditions):
        if name == "fold" and len(args) == 2:
            folded, place = args[0], machine.place(node)
            for item in base.items:
                folded = machine.call(args[1], Arguments([folded, item], {}, [place, place]), node)
            return folded
        if (
            name == "zip"
            and len(args) == 1
            and (other := machine.iterate(args[0])) is not None
            and not (other.open or any(other.conditions))
        ):
            pairs = zip(base.items, other.items, strict=False)
            return Items("list", [Items("tuple", list(pair)) for pair in pairs], machine.place(node))
        if name in ("take", "skip") and len(args) == 1 and isinstance(args[0], Known) and isinstance(args[0].value, int):
            count = args[0].value
            return Items("list", base.items[:count] if name == "take" else base.items[count:], machine.place(node))
    if name == "for_each" and args:
        for item in list(base.items):
            _apply(machine, args[0], item, node)  # type: ignore[arg-type]
        return Known(None)
    return None
