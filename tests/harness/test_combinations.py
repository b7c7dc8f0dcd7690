"""Several faults in one op are fixed by one ``--fix``; rules that undo each other's work are found here, not by users."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cutile_lint.engine.cases import Case, Tree, load_base
from tests.harness.fixing import ALL, RULES, Fixer, codes, fixed_cases, problems_of
from tests.harness.fixing import fixable as is_fixable

FIXER = Fixer()
PLAIN = {"name", "base", "edits", "findings", "fixed", "unsafe_fixed", "only"}


def _cases_of(base: str) -> list[Case]:
    """Cases that are nothing but edits of this base."""
    found = [case for case in fixed_cases() if case.data.get("base") == base and case.data.keys() <= PLAIN]
    return [case for case in found if not any(isinstance(edits, str) for edits in case.data["edits"].values())]


def merge(base: Tree, cases: Sequence[Case]) -> Tree | None:
    """The base with the edits of all cases; None if two of them touch the same lines."""
    taken: dict[str, list[tuple[int, int, str]]] = {}
    for case in cases:
        for path, changes in case.data["edits"].items():
            for old, new in changes:
                if base[path].count(old) != 1:
                    return None
                start = base[path].index(old)
                end = start + len(old)
                spans = taken.setdefault(path, [])
                if any(start <= other_end and other_start <= end for other_start, other_end, _ in spans):
                    return None
                spans.append((start, end, new))
    merged = dict(base)
    for path, spans in taken.items():
        for start, end, new in sorted(spans, reverse=True):
            merged[path] = merged[path][:start] + new + merged[path][end:]
    return merged


@pytest.mark.parametrize(("base", "examples"), [("row_scale", 24), ("gemm", 8), ("batched", 8)])
def test_faults_together(base: str, examples: int) -> None:
    cases, text = {case.id: case for case in _cases_of(base)}, load_base(base)

    @settings(
        max_examples=examples * 25 if ALL else examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(
        st.lists(st.sampled_from(sorted(cases)), min_size=2, max_size=4, unique_by=lambda name: cases[name].rule.code),
        st.booleans(),
    )
    def holds(names: list[str], unsafe: bool) -> None:
        chosen = [cases[name] for name in names]
        tree = merge(text, chosen)
        assume(tree is not None)
        assert tree is not None
        problems = combined(tree, chosen[0], unsafe)
        assert not problems, "\n".join([", ".join(names), f"unsafe: {unsafe}", *problems])

    holds()


#: faults that once got in each other's way
FOUGHT = [
    ("gemm", "CTL206-invalid-the-number-of-programs", "CTL209-invalid-by-keyword"),
    ("gemm", "CTL206-invalid-the-number-of-programs", "CTL209-invalid-in-a-helper-function-of-the-export"),
]


@pytest.mark.parametrize(("base", "names"), [(base, names) for base, *names in FOUGHT])
def test_faults_that_fought(base: str, names: list[str]) -> None:
    chosen = [case for case in _cases_of(base) if case.id in names]
    tree = merge(load_base(base), chosen)
    assert tree is not None and len(chosen) == len(names)
    assert not combined(tree, chosen[0], True)


def combined(tree: Tree, case: Case, unsafe: bool) -> list[str]:
    """What is wrong with one fix of all rules on a tree."""
    after, result = FIXER.run(tree, RULES, case, unsafe)
    problems = problems_of(result, unsafe, tree, after)
    again, second = FIXER.run(after, RULES[::-1], case, unsafe)
    problems += ["a second run changes the files again"] if again != after else []
    problems += ["the findings depend on the order of rules"] if codes(second.remaining) != codes(result.remaining) else []
    problems += [f"still there: {item.code}" for item in second.remaining if is_fixable(item, unsafe)]
    return problems
