"""Every rule's fix does the same however the file is written, and does it harmlessly.

``CUTILE_LINT_HARNESS=all pytest tests/harness`` runs every case in every variant; otherwise one variant of two cases each.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import zlib
from collections import Counter
from difflib import SequenceMatcher, unified_diff

import pytest

from cutile_lint.engine.cases import Case, Tree
from cutile_lint.findings import Applicability
from cutile_lint.fixes.loop import FixResult

from .fixing import ALL, RULES, Fixer, codes, fixed_cases, problems_of, rules_of, sample
from .variants import VARIANTS, comments

FIXER = Fixer()
CASES = [case for case in sample(fixed_cases(), 2) if not case.data.get("encode")]


def variants_of(case: Case) -> list[str]:
    names = list(VARIANTS)
    return names if ALL else [names[zlib.crc32(f"{case.id} variant".encode()) % len(names)]]


PAIRS = [(case, name) for case in CASES for name in variants_of(case)]


def is_unsafe(case: Case) -> bool:
    """Whether the case is about an unsafe fix."""
    return "unsafe_fixed" in case.data


@functools.lru_cache(maxsize=8)
def _plain(index: int) -> tuple[Tree, FixResult]:
    case = CASES[index]
    return FIXER.run(case.tree, rules_of(case), case, is_unsafe(case))


def plain(case: Case) -> tuple[Tree, FixResult]:
    return _plain(next(index for index, other in enumerate(CASES) if other is case))


@pytest.mark.parametrize(("case", "variant"), PAIRS, ids=lambda item: item if isinstance(item, str) else item.id)
def test_variant_is_fixed_alike(case: Case, variant: str) -> None:
    change = VARIANTS[variant]
    before = change(case.tree)
    after, result = FIXER.run(before, rules_of(case), case, is_unsafe(case))
    wanted = change(plain(case)[0])
    problems = problems_of(result, is_unsafe(case), before, after)
    problems += _differences(wanted, after)
    again, _ = FIXER.run(after, rules_of(case), case, is_unsafe(case))
    problems += ["a second run changes the files again"] if again != after else []
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("case", sample(CASES, 1), ids=lambda case: case.id)
def test_fix_is_harmless(case: Case) -> None:
    after, result = plain(case)
    problems = problems_of(result, is_unsafe(case), case.tree, after)
    problems += [] if result.applied else ["nothing was fixed"]
    if all(item.fix is None or item.fix.applicability is Applicability.SAFE for item in result.applied):
        problems += _lost_comments(case.tree, after)
    problems += _touched_lines(case, after, result)
    old = FIXER.check(case.tree, RULES, case.options, case.paths)
    new = FIXER.check(after, RULES, case.options, case.paths)
    problems += [f"new finding: {code}" for code in codes(new.findings) - codes(old.findings)]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("case", sample(CASES, 1), ids=lambda case: case.id)
def test_formatted_file_stays_formatted(case: Case) -> None:
    before = {path: _formatted(path, text) if path.endswith(".py") else text for path, text in case.tree.items()}
    after, result = FIXER.run(before, rules_of(case), case, is_unsafe(case), style=True)
    problems = problems_of(result, is_unsafe(case), before, after)
    for path, text in after.items():
        if path.endswith(".py") and text != before[path]:
            problems += _differences({path: _formatted(path, text)}, {path: text})
    assert not problems, "\n".join(problems)


def _formatted(path: str, text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--no-cache", "--stdin-filename", str(FIXER.root / path), "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    assert done.returncode == 0 or b"Failed to parse" in done.stderr, done.stderr.decode()
    return done.stdout.decode() if done.returncode == 0 else text


def _differences(wanted: Tree, after: Tree) -> list[str]:
    problems = []
    for path, text in wanted.items():
        if text != after[path]:
            lines = unified_diff([*map(repr, text.splitlines(True))], [*map(repr, after[path].splitlines(True))], lineterm="")
            problems.append(f"{path} is not what the plain file becomes\n" + "\n".join(lines))
    return problems


def _lost_comments(before: Tree, after: Tree) -> list[str]:
    problems = []
    for path, text in before.items():
        if text != after[path]:
            lost = Counter(comments(path, text)) - Counter(comments(path, after[path]))
            problems += [f"{path}: the comment is lost: {comment}" for comment in lost if "cutile-lint:" not in comment]
    return problems


def _touched_lines(case: Case, after: Tree, result: FixResult) -> list[str]:
    """Files without an edit are untouched, and lines that differ lie in a file that an applied fix names."""
    named = {edit.path for item in result.applied if item.fix for edit in item.fix.edits}
    problems = []
    for path, text in case.tree.items():
        if text != after[path] and FIXER.root / path not in named:
            problems.append(f"{path} was changed by no fix")
        if text != after[path]:
            same = SequenceMatcher(None, text.splitlines(), after[path].splitlines(), autojunk=False).ratio()
            problems += [f"{path}: most of the file was rewritten"] if same < 0.5 and text.count("\n") > 20 else []
    return problems
