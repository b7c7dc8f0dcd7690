"""Conditions across the boundary, and orders of axes."""

from __future__ import annotations

import pytest

from cutile_lint.unit.flows.axes import Step, cycles, order_of
from cutile_lint.unit.flows.conditions import FLAG, is_obscure, possible, substitute, substituted, together
from cutile_lint.unit.machine.values import MAX_NESTING, Choice, Items, Known, Literal, Term

FLAG_A = Term("input", "transpose_a")
PERSISTENT = Term("input", "static_persistent")
TRANS = Term("generic", "TRANSPOSE_A")


def equals(value, constant) -> Literal:
    return Literal(Term("compare", "==", (value, Known(constant))), True)


def through(value):
    """The kernel's condition with the generic's value put in."""
    return substituted((equals(TRANS, 1),), {TRANS.key(): value})


def test_a_flag_that_crosses_the_boundary_comes_together_with_itself() -> None:
    assert together((Literal(FLAG_A, True),), through(Term("call", "int", (FLAG_A,)))) is True


def test_a_constant_excludes_the_later_owner() -> None:
    assert together((Literal(FLAG_A, True),), through(Known(0))) is False


def test_opposite_and_independent_flags_do_not_come_together() -> None:
    assert together((Literal(FLAG_A, False),), through(FLAG_A)) is False
    assert together((Literal(PERSISTENT, True),), through(FLAG_A)) is False


def test_a_choice_by_another_flag_is_followed() -> None:
    one_or_none = Choice([((Literal(FLAG_A, True),), Known(1)), ((Literal(FLAG_A, False),), Known(0))])
    assert together((Literal(FLAG_A, True),), through(one_or_none)) is True


def test_a_container_that_grows_too_large_is_open_and_not_an_empty_one() -> None:
    deep = Term("input", "x")
    for _ in range(MAX_NESTING - deep.nesting):
        deep = Term("unary", "-", (deep,))
    small, large = (substitute(Items("list", [TRANS, FLAG_A]), {TRANS.key(): value}) for value in (deep.base, deep))
    assert isinstance(small, Items) and isinstance(large, Items)
    assert len(small.items) == 2 and not small.open
    assert large.open


def test_what_the_path_refuses_is_not_possible() -> None:
    variant = Choice([((Literal(PERSISTENT, True),), Known(1)), ((Literal(PERSISTENT, False),), Known(0))])
    direct = Term("compare", "==", (variant, Known(0)))
    refused = (Literal(Term("and", "", (direct, FLAG_A)), False),)
    assert possible((Literal(FLAG_A, True), Literal(direct, True)), refused) is False
    assert possible((Literal(FLAG_A, True), Literal(direct, False)), refused) is True


def test_too_many_atoms_are_not_known() -> None:
    many = tuple(Literal(Term("input", f"x{at}"), True) for at in range(20))
    assert possible(many) is None


def test_a_subject_equals_one_constant_only() -> None:
    variant = Term("input", "variant")
    assert possible((equals(variant, 2), equals(variant, 3))) is False
    assert possible((equals(variant, 2), equals(variant, 0))) is False


@pytest.mark.parametrize(
    "name", ["transpose_a", "trans_b", "transA", "transposed", "is_transposed", "b_trans", "TRANSPOSE_A", "trans"]
)
def test_names_of_flags(name: str) -> None:
    assert FLAG.match(name)


@pytest.mark.parametrize("name", ["transform", "transport_a", "transposer", "translate", "a_translated", "transition"])
def test_names_that_look_alike(name: str) -> None:
    assert not FLAG.match(name)


@pytest.mark.parametrize(
    ("steps", "rank", "expected"),
    [
        ([("swap", (-1, -2))], 3, {frozenset({1, 2})}),
        ([("swap", (0, 1))], None, {frozenset({0, 1})}),
        ([("swap", (1, 2)), ("swap", (-1, -2))], 3, set()),
        ([("order", (2, 0, 1))], 3, {frozenset({0, 1, 2})}),
        ([("move", (1, 2))], 3, {frozenset({1, 2})}),
        ([("swap", (0, 1)), ("unsqueeze", (0,))], 3, {frozenset({1, 2})}),
    ],
)
def test_orders_of_views(steps, rank, expected) -> None:
    order = order_of([Step(kind, axes, None, kind) for kind, axes in steps], rank)
    assert order is not None
    assert cycles(order) == expected


def test_an_axis_that_is_not_there_gives_no_order() -> None:
    assert order_of([Step("swap", (1, 4), None, "transpose")], 3) is None


MODE = Term("input", "mode")


def order(value, name, constant, holds=True) -> Literal:
    return Literal(Term("compare", name, (value, Known(constant))), holds)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ((order(MODE, ">=", 1), order(MODE, "<=", 1)), True),
        ((order(MODE, ">", 3), order(MODE, "<", 3.2)), True),
        ((order(MODE, ">=", 2), order(MODE, "<", 2)), False),
        ((order(MODE, ">", 5), order(MODE, ">", 3, holds=False)), False),
        ((order(MODE, ">", 5, holds=False), order(MODE, ">", 3)), True),
        ((equals(MODE, 1), order(MODE, ">=", 1)), True),
        ((equals(MODE, 1), order(MODE, ">", 1)), False),
        ((Literal(MODE, False), order(MODE, ">", 0)), False),
        ((Literal(MODE, False), order(MODE, "<=", 0)), True),
        ((Literal(FLAG_A, False), order(FLAG_A, ">=", 1)), False),
        ((Literal(FLAG_A, True), order(Term("call", "int", (FLAG_A,)), "<=", 0)), False),
        ((Literal(FLAG_A, False), order(FLAG_A, ">=", 0)), True),
        ((order(Known(3), ">=", 4),), False),
        ((order(FLAG_A, ">", 132),), False),
        ((order(Term("call", "int", (MODE,)), ">", 132),), True),
        (
            (
                order(Choice([((Literal(MODE, True),), Known(2)), ((Literal(MODE, False),), Known(0))]), ">=", 1),
                Literal(MODE, False),
            ),
            False,
        ),
    ],
)
def test_comparisons_with_numbers_go_together(condition, expected) -> None:
    assert possible(condition) is expected


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (Term("call", "is_set", (MODE,)), True),
        (Term("compare", "==", (Term("binary", "&", (MODE, Known(1))), Known(1))), True),
        (Term("compare", ">", (MODE, Term("input", "other"))), True),
        (Term("call", "is_set", (Term("input", "other"),)), False),
        (Term("compare", ">", (MODE, Known(0))), False),
        (Term("not", "", (MODE,)), False),
    ],
)
def test_a_test_that_is_not_understood_hides_what_it_says_of_the_path(test, expected) -> None:
    assert is_obscure((Literal(test, True),), (Literal(MODE, True),)) is expected
