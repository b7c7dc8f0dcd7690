"""What a value is worth once some of its symbols are known: a config's fields, an export's parameter."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from itertools import product

from cutile_lint.unit.machine.logic import joined, negated
from cutile_lint.unit.machine.paths import contradictory, extend
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Literal, Term, Value

#: More combinations than this are given up as unknown.
_MAX_OUTCOMES = 24
_MAX_DEPTH = 40


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


#: A value that the known symbols do not settle.
UNKNOWN = _Unknown()

_OPERATORS: dict[str, Callable] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "/": operator.truediv, "%": operator.mod,
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
    "is": lambda left, right: left is right or (left == right and type(left) is type(right)),
    "is not": lambda left, right: not (left is right or (left == right and type(left) is type(right))),
    "in": lambda left, right: left in right, "not in": lambda left, right: left not in right,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable] = {
    "int": int, "bool": bool, "float": float, "max": max, "min": min, "abs": abs, "round": round,
    "operator.index": operator.index, "math.ceil": math.ceil, "math.floor": math.floor, "len": len,
}  # fmt: skip

#: Conversions that take any ``i32`` from 0 on.
_UNSIGNED = frozenset(f"{name}::try_from" for name in ("u32", "u64", "u128", "usize"))

Outcome = tuple[Condition, object]


class Folder:
    """Evaluates values; ``lookup`` gives the value of a symbol, None for one that stays unknown.

    ``neutral``: a folder that knows no symbol, for values without any (all configs of a tuner call share it).
    """

    def __init__(self, lookup: Callable[[Term], Value | None], neutral: Neutral | None = None) -> None:
        self._lookup = lookup
        self._neutral = neutral
        #: outcomes of terms and choices by their identity, which the value kept with them keeps alive
        self._known: dict[int, tuple[Value, list[Outcome]]] = {}
        self._truths: dict[int, tuple[Value, bool | None]] = {}

    def outcomes(self, value: Value, path: Condition = ()) -> list[Outcome]:
        """The Python values that ``value`` may have on ``path``, each with the conditions that stay open; UNKNOWN among them."""
        found = [(open_, result) for open_, result in self._outcomes(value, 0) if not (open_ and contradictory(path, open_))]
        return found if len(found) <= _MAX_OUTCOMES else [((), UNKNOWN)]

    def holds(self, path: Condition) -> bool | None:
        """Whether all literals hold; None when that stays open."""
        if self._neutral is None:
            return joined(False, path, self._literal)
        known, own = self._neutral.split(path)
        if known is False or not own:
            return known
        rest = joined(False, own, self._literal)
        return rest if rest is False else None if known is None else rest

    def _literal(self, literal: Literal, depth: int = 0) -> bool | None:
        truth = self._truth(literal.test, depth)
        return truth if literal.holds else negated(truth)

    def _truth(self, value: Value, depth: int) -> bool | None:
        known = self._truths.get(id(value))
        if known is None:
            neutral = self._neutral_for(value)
            found = neutral._truth(value, depth) if neutral is not None else self._tested(value, depth)
            known = self._truths[id(value)] = (value, found)
        return known[1]

    def _neutral_for(self, value: Value) -> Neutral | None:
        return self._neutral if self._neutral is not None and self._neutral.is_free(value) else None

    def _tested(self, value: Value, depth: int) -> bool | None:
        if isinstance(value, Term) and value.op in ("and", "or") and depth < _MAX_DEPTH:
            return joined(value.op == "or", value.args, self._truth, depth + 1)
        truths = {None if result is UNKNOWN else bool(result) for _, result in self._outcomes(value, depth)}
        return truths.pop() if len(truths) == 1 else None

    def _outcomes(self, value: Value, depth: int) -> list[Outcome]:
        if depth > _MAX_DEPTH:
            return [((), UNKNOWN)]
        if isinstance(value, Known):
            return [((), value.value)]
        if isinstance(value, (Choice, Term)):
            known = self._known.get(id(value))
            if known is None:
                neutral = self._neutral_for(value)
                found = neutral._outcomes(value, depth) if neutral is not None else self._worked_out(value, depth)
                known = self._known[id(value)] = (value, found)
            return known[1]
        if isinstance(value, Items) and not value.open and not any(value.conditions):
            return self._combined(value.items, depth, lambda *items: tuple(items))
        return [((), UNKNOWN)]

    def _worked_out(self, value: Term | Choice, depth: int) -> list[Outcome]:
        if isinstance(value, Choice):
            return list(self._chosen(value, depth)) or [((), UNKNOWN)]
        if (known := self._lookup(value)) is not None:
            return self._outcomes(known, depth + 1)
        return self._term(value, depth)

    def _chosen(self, value: Choice, depth: int) -> Iterator[Outcome]:
        for path, inner in value.alternatives:
            left: Condition = ()
            for literal in path:
                holds = self._literal(literal, depth + 1)
                if holds is None:
                    left = extend(left, (literal,))
                elif not holds:
                    break
            else:
                for more, result in self._outcomes(inner, depth + 1):
                    if not (left and more and contradictory(left, more)):
                        yield extend(left, more), result

    def _term(self, term: Term, depth: int) -> list[Outcome]:
        if term.op in ("binary", "compare") and term.name in _OPERATORS:
            return self._combined(term.args, depth, _OPERATORS[term.name])
        if term.op == "compare" and term.name == "is-variant" and (given := _made_unsigned(term.args[0])) is not None:
            return self._combined((given,), depth, lambda one: one >= 0)  # ``Some`` is what stands for ``Ok`` as well
        if term.op == "payload" and term.name in ("Ok.0", "Some.0") and (given := _made_unsigned(term.args[0])) is not None:
            return self._outcomes(given, depth + 1)
        if term.op == "not":
            return self._combined(term.args, depth, operator.not_)
        if term.op == "unary" and term.name == "-":
            return self._combined(term.args, depth, operator.neg)
        if term.op in ("and", "or"):
            return self._logic(term.args, term.op == "or", depth)
        if term.op == "call" and not term.keywords:
            name = term.name.removeprefix("builtins.")
            if name in ("Some", "Ok") and len(term.args) == 1:
                return self._outcomes(term.args[0], depth + 1)
            if name == "isinstance" and len(term.args) == 2:
                return self._isinstance(term, depth)
            if name in _FUNCTIONS:
                return self._combined(term.args, depth, _FUNCTIONS[name])
        if term.op == "method" and term.name in ("max", "min") and len(term.args) == 2:
            return self._combined(term.args, depth, _FUNCTIONS[term.name])
        if term.op == "method" and term.name == "clamp" and len(term.args) == 3:
            return self._combined(term.args, depth, lambda one, low, high: min(max(one, low), high))
        if term.op == "external" and term.name == "None":
            return [((), None)]
        return [((), UNKNOWN)]

    def _isinstance(self, term: Term, depth: int) -> list[Outcome]:
        kinds = {"int": int, "float": float, "bool": bool, "str": str}
        cls = term.args[1]
        kind = kinds.get(cls.name) if isinstance(cls, Term) else None
        return self._combined(term.args[:1], depth, lambda one: isinstance(one, kind)) if kind else [((), UNKNOWN)]

    def _logic(self, args: tuple[Value, ...], decisive: bool, depth: int) -> list[Outcome]:
        results: list[Outcome] = []
        pending: list[Condition] = [()]
        for position, arg in enumerate(args):
            last = position == len(args) - 1
            following: list[Condition] = []
            for path in pending:
                for more, result in self._outcomes(arg, depth + 1):
                    if path and more and contradictory(path, more):
                        continue
                    both = extend(path, more)
                    if result is UNKNOWN or last or bool(result) is decisive:
                        results.append((both, result))
                    else:
                        following.append(both)
            pending = following
            if not pending:
                break
        return results[: _MAX_OUTCOMES + 1]

    def _combined(self, args: tuple[Value, ...] | list[Value], depth: int, function: Callable) -> list[Outcome]:
        columns = [self._outcomes(arg, depth + 1) for arg in args]
        if math.prod(len(column) for column in columns) > _MAX_OUTCOMES:
            return [((), UNKNOWN)]
        results: list[Outcome] = []
        for row in product(*columns):
            path: Condition = ()
            for more, _ in row:
                if path and more and contradictory(path, more):
                    break
                path = extend(path, more)
            else:
                operands = [operand for _, operand in row]
                if any(operand is UNKNOWN for operand in operands):
                    results.append((path, UNKNOWN))
                    continue
                try:
                    results.append((path, function(*operands)))
                except Exception:
                    results.append((path, UNKNOWN))
        return results


def _made_unsigned(value: Value) -> Value | None:
    """What ``u32::try_from(…)`` is given: a caller's ``i32``, which fits when it is not negative."""
    if isinstance(value, Term) and value.op == "call" and value.name in _UNSIGNED and len(value.args) == 1:
        return value.args[0]
    return None


