"""Elements that must not stand in an autotune key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.flows.determined import bare, leaves
from cutile_lint.unit.flows.origins import node_at
from cutile_lint.unit.machine.trace import Tuning
from cutile_lint.unit.machine.value_objects import kind_of
from cutile_lint.unit.machine.values import (
    Choice,
    Closure,
    Condition,
    Entries,
    Items,
    Known,
    Partial,
    Record,
    Term,
    Value,
    alternatives,
    subterms,
)
from cutile_lint.unit.runs import Run
from cutile_lint.unit.timed.keys import is_readable, key_of

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(slots=True, eq=False)
class Unstable:
    """An element that changes from call to call, or cannot be part of a key."""

    run: Run
    tuning: Tuning
    place: Place
    name: str
    reason: str


def unstable(unit: KernelUnit) -> Iterator[Unstable]:
    for run in unit.runs:
        for tuning in run.tunings:
            key = key_of(run, tuning)
            if key is None:
                continue
            place = key_place(tuning)
            found = list(_bad(unit, run, tuning, key, place, tuning.event.path))
            yield from found
            name = tuning.kernel_name
            same = is_readable(key) and _is_constant(key) and (name is None or _is_constant(name))
            if not found and same and not _constant_work(run, tuning):
                yield Unstable(run, tuning, place, "`key`", "is the same for every call: one tuned config serves all shapes")


def key_place(tuning: Tuning) -> Place:
    """Where the key is written: its tuple, else the argument."""
    key, arguments = tuning.key, tuning.event.arguments
    if isinstance(key, (Items, Entries)) and key.place is not None:
        return key.place
    if arguments is not None:
        if "key" in arguments.keyword_places:
            return arguments.keyword_places["key"]
        if len(arguments.places) > 2:
            return arguments.places[2]
    return tuning.event.place


def element_places(unit: KernelUnit, value: Value) -> list[Place | None]:
    """The places of a tuple's elements in its own text, where they stand there one by one."""
    if not isinstance(value, Items):
        return []
    node = node_at(unit.program, value.place) if value.place is not None else None
    if isinstance(node, syntax.Sequence) and len(node.items) == len(value.items):
        return [Place(value.place.source, item.span) for item in node.items]  # type: ignore[union-attr]
    return [None] * len(value.items)


def _bad(
    unit: KernelUnit, run: Run, tuning: Tuning, value: Value, place: Place, path: Condition, depth: int = 0
) -> Iterator[Unstable]:
    for chosen, one in alternatives(value):
        here = path + chosen
        reason = _reason(run, tuning, one, here)
        if reason:
            yield Unstable(run, tuning, place, _text(place), reason)
            return
        if isinstance(one, Items) and depth < 6:
            for item, condition, at in zip(one.items, one.conditions, element_places(unit, one), strict=True):
                yield from _bad(unit, run, tuning, item, at or place, here + condition, depth + 1)


_OF_OBJECTS = {
    "identity": "is an object that is new in every call",
    "unhashable": "is an object that cannot be hashed: its class has `__eq__` without `__hash__` (`@dataclass(frozen=True)` has both)",
}
#: functions that give an iterator
_ITERATORS = frozenset(["iter", "map", "filter", "zip", "enumerate", "reversed"])
_OF_ITERATORS = "is an iterator, which is new in every call and is not compared by what it gives"


def _is_iterator(value: Value) -> bool:
    if isinstance(value, Items):
        return value.kind == "generator"
    return isinstance(value, Term) and value.op == "call" and (value.name in _ITERATORS or value.name.startswith("itertools."))


def _reason(run: Run, tuning: Tuning, value: Value, path: Condition) -> str:
    if isinstance(value, Items):
        configs = [one for _, one in alternatives(tuning.configs)] if tuning.configs is not None else []
        if any(value is one for one in configs):
            return "is the list of configs, which is new in every call"
        if _is_iterator(value):
            return _OF_ITERATORS
        return f"is a {value.kind}, which cannot be hashed" if value.kind in ("list", "set") else ""
    if isinstance(value, Entries):
        return "is a dict, which cannot be hashed"
    if isinstance(value, Record):
        return _OF_OBJECTS.get(kind_of(value), "")
    if isinstance(value, (Closure, Partial)):
        return "is a function that is new in every call"
    if not isinstance(value, Term):
        return ""
    for part in _told(value):
        if part.op == "method" and part.name in ("data_ptr", "untyped_storage"):
            return "is an address, which changes from call to call"
        if part.op == "call" and part.name in ("id", "builtins.id"):
            return "is an object's identity, which changes from call to call"
    inner = value.args[0] if value.op == "call" and value.name in ("str", "repr", "hash") and value.args else value
    if _is_iterator(inner):
        return _OF_ITERATORS
    if run.tensors.surely(inner, path) and not _is_number(inner):
        return "is a tensor: it is compared by its elements, and hashed by identity"
    if value.op == "call" and value.name == "list":
        return "is a list, which cannot be hashed"
    if _is_float(run, value):
        return "is a float that varies from call to call and changes no launch"
    return ""


#: what is left of an address by such a divisor or mask says how it is aligned
_ALIGNMENT = 4096


def _told(value: Value) -> Iterator[Term]:
    """The terms that a value tells apart: not those that it only makes a flag or an alignment of (``x.data_ptr() % 16 == 0``)."""
    if isinstance(value, Term):
        if not _is_flag(value):
            yield value
            for part in (*value.args, *value.keywords.values()):
                yield from _told(part)
    elif isinstance(value, Choice):
        for _, one in value.alternatives:
            yield from _told(one)
    elif isinstance(value, Items):
        for item in value.items:
            yield from _told(item)


def _is_flag(value: Term) -> bool:
    if value.op == "binary" and value.name in ("%", "&"):
        given = value.args[1:] if value.name == "%" else value.args
        return any(isinstance(arg, Known) and isinstance(arg.value, int) and 0 < arg.value <= _ALIGNMENT for arg in given)
    return value.op in ("compare", "not") or (value.op == "call" and value.name == "bool")


def _is_number(value: Value) -> bool:
    return isinstance(value, Term) and value.op in ("compare", "not", "and", "or")


def _is_float(run: Run, value: Term) -> bool:
    inner = bare(value)
    if value.op == "call" and value.name == "float":
        return any(isinstance(part, Term) and part.op == "input" for part in subterms(value))
    if isinstance(inner, Term) and inner.op == "input" and inner is value:
        param = next((param for param in run.function.params if param.name == inner.name), None)
        if param is not None and isinstance(param.default, syntax.Const) and type(param.default.value) is float:
            return True
        return param is not None and param.annotation.replace(" ", "") in ("float", "float|None", "Optional[float]", "None|float")
    return False


def _is_constant(key: Value) -> bool:
    """Nothing of a key depends on the call."""
    return not any(
        True for leaf in leaves(key) for part in _parts(leaf) if isinstance(part, Term) and part.op not in ("external", "global")
    )


def _parts(value: Value) -> Iterator[Value]:
    yield from subterms(value)
    if isinstance(value, Choice):
        for path, _ in value.alternatives:
            for literal in path:
                yield from subterms(literal.test)


def _constant_work(run: Run, tuning: Tuning) -> bool:
    """The callable has no tensor inputs: every call is alike."""
    return not any(
        isinstance(part, Term) and part.op == "input"
        for launch in run.launches
        if launch.timed == tuning.number
        for value in launch.arguments.positional
        for part in subterms(value)
    )


def _text(place: Place) -> str:
    text = " ".join(place.text.split())
    return f"`{text}`" if text and len(text) <= 50 and "`" not in text else "an element of the key"
