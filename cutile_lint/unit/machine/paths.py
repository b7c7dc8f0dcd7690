"""Path conditions: splitting tests into literals, contradictions, truth where it is known."""

from __future__ import annotations

from cutile_lint.unit.machine.values import Choice, Closure, Entries, Items, Known, Literal, Partial, Condition, Record, Term, Value

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
            inner = truth(value.base)
            return None if inner is None else not inner
        if value.op in ("and", "or"):
            parts = [truth(arg) for arg in value.args]
            decisive = value.op == "or"
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
    if isinstance(value, Choice):
        outcomes = {truth(inner) for _, inner in value.alternatives}
        return outcomes.pop() if len(outcomes) == 1 else None
    return None


def literals(test: Value, holds: bool) -> Condition:
    """The literals that follow from ``test`` being ``holds``: conjunctions are split, negations turned."""
    if isinstance(test, Term):
        if test.op == "not":
            return literals(test.base, not holds)
        if (test.op == "and" and holds) or (test.op == "or" and not holds):
            return tuple(literal for arg in test.args for literal in literals(arg, holds))
        if test.op == "compare" and test.name in ("!=", "is not", "not in"):
            positive = {"!=": "==", "is not": "is", "not in": "in"}[test.name]
            return (Literal(Term("compare", positive, test.args, place=test.place), not holds),)
        if test.op == "call" and test.name == "bool" and len(test.args) == 1:
            return literals(test.args[0], holds)
    if truth(test) is holds:
        return ()
    return (Literal(test, holds),)


def extend(path: Condition, more: Condition) -> Condition:
    """``path`` with the literals of ``more`` that are new."""
    if not more:
        return path
    seen = {literal.key() for literal in path}
    fresh = []
    for literal in more:
        if literal.key() not in seen:
            seen.add(literal.key())
            fresh.append(literal)
    return (path + tuple(fresh))[:MAX_LITERALS]


def negation(path: Condition) -> Condition:
    """The literals that hold when not all of ``path`` hold."""
    if len(path) == 1:
        return literals(path[0].test, not path[0].holds)
    parts = tuple(literal.test if literal.holds else Term("not", "", (literal.test,)) for literal in path)
    return (Literal(Term("and", "", parts), False),)


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


def _implied(test: Value, facts: dict[object, bool]) -> bool | None:
    """Truth of ``test`` under known facts."""
    if (known := facts.get(test.key())) is not None:
        return known
    if isinstance(test, Term):
        if test.op == "not":
            inner = _implied(test.base, facts)
            return None if inner is None else not inner
        if test.op in ("and", "or"):
            decisive = test.op == "or"
            parts = [_implied(arg, facts) for arg in test.args]
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
        if test.op == "compare" and test.name in ("!=", "is not", "not in"):
            positive = {"!=": "==", "is not": "is", "not in": "in"}[test.name]
            inner = facts.get(Term("compare", positive, test.args).key())
            return None if inner is None else not inner
    return truth(test)


def contradictory(*paths: Condition) -> bool:
    """No execution takes all the paths: a test both ways, or one subject equal to two constants."""
    facts: dict[object, bool] = {}
    equal: dict[object, object] = {}
    pending: list[Literal] = []
    for path in paths:
        for literal in path:
            key = literal.test.key()
            if facts.setdefault(key, literal.holds) is not literal.holds:
                return True
            if (pair := _equality(literal)) is not None and equal.setdefault(pair[0], pair[1]) != pair[1]:
                return True
            if isinstance(literal.test, Term) and literal.test.op in ("and", "or"):
                pending.append(literal)
    for key, constant in equal.items():
        if constant in (("known", "int", 0), ("known", "bool", False), ("known", "NoneType", None)) and facts.get(key) is True:
            return True
        if facts.get(key) is False and constant[0] == "known" and constant[2]:  # type: ignore[index]
            return True
    for literal in pending:
        outcome = _implied(literal.test, facts)
        if outcome is not None and outcome is not literal.holds:
            return True
    return False


def implies(path: Condition, test: Value) -> bool | None:
    """What ``path`` says about ``test``: True, False, or None."""
    facts = {literal.test.key(): literal.holds for literal in path}
    return _implied(test, facts)