class Neutral(Folder):
    """Knows no symbol, and tells the values without any: ``is_symbol`` says which terms are some."""

    def __init__(self, is_symbol: Callable[[Term], bool]) -> None:
        super().__init__(lambda term: None)
        self._is_symbol = is_symbol
        self._free: dict[int, tuple[Value, bool]] = {}
        self._split: dict[int, tuple[Condition, bool | None, Condition]] = {}

    def split(self, path: Condition) -> tuple[bool | None, Condition]:
        """Whether the literals without a symbol hold, and the others."""
        known = self._split.get(id(path))
        if known is None:
            free = [literal for literal in path if self.is_free(literal.test)]
            own = tuple(literal for literal in path if not self.is_free(literal.test))
            known = self._split[id(path)] = (path, joined(False, free, self._literal), own)
        return known[1:]

    def is_free(self, value: Value) -> bool:
        """Nothing in the value, nor in conditions of its choices, is a symbol."""
        if isinstance(value, Known):
            return True
        known = self._free.get(id(value))
        if known is None:
            known = self._free[id(value)] = (value, all(map(self.is_free, self._parts(value))) and not self._is_own(value))
        return known[1]

    def _is_own(self, value: Value) -> bool:
        return isinstance(value, Term) and self._is_symbol(value)

    @staticmethod
    def _parts(value: Value) -> list[Value]:
        if isinstance(value, Term):
            return [*value.args, *value.keywords.values()]
        if isinstance(value, Choice):
            tests = [literal.test for path, _ in value.alternatives for literal in path]
            return tests + [inner for _, inner in value.alternatives]
        return value.items if isinstance(value, Items) else []
