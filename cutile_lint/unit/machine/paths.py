"""Path conditions: splitting tests into literals, contradictions, truth where it is known."""

from __future__ import annotations

from collections.abc import Iterable

from cutile_lint.unit.machine.logic import joined, negated
from cutile_lint.unit.machine.values import (
    Choice,
    Closure,
    Condition,
    Entries,
    Items,
    Known,
    Literal,
    Partial,
    Record,
    Term,
    Value,
    once,
)

#: More literals than this are not kept (the path is then only less exact, never wrong).
MAX_LITERALS = 40


def truth(value: Value) -> bool | None:
    """True, False, or None when it isn't known."""
    if isinstance(value, Known):
        return bool(value.value)
    if isinstance(value, (Closure, Partial, Record)):
        return True
    if isinstance(value, Items) and not value.open and not any(value.conditions):
        return bool(value.items)
    if isinstance(value, Entries) and not value.open:
        return bool(value.entries)
    if isinstance(value, Term):
        if value.op == "not":
            return negated(truth(value.base))
        if value.op in ("and", "or"):
            return joined(value.op == "or", value.args, truth)
    if isinstance(value, Choice):
        outcomes = {truth(inner) for _, inner in value.alternatives}
        return outcomes.pop() if len(outcomes) == 1 else None
    return None


_POSITIVE = {"!=": "==", "is not": "is", "not in": "in"}


def _positive(test: Term) -> Term | None:
    """The comparison that one with a negative operator is the opposite of."""
    if test.op != "compare" or test.name not in _POSITIVE:
        return None
    return Term("compare", _POSITIVE[test.name], test.args, place=test.place)


def literals(test: Value, holds: bool) -> Condition:
    """The literals that follow from ``test`` being ``holds``: conjunctions are split, negations turned."""
    if isinstance(test, Term):
        if test.op == "not":
            return literals(test.base, not holds)
        if (test.op == "and" and holds) or (test.op == "or" and not holds):
            return tuple(literal for arg in test.args for literal in literals(arg, holds))
        if (positive := _positive(test)) is not None:
            return (Literal(positive, not holds),)
        if test.op == "call" and test.name == "bool" and len(test.args) == 1:
            return literals(test.args[0], holds)
    if truth(test) is holds:
        return ()
    return (Literal(test, holds),)


def extend(path: Condition, more: Condition) -> Condition:
    """``path`` with the literals of ``more`` that are new."""
    if not more or (not path and len(more) == 1):
        return more or path
    seen = [(literal.test.key(), literal.holds) for literal in path]
    fresh = []
    for literal in more:
        if (key := (literal.test.key(), literal.holds)) not in seen:
            seen.append(key)
            fresh.append(literal)
    return (path + tuple(fresh))[:MAX_LITERALS]


def negation(path: Condition) -> Condition:
    """The literals that hold when not all of ``path`` hold."""
    path = _without_implied(path)
    if len(path) == 1:
        return literals(path[0].test, not path[0].holds)
    parts = tuple(literal.test if literal.holds else Term("not", "", (literal.test,)) for literal in path)
    return (Literal(Term("and", "", parts), False),)


def _without_implied(path: Condition) -> Condition:
    """A path without the ``and`` and ``or`` of it that follow from the others: ``not (some and guard)`` beside ``not some``."""
    compound = [literal for literal in path if isinstance(literal.test, Term) and literal.test.op in ("and", "or")]
    if not compound or len(compound) == len(path):
        return path
    known = {literal.test.key(): literal.holds for literal in path if literal not in compound}
    asked = [
        literal for literal in compound if not known.keys().isdisjoint(_parts(literal.test)) or truth(literal.test) is not None
    ]
    implied = [literal for literal in asked if _implied(literal.test, known, itself=False) is literal.holds]
    return tuple([literal for literal in path if literal not in implied]) if implied else path


def _equality(literal: Literal) -> tuple[object, object] | None:
    """(subject key, constant) of a literal ``subject == constant`` that holds."""
    test = literal.test
    if literal.holds and isinstance(test, Term) and test.op == "compare" and test.name in ("==", "is"):
        left, right = test.args
        if isinstance(right, Known):
            return left.key(), right.key()
        if isinstance(left, Known):
            return right.key(), left.key()
    return None


def _implied(test: Value, facts: dict[object, bool], itself: bool = True) -> bool | None:
    """Truth of ``test`` under known facts (``itself`` False: by its parts only)."""
    if itself and (known := facts.get(test.key())) is not None:
        return known
    if isinstance(test, Choice):
        outcomes = {_implied(inner, facts) for path, inner in test.alternatives if not _clashes(path, facts)}
        return outcomes.pop() if len(outcomes) == 1 else None
    if isinstance(test, Term):
        if test.op == "not":
            return negated(_implied(test.base, facts))
        if test.op in ("and", "or"):
            return joined(test.op == "or", test.args, _implied, facts)
        if (positive := _positive(test)) is not None:
            return negated(facts.get(positive.key()))
    return truth(test)


def _parts(test: Value) -> frozenset[object]:
    """The keys whose truth decides a test, its own among them."""
    return once(test, _parts_anew) if isinstance(test, (Choice, Term)) else frozenset((test.key(),))


def _parts_anew(test: Choice | Term) -> frozenset[object]:
    found: set[object] = {test.key()}
    if isinstance(test, Choice):
        for path, inner in test.alternatives:
            found.update(literal.test.key() for literal in path)
            found |= _parts(inner)
    elif test.op in ("not", "and", "or"):
        for arg in test.args:
            found |= _parts(arg)
    elif (positive := _positive(test)) is not None:
        found.add(positive.key())
    return frozenset(found)


