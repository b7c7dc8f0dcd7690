"""The faulty examples as a whole, however their files are written: one ``--fix`` mends them, harmlessly, and a second finds nothing to do."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from cutile_lint.engine.cases import Case, Tree
from cutile_lint.fixes.loop import FixResult

from .fixing import ALL, RULES, Fixer, codes, problems_of
from .test_fix_variants import _differences, _lost_comments
from .variants import VARIANTS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "faulty"
FIXER = Fixer()
#: what CI takes time for
CHOSEN = list(VARIANTS) if ALL else ["crlf", "no-final-newline"]


@functools.lru_cache(maxsize=2)
def example(name: str) -> Case:
    files = [path for path in sorted((EXAMPLES / name).rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    tree: Tree = {path.relative_to(EXAMPLES / name).as_posix(): path.read_bytes().decode() for path in files}
    return Case(RULES[0], {"name": name}, False, tree, tree)


@functools.lru_cache(maxsize=4)
def plain(name: str, unsafe: bool) -> tuple[Tree, FixResult]:
    case = example(name)
    return FIXER.run(case.tree, RULES, case, unsafe)


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("name", ["skill", "tilegym"])
def test_example_is_fixed_harmlessly(name: str, unsafe: bool) -> None:
    case = example(name)
    after, result = plain(name, unsafe)
    assert result.applied
    problems = problems_of(result, unsafe, case.tree, after)
    problems += [] if unsafe else _lost_comments(case.tree, after)
    found = FIXER.check(case.tree, RULES, case.options, case.paths).findings
    problems += [f"new finding: {code}" for code in codes(result.remaining) - codes(found)]
    again, _ = FIXER.run(after, RULES[::-1], case, unsafe)
    problems += ["a second run changes the files again"] if again != after else []
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("variant", CHOSEN)
@pytest.mark.parametrize("name", ["skill", "tilegym"])
def test_example_is_fixed_alike(name: str, variant: str) -> None:
    case, change = example(name), VARIANTS[variant]
    before = change(case.tree)
    after, result = FIXER.run(before, RULES, case, False)
    problems = problems_of(result, False, before, after) + _differences(change(plain(name, False)[0]), after)
    assert not problems, "\n".join(problems)
