"""What keeps a panic from happening: values that a condition on the way has looked at, arms that no value is left for."""

from __future__ import annotations

from collections.abc import Iterator
from operator import eq, ge, gt, le, lt, ne

from cutile_lint.unit.machine.paths import implies, truth
from cutile_lint.unit.machine.rust_methods import is_some
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Choice, Condition, Known, Term, Value, subterms

#: functions whose result depends on nothing but their arguments, beside those that begin with ``checked_``
_CONVERSIONS = frozenset(["try_from", "get", "first", "last", "max", "min", "abs", "clamp", "dim", "from"])
_AT_ZERO = {">": gt, ">=": ge, "<": lt, "<=": le, "==": eq, "!=": ne}
_BOUNDS = {">": (1, None), ">=": (0, None), "<": (None, -1), "<=": (None, 0)}
_OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}
#: the arrays of a descriptor, and methods that give one of an array's elements
_ARRAYS = frozenset(["shape", "strides"])
_OF_ANY = frozenset(["first", "last", "split_first", "split_last", "max", "min"])
_TESTS = ("compare", "or", "and", "not", "method")
#: A range of more numbers is not gone through.
_MAX_NUMBERS = 64


def is_guarded(event: Event) -> bool:
    """The ``unwrap`` finds something, or a condition on the way has looked at the value; the ``unreachable!`` is."""
    value = event.value
    if value is None:
        return _is_out_of_question(event.path)
    if _is_fixed(value):
        return True
    there = is_some(value, event.place)
    if truth(there) or implies(event.path, there):
        return True
    if isinstance(value, Choice):
        return not _decided_by(value).isdisjoint(spoken_of(event.path))
    return _is_computed(value) and not _is_zero(value) and speaks_of(event.path, value, of_null=True) is not False


def speaks_of(path: Condition, value: Value, of_null: bool = False) -> bool | None:
    """A condition speaks of a value or of what it is made of; None: it is made of constants."""
    atoms = {part.key() for part in subterms(value) if isinstance(part, Term) and part.op in ("input", "index")}
    if not atoms:
        return None
    return not (atoms | {value.key()}).isdisjoint(spoken_of(path, of_null))


def _is_fixed(value: Value) -> bool:
    """A part of constant length (``shape[..2]``, which becomes an array or does not, whoever calls), or an element of a descriptor's arrays."""
    if not isinstance(value, Term) or not value.args:
        return False
    if value.op == "method":
        base = value.args[0]
        return (
            len(value.args) == 1
            and value.name in _OF_ANY
            and isinstance(base, Term)
            and base.op == "attr"
            and base.name in _ARRAYS
        )
    if value.op != "index" or not isinstance(part := value.args[1], Term) or part.op != "range":
        return False
    return all(isinstance(end, Known) for end in part.args) and part.args[1].value is not None  # type: ignore[attr-defined]


def excludes_zero(path: Condition, value: Value) -> bool:
    """A condition on the way fails for a value of 0: it compares it with a number, or takes it as a truth."""
    while isinstance(value, Term) and value.op == "call" and value.name == "int" and value.args:
        value = value.args[0]
    key = value.key()
    for literal in path:
        test = literal.test
        if test.key() == key and literal.holds:
            return True
        if isinstance(test, Term) and test.op == "compare" and test.name in _AT_ZERO and test.args[0].key() == key:
            other = test.args[1]
            if isinstance(other, Known) and type(other.value) is int and _AT_ZERO[test.name](0, other.value) is not literal.holds:
                return True
    return False


def spoken_of(path: Condition, of_null: bool = False) -> set[object]:
    """The keys of everything that the tests of a path are made of."""
    tests = [literal.test for literal in path if isinstance(literal.test, Term) and literal.test.op in _TESTS]
    return {part.key() for test in tests if of_null or "is_null" not in test.name for part in subterms(test)}


def _decided_by(value: Choice) -> set[object]:
    """The keys of what is compared to tell the alternatives apart."""
    tests = [literal.test for path, _ in value.alternatives for literal in path]
    compared = [part for test in tests for part in subterms(test) if isinstance(part, Term) and part.op == "compare"]
    return {arg.key() for test in compared for arg in test.args if isinstance(arg, Term)}


def _is_computed(value: Value) -> bool:
    """The value follows from the parameters alone, as a device or a file does not."""
    return all(
        not isinstance(part, Term)
        or part.op not in ("call", "method", "external", "unknown")
        or _is_pure(part.name.rsplit("::", 1)[-1])
        or "NonZero" in part.name
        for part in subterms(value)
    )


def _is_pure(name: str) -> bool:
    return name in _CONVERSIONS or name.startswith("checked_")


def _is_zero(value: Value) -> bool:
    """``NonZero::new(0)``."""
    return (
        isinstance(value, Term)
        and "NonZero" in value.name
        and any(isinstance(arg, Known) and not arg.value for arg in value.args)
    )


def _is_out_of_question(path: Condition) -> bool:
    """Some whole number is kept in a range on the path, and each number of the range is excluded."""
    lows: dict[object, int] = {}
    highs: dict[object, int] = {}
    excluded: dict[object, set[int]] = {}
    for name, subject, number in _comparisons(path):
        if name == "==":
            excluded.setdefault(subject, set()).add(number)
            continue
        low, high = _BOUNDS[name]
        if low is not None:
            lows[subject] = max(lows.get(subject, number + low), number + low)
        if high is not None:
            highs[subject] = min(highs.get(subject, number + high), number + high)
    return any(
        subject in highs
        and highs[subject] - low < _MAX_NUMBERS
        and excluded.get(subject, set()) >= set(range(low, highs[subject] + 1))
        for subject, low in lows.items()
    )


def _comparisons(path: Condition) -> Iterator[tuple[str, object, int]]:
    """(operator, key of the subject, whole number) of each comparison; ``==`` stands for one that does not hold."""
    for literal in path:
        test, holds = literal.test, literal.holds
        if not isinstance(test, Term) or test.op != "compare" or not isinstance(number := test.args[-1], Known):
            continue
        if type(number.value) is int and (test.name in _BOUNDS or (test.name == "==" and not holds)):
            name = _OPPOSITE[test.name] if test.name in _BOUNDS and not holds else test.name
            yield name, test.args[0].key(), number.value
