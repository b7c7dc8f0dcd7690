"""Conditions across the boundary: truth under assumptions, implication, and values of one layer put in for symbols of another.

An **atom** is a test that nothing more is known about (``transpose_b``, ``variant == 2``). Questions are answered by trying all
assignments of the few atoms that the conditions in question are made of; with too many of them the answer is "not known".
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from cutile_lint.regex import regex
from cutile_lint.unit.machine.logic import joined, negated
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Literal, Term, Value, once, subterms

#: More atoms than this are not tried (2**n assignments).
MAX_ATOMS = 9
#: Names of flags that say "this operand is transposed".
_OPERAND = r"(?:[A-Za-z0-9]{1,3}|input|weight|lhs|rhs|left|right|out|output|other|first|second)"
FLAG = regex(rf"^(?:is_|do_)?trans(?:pose|posed)?(?:_{_OPERAND}|[ABab0-9])?$|^{_OPERAND}_trans(?:pose|posed)?$", re.IGNORECASE)

_ORDER: dict[str, Callable] = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
#: a comparison, and the one that holds when it does not
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
#: comparisons that are atoms; the others are their opposites
_ATOMIC = (">", ">=")

Assignment = dict[object, bool]


def bare(value: Value) -> Value:
    """The value without ``int(…)`` and ``bool(…)`` around it."""
    while (
        isinstance(value, Term)
        and value.op == "call"
        and value.name in ("int", "bool")
        and len(value.args) == 1
        and not value.keywords
    ):
        value = value.args[0]
    return value


def _boolean(value: Value) -> bool:
    """The value is 0/1 or True/False: it went through ``int``/``bool``, is a test, or has the name of a flag."""
    inner = bare(value)
    return isinstance(inner, Term) and (inner is not value or _is_flag(inner))


def _is_flag(value: Term) -> bool:
    """A test, or what has the name of a flag."""
    if value.op in ("not", "and", "or", "compare"):
        return True
    return value.op in ("input", "generic", "attr", "field") and bool(FLAG.match(value.name))


def _ordered_flag(subject: Value, name: str, bound: Known) -> bool:
    """What is compared is 0 or 1. Of what went through ``int`` a comparison with another number says that it is not."""
    if not _boolean(subject):
        return False
    inner = bare(subject)
    return _of_any_flag(name, bound) is None or (isinstance(inner, Term) and _is_flag(inner))


# ── truth under an assignment ──────────────────────────────────────────────


def truth_under(value: Value, given: Assignment) -> bool | None:
    """Truth of a value when the atoms in ``given`` are as they say; None: not known."""
    if isinstance(value, Term) and value.op == "call":
        value = bare(value)
    if isinstance(value, Known):
        return bool(value.value)
    if isinstance(value, Choice):
        return _over(value, given, lambda one: truth_under(one, given))
    if not isinstance(value, Term):
        return None
    if value.op == "not":
        return negated(truth_under(value.base, given))
    if value.op in ("and", "or"):
        return joined(value.op == "or", value.args, truth_under, given)
    if value.op == "compare" and len(value.args) == 2:
        if value.name in ("==", "is"):
            return _equal(value.args[0], value.args[1], given)
        if value.name in ("!=", "is not"):
            return negated(_equal(value.args[0], value.args[1], given))
        if _is_order(value):
            return _ordered(value.args[0], value.name, value.args[1], given)  # type: ignore[arg-type]
    return given.get(value.key())


def _is_order(test: Term) -> bool:
    """A value is compared with a constant number."""
    bound = test.args[1]
    return test.name in _ORDER and isinstance(bound, Known) and isinstance(bound.value, (int, float))


def _ordered(subject: Value, name: str, bound: Known, given: Assignment) -> bool | None:
    inner = bare(subject)
    if isinstance(inner, Known):
        return _ORDER[name](inner.value, bound.value) if isinstance(inner.value, (int, float)) else None
    if isinstance(inner, Choice):
        return _over(inner, given, lambda one: _ordered(one, name, bound, given))
    if _ordered_flag(subject, name, bound):
        if (always := _of_any_flag(name, bound)) is not None:
            return always
        truth = truth_under(inner, given)
        return None if truth is None else _ORDER[name](int(truth), bound.value)
    answer = given.get(_order(inner, name, bound))
    return answer if name in _ATOMIC else negated(answer)


def _of_any_flag(name: str, bound: Known) -> bool | None:
    """What the comparison says of 0 and of 1, when that is the same."""
    answers = {_ORDER[name](number, bound.value) for number in (0, 1)}
    return answers.pop() if len(answers) == 1 else None


def _order(subject: Value, name: str, bound: Known) -> object:
    """The atom of a comparison with a number: its own, or the one of the opposite."""
    return ("order", subject.key(), name if name in _ATOMIC else _OPPOSITE[name], bound.value)


def _over(choice: Choice, given: Assignment, question) -> bool | None:
    """The common answer of the alternatives that the assignment leaves."""
    answers: set[bool | None] = set()
    for path, one in choice.alternatives:
        outcomes = [holds_under(literal, given) for literal in path]
        if False in outcomes:
            continue
        answer = question(one)
        if None not in outcomes:
            return answer
        answers.add(answer)
    return answers.pop() if len(answers) == 1 else None


def _equal(left: Value, right: Value, given: Assignment) -> bool | None:
    first, second = bare(left), bare(right)
    if isinstance(first, Known) and not isinstance(second, Known):
        left, right, first, second = right, left, second, first
    if isinstance(first, Known) and isinstance(second, Known):
        return first.value == second.value
    if isinstance(first, Choice):
        return _over(first, given, lambda one: _equal(one, right, given))
    if isinstance(second, Choice):
        return _over(second, given, lambda one: _equal(left, one, given))
    if isinstance(second, Known):
        if second.value in (0, False) and second.value is not None:
            return negated(truth_under(first, given))
        if second.value in (1, True) and _boolean(left):
            return truth_under(first, given)
        return given.get(_equality(first, second))
    if first.key() == second.key():
        return True
    return given.get(Term("compare", "==", (first, second)).key())


def _equality(subject: Value, constant: Known) -> object:
    return ("equal", subject.key(), constant.key())


def holds_under(literal: Literal, given: Assignment) -> bool | None:
    deciding, outcome = _decisive(literal.test)
    if outcome is None and not deciding.keys().isdisjoint(given):
        outcome = truth_under(literal.test, given)
    return None if outcome is None else outcome is literal.holds


# ── the atoms of a condition ───────────────────────────────────────────────


def atoms(value: Value, found: dict[object, None], depth: int = 0) -> None:
    """Collect the keys of the atoms that decide a test."""
    value = bare(value)
    if isinstance(value, Known) or depth > 12:
        return
    if isinstance(value, Choice):
        for path, one in value.alternatives:
            for literal in path:
                atoms(literal.test, found, depth + 1)
            atoms(one, found, depth + 1)
    elif isinstance(value, Term):
        if value.op in ("not", "and", "or"):
            for arg in value.args:
                atoms(arg, found, depth + 1)
        elif value.op == "compare" and value.name in ("==", "is", "!=", "is not") and len(value.args) == 2:
            _equality_atoms(value.args[0], value.args[1], found, depth + 1)
        elif value.op == "compare" and len(value.args) == 2 and _is_order(value):
            _order_atoms(value.args[0], value.name, value.args[1], found, depth + 1)  # type: ignore[arg-type]
        else:
            found.setdefault(value.key())


def _equality_atoms(left: Value, right: Value, found: dict[object, None], depth: int) -> None:
    first, second = bare(left), bare(right)
    if isinstance(first, Known):
        left, right, first, second = right, left, second, first
    if isinstance(first, Choice):
        for path, one in first.alternatives:
            for literal in path:
                atoms(literal.test, found, depth)
            _equality_atoms(one, right, found, depth)
    elif isinstance(second, Choice):
        _equality_atoms(second, left, found, depth)
    elif isinstance(second, Known):
        if isinstance(first, Known):
            return
        if second.value in (0, 1) and (second.value == 0 or _boolean(left)):
            atoms(first, found, depth)
        else:
            found.setdefault(_equality(first, second))
    elif first.key() != second.key():
        found.setdefault(Term("compare", "==", (first, second)).key())


def _order_atoms(subject: Value, name: str, bound: Known, found: dict[object, None], depth: int) -> None:
    inner = bare(subject)
    if isinstance(inner, Choice):
        for path, one in inner.alternatives:
            for literal in path:
                atoms(literal.test, found, depth)
            _order_atoms(one, name, bound, found, depth)
    elif _ordered_flag(subject, name, bound):
        if _of_any_flag(name, bound) is None:
            atoms(inner, found, depth)
    elif not isinstance(inner, Known):
        found.setdefault(_order(inner, name, bound))


def _coherent(given: Assignment) -> bool:
    """No subject equals two constants, or a constant other than 0 while it is false; comparisons leave it a value."""
    return _one_value_each(given) and _in_order(given)


def _in_order(given: Assignment) -> bool:
    """The comparisons of each subject with numbers go together, and with the number that it equals."""
    bounds: dict[object, list[tuple[str, float]]] = {}
    for key, holds in given.items():
        if isinstance(key, tuple) and key[0] == "order":
            _, subject, name, bound = key
            bounds.setdefault(subject, []).append((name if holds else _OPPOSITE[name], bound))
    for subject, ordered in bounds.items():
        equal = [key[2] for key, holds in given.items() if holds and isinstance(key, tuple) and key[:2] == ("equal", subject)]
        numbers = [0] if given.get(subject) is False else [number for key in equal if (number := _number(key)) is not None]
        if not any(all(_ORDER[name](number, bound) for name, bound in ordered) for number in numbers or _between(ordered)):
            return False
    return True


def _between(ordered: list[tuple[str, float]]) -> list[float]:
    """A number for each way to stand to the bounds."""
    points = sorted({bound for _, bound in ordered})
    middles = [(low + high) / 2 for low, high in pairwise(points)]
    return [points[0] - 1, *points, *middles, points[-1] + 1]


def _number(key: object) -> float | None:
    """The number that is the constant of this key."""
    constant = key[2] if isinstance(key, tuple) and key[0] == "known" else None
    return constant if isinstance(constant, (int, float)) else None


def _one_value_each(given: Assignment) -> bool:
    chosen: dict[object, object] = {}
    for key, holds in given.items():
        if holds and isinstance(key, tuple) and key[0] == "equal":
            if chosen.setdefault(key[1], key[2]) != key[2] or given.get(key[1]) is False:
                return False
    return True


# ── questions ──────────────────────────────────────────────────────────────


def assignments(focus: Condition, background: Condition = (), wanted: Condition = ()) -> Iterator[Assignment] | None:
    """Assignments of the atoms of ``focus`` that ``background`` does not exclude, without those that make a literal of ``wanted``, a
    part of ``focus``, false; None when there are too many atoms."""
    found: dict[object, None] = {}
    for literal in focus:
        found.update(_decisive(literal.test)[0])
    if len(found) > MAX_ATOMS:
        return None
    return _searched(list(found), background, wanted)


def _decisive(test: Value) -> tuple[dict[object, None], bool | None]:
    """The keys of the atoms that decide a test, in order, and its truth when none of them is known."""
    return once(test, _decisive_anew) if isinstance(test, (Choice, Term)) else _decisive_anew(test)


def _decisive_anew(test: Value) -> tuple[dict[object, None], bool | None]:
    found: dict[object, None] = {}
    atoms(test, found)
    return found, truth_under(test, {})


def _searched(keys: list[object], background: Condition, wanted: Condition) -> Iterator[Assignment]:
    asked: dict[object, list[Literal]] = {key: [] for key in keys}
    for literal in (*background, *wanted):
        deciding, outright = _decisive(literal.test)
        if outright is not None and outright is not literal.holds:
            return
        for key in deciding.keys() & asked.keys():
            asked[key].append(literal)
    given: Assignment = {}

    def below(at: int) -> Iterator[Assignment]:
        """A literal that is false under some atoms is so whatever the others are, and atoms that exclude each other do it always."""
        if at == len(keys):
            yield dict(given)
            return
        for given[keys[at]] in (False, True):
            if _coherent(given) and all(holds_under(literal, given) is not False for literal in asked[keys[at]]):
                yield from below(at + 1)
        del given[keys[at]]

    yield from below(0)


def all_hold(path: Condition, given: Assignment) -> bool | None:
    return joined(False, path, holds_under, given)


def possible(path: Condition, background: Condition = ()) -> bool | None:
    """Some execution makes all of ``path`` true and none of ``background`` false."""
    tried = assignments(path, background, path)
    return None if tried is None else joined(True, tried, lambda given: all_hold(path, given))


def admits(condition: Condition, path: Condition, background: Condition) -> bool:
    """No test of a condition, taken alone, speaks against a path."""
    if not condition:
        return True
    tried = assignments(path, background, path)
    ways = list(tried) if tried is not None else None
    if ways == []:
        return False
    own = {atom for literal in path for atom in _decisive(literal.test)[0]}
    around = own.union(*(_decisive(literal.test)[0] for literal in background))
    left: list[tuple[Literal, Condition]] = []
    for literal in condition:
        deciding, outright = _decisive(literal.test)
        if outright is not None:
            fits = outright is literal.holds
        elif ways is not None and deciding.keys() <= own:
            fits = any(holds_under(literal, given) is not False for given in ways)
        else:  # takes a search
            left.append((literal, () if deciding.keys().isdisjoint(around) else path))
            continue
        if not fits:
            return False
    return all(possible((literal, *beside), background if beside else ()) is not False for literal, beside in left)


def is_obscure(condition: Condition, path: Condition) -> bool:
    """A test that is not understood asks about something that decides the path: what it says of the path is not known."""
    around = {atom for literal in path for atom in _decisive(literal.test)[0]}
    for literal in condition:
        for part in subterms(literal.test):
            if isinstance(part, Term) and bare(part) is part and not _is_understood(part) and part.key() not in around:
                asked: dict[object, None] = {}
                for arg in part.args:
                    atoms(arg, asked)
                if not around.isdisjoint(asked):
                    return True
    return False


def _is_understood(term: Term) -> bool:
    if term.op == "compare" and len(term.args) == 2:
        return term.name in ("==", "!=", "is", "is not") or _is_order(term)
    return term.op in ("not", "and", "or")


def together(first: Condition, second: Condition, background: Condition = ()) -> bool | None:
    """Whether two conditions come together: both can hold, and one of them never holds without the other.

    False: they exclude each other, or they are independent. None: not known.
    """
    tried = assignments(first + second, background)
    if tried is None:
        return None
    both = first_alone = second_alone = False
    for given in tried:
        one, other = all_hold(first, given), all_hold(second, given)
        if one is None or other is None:
            return None
        both = both or (one and other)
        first_alone = first_alone or (one and not other)
        second_alone = second_alone or (other and not one)
    return both and not (first_alone and second_alone)


# ── one layer's values for another's symbols ───────────────────────────────


def substitute(value: Value, symbols: Mapping[object, Value]) -> Value:
    """The value with the terms whose keys are in ``symbols`` replaced (conditions of choices included)."""
    return _replacing(symbols)(value)


def substituted(path: Condition, symbols: Mapping[object, Value]) -> Condition:
    visit = _replacing(symbols)
    return tuple([Literal(visit(literal.test), literal.holds, literal.origin) for literal in path])


def _replacing(symbols: Mapping[object, Value]) -> Callable[[Value], Value]:
    """What several values share is shared by what they become."""
    memo: dict[int, Value] = {}

    def visit(one: Value) -> Value:
        if id(one) not in memo:
            memo[id(one)] = replace(one)
        return memo[id(one)]

    def replace(one: Value) -> Value:
        if isinstance(one, Term):
            if (found := symbols.get(one.key())) is not None:
                return found
            args = tuple(visit(arg) for arg in one.args)
            if all(new is old for new, old in zip(args, one.args, strict=True)):
                return one
            return Term(one.op, one.name, args, one.keywords, one.serial, one.place, one.trail)
        if isinstance(one, Choice):
            kept = [
                (tuple(Literal(visit(lit.test), lit.holds, lit.origin) for lit in path), visit(inner))
                for path, inner in one.alternatives
            ]
            return Choice(kept, one.place)
        if isinstance(one, Items) and any(visit(item) is not item for item in one.items):
            return one.with_items([visit(item) for item in one.items])
        return one

    return visit
