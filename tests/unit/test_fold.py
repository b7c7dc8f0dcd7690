"""Values under known symbols: what folds, what stays open, and that nothing is guessed."""

from __future__ import annotations

import pytest

from cutile_lint.unit.flows.fold import UNKNOWN, Folder
from cutile_lint.unit.machine.values import Choice, Items, Known, Literal, Term, Value

X, Y, Z = (Term("input", name) for name in "xyz")


def fold(value: Value, **symbols: object) -> list[object]:
    folder = Folder(lambda term: Known(symbols[term.name]) if term.op == "input" and term.name in symbols else None)
    return [result for _, result in folder.outcomes(value)]


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (Term("call", "int", (X,)), 4),
        (Term("binary", "//", (X, Known(3))), 1),
        (Term("call", "max", (X, Known(9))), 9),
        (Term("or", "", (X, Known(1))), 4),
        (Term("and", "", (X, Known(1))), 1),
        (Term("not", "", (X,)), False),
        (Term("compare", "is", (X, Known(None))), False),
        (Term("compare", "in", (X, Items("tuple", [Known(2), Known(4)]))), True),
        (Term("unary", "-", (X,)), -4),
        (Term("call", "isinstance", (X, Term("external", "int"))), True),
        (Term("binary", "//", (X, Known(0))), UNKNOWN),
        (Term("call", "somewhere.f", (X,)), UNKNOWN),
        (Term("binary", "+", (X, Y)), UNKNOWN),
        (Term("or", "", (Y, Known(1))), UNKNOWN),
    ],
)
def test_terms(value: Value, result: object) -> None:
    assert fold(value, x=4) == [result]


def test_a_choice_on_a_known_test_has_one_outcome() -> None:
    none = Term("compare", "is", (X, Known(None)))
    value = Choice([((Literal(none, True),), Known(-1)), ((Literal(none, False),), Term("call", "int", (X,)))])
    assert fold(value, x=2) == [2]
    assert fold(value, x=None) == [-1]


def test_an_open_test_keeps_both_with_their_conditions() -> None:
    value = Choice([((Literal(Y, True),), X), ((Literal(Y, False),), Known(7))])
    folder = Folder(lambda term: Known(1) if term.name == "x" else None)
    assert [(bool(path), result) for path, result in folder.outcomes(value)] == [(True, 1), (True, 7)]
    assert [result for _, result in folder.outcomes(value, (Literal(Y, False),))] == [7]


def test_operands_on_contradictory_paths_are_not_combined() -> None:
    left = Choice([((Literal(Y, True),), Known(1)), ((Literal(Y, False),), Known(2))])
    right = Choice([((Literal(Y, True),), Known(10)), ((Literal(Y, False),), Known(20))])
    assert fold(Term("binary", "+", (left, right))) == [11, 22]


def test_truth_of_a_path() -> None:
    folder = Folder(lambda term: Known(-1) if term.name == "x" else None)
    above = Literal(Term("compare", ">", (X, Known(0))), True)
    assert folder.holds((above,)) is False
    assert folder.holds((Literal(Term("or", "", (Z, Term("compare", "<", (X, Known(0))))), True),)) is True
    assert folder.holds((Literal(Z, True),)) is None


def test_deep_values_are_given_up() -> None:
    value: Value = X
    for _ in range(200):
        value = Term("binary", "+", (value, Known(1)))
    assert fold(value, x=1) == [UNKNOWN]