class _Facts:
    """What literals say about tests, by unit propagation: ``not (a and b)`` with ``a`` gives ``not b``.

    ``before``: what the first of them say; the others go on from there.
    """

    __slots__ = ("conflict", "equal", "fresh", "known", "pending")

    def __init__(self, literals: Iterable[Literal], before: _Facts | None = None) -> None:
        self.known: dict[object, bool] = before.known.copy() if before is not None else {}
        self.equal: dict[object, object] = before.equal.copy() if before is not None else {}
        #: compound literals that are not used up
        self.pending: list[Literal] = before.pending.copy() if before is not None else []
        self.conflict = before is not None and before.conflict
        #: tests whose truth has become known since the pending literals were looked at
        self.fresh: set[object] = set()
        for literal in literals:
            if self.conflict:
                return
            self.add(literal)
        if not self.conflict:
            self._propagate()

    def add(self, literal: Literal) -> None:
        key = literal.test.key()
        known = self.known.get(key)
        if known is None:
            self.known[key] = literal.holds
            self.fresh.add(key)
        elif known is not literal.holds:
            self.conflict = True
            return
        pair = _equality(literal)
        if pair is not None and self.equal.setdefault(pair[0], pair[1]) != pair[1]:
            self.conflict = True
        if isinstance(literal.test, Choice) or (isinstance(literal.test, Term) and literal.test.op in ("and", "or")):
            self.pending.append(literal)
            self.fresh.add(key)

    def _propagate(self) -> None:
        for key, constant in self.equal.items():
            if constant in _FALSY and self.known.get(key) is True:
                self.conflict = True
            if self.known.get(key) is False and constant[0] == "known" and constant[2]:  # type: ignore[index]
                self.conflict = True
        while self.fresh and not self.conflict:
            fresh, self.fresh = self.fresh, set()
            waiting, self.pending = self.pending, []
            for literal in waiting:
                if fresh.isdisjoint(_parts(literal.test)):
                    self.pending.append(literal)
                else:
                    self._step(literal)

    def _step(self, literal: Literal) -> None:
        """Use one compound literal: drop it when it is decided, take over its last open part, or keep it for later."""
        if isinstance(literal.test, Choice):
            open_parts = [
                (path, inner)
                for path, inner in literal.test.alternatives
                if not _clashes(path, self.known) and _implied(inner, self.known) is not (not literal.holds)
            ]
            if len(open_parts) == 1:  # the one that was taken
                path, inner = open_parts[0]
                for one in path:
                    self.add(one)
                self._take(inner, literal.holds)
            else:
                self.pending.append(literal)
            return
        outcome = _implied(literal.test, self.known, itself=False)
        if outcome is not None:
            self.conflict = self.conflict or outcome is not literal.holds
            return
        test = literal.test
        if isinstance(test, Term) and (test.op == "or") is literal.holds:
            undecided = [arg for arg in test.args if _implied(arg, self.known) is None]
            if len(undecided) == 1:
                self._take(undecided[0], literal.holds)
                return
        self.pending.append(literal)

    def _take(self, test: Value, holds: bool) -> None:
        known = truth(test)
        if known is not None:
            self.conflict = self.conflict or known is not holds
            return
        for literal in literals(test, holds):
            self.add(literal)


_FALSY = (("known", "int", 0), ("known", "bool", False), ("known", "NoneType", None))


def _clashes(path: Condition, known: dict[object, bool]) -> bool:
    return any(known.get(literal.test.key(), literal.holds) is not literal.holds for literal in path)


def contradictory(*paths: Condition) -> bool:
    """No execution takes all the paths: a test both ways, or one subject equal to two constants."""
    return _facts(tuple([path for path in paths if path])).conflict


def implies(path: Condition, test: Value) -> bool | None:
    """What ``path`` says about ``test``: True, False, or None."""
    return _implied(test, _facts((path,)).known)


#: The facts of literals asked about before, by the literals' identities. Three questions of four are repeated ones.
_ASKED: dict[tuple[int, ...], tuple[Condition, _Facts]] = {}
_MAX_ASKED = 4096
_NUMBERS: dict[int, tuple[Condition, tuple[int, ...]]] = {}


def _facts(paths: tuple[Condition, ...]) -> _Facts:
    """What all the paths say together. They grow literal by literal: what is known of a beginning is gone on from."""
    key = _numbers(paths[0]) if len(paths) == 1 else tuple([number for path in paths for number in _numbers(path)])
    known = _ASKED.get(key)
    if known is not None:
        return known[1]
    flat = paths[0] if len(paths) == 1 else tuple([literal for path in paths for literal in path])
    if len(paths) > 1:
        _facts(paths[:-1])  # is asked again with other last ones
    start = next((start for start in range(len(key), 0, -1) if key[:start] in _ASKED), 0)
    facts = _Facts(flat[start:], _ASKED[key[:start]][1] if start else None)
    if len(_ASKED) >= _MAX_ASKED:
        forget()
    _ASKED[key] = (flat, facts)  # the path keeps the literals, and so their identities, alive
    return facts


def _numbers(path: Condition) -> tuple[int, ...]:
    """The identities of a path's literals; it is kept, and so are they."""
    known = _NUMBERS.get(id(path))
    if known is None:
        known = _NUMBERS[id(path)] = (path, tuple([id(literal) for literal in path]))
        if len(_NUMBERS) > _MAX_ASKED:
            _NUMBERS.clear()
    return known[1]


def forget() -> None:
    """Let go of everything that was asked about."""
    _ASKED.clear()
    _NUMBERS.clear()
