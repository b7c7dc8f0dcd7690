"""What a key tells of a dtype when it only asks something of it: ``x.dtype == torch.bfloat16`` has the same answer for f16 and f32."""

from __future__ import annotations

from collections.abc import Iterable

from cutile_lint.unit.flows.determined import Determined, bare, canonical
from cutile_lint.unit.flows.fold import UNKNOWN, Folder
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Term, Value, with_conditions
from cutile_lint.unit.timed.calls import only
from cutile_lint.unit.timed.needless import LONG_NAMES

_BYTES = {
    "torch.float64": 8, "torch.float32": 4, "torch.float16": 2, "torch.bfloat16": 2, "torch.int64": 8, "torch.int32": 4, "torch.int16": 2,
    "torch.int8": 1, "torch.uint8": 1, "torch.bool": 1, "torch.float8_e4m3fn": 1, "torch.float8_e5m2": 1,
}  # fmt: skip


class KeyDtypes:
    """The ``elements`` of a key, for each dtype that the ``path`` to the tuner lets pass."""

    def __init__(self, given: Determined, elements: Iterable[Value], path: Condition) -> None:
        self._given = given
        self._asking = [one for one in elements if any(_of_dtype(part) is not None for part in with_conditions(one))]
        self._path = path

    def share_a_key(self, dtype: Value, value: Value | None = None) -> bool | None:
        """Two dtypes have the same key and another ``value`` (without one: elements of another size); None: that is not known."""
        same = self._given.equal_to(dtype)
        groups: dict[object, set[object]] = {}
        for name in self._allowed(same) or ():
            folder = _folder(same, name)
            key = tuple([only(folder, one) for one in self._asking])
            result = _BYTES.get(name, UNKNOWN) if value is None else only(folder, value)
            if UNKNOWN in key or result is UNKNOWN:
                return None
            groups.setdefault(key, set()).add(result)
        return any(len(results) > 1 for results in groups.values()) if groups else None

    def _allowed(self, same: set[object]) -> list[str] | None:
        """The dtypes that the path lets pass; None when they are not told one by one."""
        about = [one for one in self._path if any(_dtype_key(part) in same for part in with_conditions(one.test))]
        lists = [names for one in about if one.holds and (names := _listed(one.test, same)) is not None]
        if not lists:
            return None
        answers = {name: _folder(same, name).holds(tuple(about)) for name in lists[0]}
        return [name for name, passes in answers.items() if passes] if None not in answers.values() else None


def _listed(test: Value, same: set[object]) -> list[str] | None:
    """The dtypes of ``x.dtype in (torch.float16, …)`` and ``x.dtype == torch.float16 or …``."""
    if not isinstance(test, Term):
        return None
    if test.op == "or":
        found = [_listed(arg, same) for arg in test.args]
        return [name for names in found for name in names or ()] if None not in found else None
    if test.op != "compare" or test.name not in ("in", "==", "is") or _dtype_key(test.args[0]) not in same:
        return None
    named = test.args[1].items if isinstance(test.args[1], Items) else test.args[1:]
    names = [_long_name(one) for one in named]
    return [name for name in names if name is not None] if None not in names else None


def _folder(same: set[object], name: str) -> Folder:
    def lookup(term: Term | Choice) -> Value | None:
        if not isinstance(term, Term):
            return None
        if (named := _long_name(term)) is not None:
            return Known(named)
        asked = _of_dtype(term)
        if asked is None or _dtype_key(asked) not in same:
            return None
        return Known(name) if asked is term else Known(_BYTES[name]) if name in _BYTES else None

    return Folder(lookup)


def _of_dtype(value: Value) -> Term | None:
    """``x.dtype`` of itself, of ``x.dtype.itemsize``, ``x.itemsize`` and ``x.element_size()``."""
    if not isinstance(value, Term) or not value.args:
        return None
    if (value.op, value.name) == ("attr", "dtype"):
        return value
    if (value.op, value.name) in (("attr", "itemsize"), ("method", "element_size")):
        return _of_dtype(value.base) or Term("attr", "dtype", value.args[:1])
    return None


def _dtype_key(value: Value) -> object:
    value = bare(value)
    return canonical(value) if isinstance(value, Term) and (value.op, value.name) == ("attr", "dtype") else None


def _long_name(value: Value) -> str | None:
    """``torch.float16`` of a dtype by either of its names."""
    if not isinstance(value, Term) or value.op != "external":
        return None
    name = LONG_NAMES.get(value.name, value.name)
    return name if name in _BYTES else None
