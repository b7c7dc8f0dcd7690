"""Three-valued logic agrees with two-valued logic on every completion of what is not known."""

from __future__ import annotations

from itertools import product

import pytest

from cutile_lint.unit.machine.logic import joined, negated

ANSWERS = (True, False, None)


def completions(answers):
    return product(*([answer] if answer is not None else [True, False] for answer in answers))


@pytest.mark.parametrize("answers", [row for length in range(4) for row in product(ANSWERS, repeat=length)])
def test_an_answer_is_what_all_completions_agree_on(answers):
    every = {all(row) for row in completions(answers)}
    some = {any(row) for row in completions(answers)}
    assert joined(False, answers, lambda one: one) is (every.pop() if len(every) == 1 else None)
    assert joined(True, answers, lambda one: one) is (some.pop() if len(some) == 1 else None)


@pytest.mark.parametrize(("answer", "opposite"), [(True, False), (False, True), (None, None)])
def test_what_is_not_known_stays_so_when_it_is_negated(answer, opposite):
    assert negated(answer) is opposite


@pytest.mark.parametrize("decisive", [True, False])
def test_nothing_is_asked_after_a_decisive_answer(decisive):
    asked = []

    def question(part, *more):
        asked.append((part, *more))
        return {"open": None, "ends": decisive}.get(part, not decisive)

    assert joined(decisive, ["other", "open", "ends", "never"], question, "and more") is decisive
    assert asked == [("other", "and more"), ("open", "and more"), ("ends", "and more")]
