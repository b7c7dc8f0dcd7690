"""Beside each other: what the linter says about a tree, and what its execution counts; then the same after the fixes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from cutile_lint.engine.cases import Case, Tree
from cutile_lint.engine.registry import RuleInfo, builtin_rules
from cutile_lint.findings import Finding
from cutile_lint.fixes.case_runner import MemoryRunner
from tests.execution.judge import COUNTS, Counted, Ran, is_error, plain_run, run_all
from tests.execution.kernels import Kernel
from tests.execution.trace import Site
from tests.execution.world import World, opened, same

torch.set_num_threads(1)
RULES = {info.code: info for info in builtin_rules()}


@dataclass(frozen=True)
class Setting:
    """How a tree is executed: what its kernels compute, the modules that register its ops, flags that one more call gets."""

    kernels: Mapping[str, Kernel]
    modules: tuple[str, ...] = ("__init__.py",)
    more: Mapping[str, Any] = field(default_factory=dict)
    #: flags that every call gets
    always: Mapping[str, Any] = field(default_factory=dict)
    #: modules that the tree imports and does not have
    beside: Mapping[str, str] = field(default_factory=dict)
    #: only the smallest size: the tree works on single elements
    small: bool = False


@dataclass(slots=True)
class Verdict:
    """One rule on one tree. ``disagree`` says where the two differ; ``reason`` why the tree was not executed."""

    code: str
    name: str
    findings: int = 0
    disagree: list[str] = field(default_factory=list)
    reason: str = ""
    #: why the case wants another verdict than the counts would give
    by_design: str = ""
    #: fixes of each level after which the op was executed again
    fixed: list[str] = field(default_factory=list)

    @property
    def group(self) -> str:
        """Which column of the table it is in."""
        if self.reason:
            return "not executed"
        if self.by_design:
            return "by design"
        return "disagree" if self.disagree else "agree"


class Linter(MemoryRunner):
    """Findings of a tree as sites."""

    def sites(self, tree: Tree, rules: Sequence[RuleInfo], case: Case | None = None) -> list[tuple[Finding, Site]]:
        result = self.check(tree, rules, {}, case.paths if case else ["."])
        assert not result.errors, result.errors
        return [
            (finding, Site(finding.path.relative_to(result.root).as_posix(), finding.place.span.start, finding.place.span.end))
            for finding in result.findings
        ]


def compare(code: str, found: list[tuple[Finding, Site]], counted: Counted) -> list[str]:
    """Where the findings of a rule and what was counted differ."""
    said = [(finding, site) for finding, site in found if finding.code == code]
    problems = []
    if code == "CTL302":
        names = {match[1] for finding, _ in said if (match := re.match(r"input `(\w+)`", finding.message))}
        problems += [f"said, not counted: input `{name}`" for name in sorted(names - counted.inputs)]
        return problems + [f"counted, not said: input `{name}`" for name in sorted(counted.inputs - names)]
    left = set(counted.sites)
    for finding, site in said:
        matching = {one for one in counted.sites if one.meets(site)}
        if not matching and not (code == "CTL301" and counted.problems):
            problems.append(f"said, not counted: {finding.message} (at {finding.place.text!r})")
        if matching and matching <= counted.idle and "copies" in finding.message:
            problems.append(f"said, not counted: nothing is copied by {finding.place.text!r}")
        left -= matching
    return problems + [f"counted, not said: {site}" for site in sorted(left, key=lambda one: (one.path, one.start))]


def examine(
    tree: Tree, found: list[tuple[Finding, Site]], codes: Sequence[str], setting: Setting
) -> tuple[dict[str, list[str]], list[Ran]]:
    """Differences by rule, and the calls."""
    with opened({**setting.beside, **tree}, setting.kernels, setting.modules) as world:
        runs = run_all(world, more=setting.more, always=setting.always, small=setting.small)
        return {code: compare(code, found, count(world, runs, found, code)) for code in codes}, runs


def count(world: World, runs: list[Ran], found: list[tuple[Finding, Site]], code: str) -> Counted:
    return COUNTS[code](world, runs, [site for finding, site in found if finding.code == code])


def values_differ(before: list[Ran], after: list[Ran]) -> list[str]:
    """Drives for which a fixed op does not give what it gave before; where it gave an error for grad inputs, what it gave without."""
    problems = []
    for old in before:
        new = next((one for one in after if (one.op, one.drive) == (old.op, old.drive)), None)
        if new is None:
            problems.append(f"`{old.op}` is gone")
            continue
        wanted = old.outcome
        if old.drive.grad and is_error(wanted) and not is_error(new.outcome):
            plain = plain_run(before, old)
            wanted = plain.outcome if plain is not None else wanted
        if wanted.error is not None and new.outcome.error is not None:
            continue
        if not same(wanted.value, new.outcome.value) or (wanted.error is None) is not (new.outcome.error is None):
            problems.append(f"`{old.op}` gives something else ({old.drive.name})")
    return problems


def judge_case(case: Case, setting: Setting) -> Verdict:
    """A case of a rule, before and after its fixes."""
    linter, code = Linter(), case.rule.code
    verdict = Verdict(code, case.id)
    found = linter.sites(case.tree, [case.rule], case)
    verdict.findings = len(found)
    differences, runs = examine(case.tree, found, [code], setting)
    verdict.disagree += differences[code]
    errors = [ran.outcome.error for ran in runs if not ran.drive.is_empty and not ran.drive.code]
    if all(error is not None for error in errors):
        verdict.reason = f"the op fails: {errors[0]!r}"
        return verdict
    seen = {tuple(sorted(case.tree.items()))}
    for unsafe in (False, True):
        level = "unsafe" if unsafe else "safe"
        if not any(finding.fix is not None and finding.fix.applicability.value == level for finding, _ in found):
            continue
        fixed, _ = linter.fix(case.tree, [case.rule], case.options, case.paths, unsafe)
        if tuple(sorted(fixed.items())) in seen:
            continue
        seen.add(tuple(sorted(fixed.items())))
        after = linter.sites(fixed, [case.rule], case)
        differences, again = examine(fixed, after, [code], setting)
        problems = [f"after the {level} fix: {text}" for text in differences[code]]
        if not unsafe:
            problems += [f"after the {level} fix: {text}" for text in values_differ(runs, again)]
        verdict.fixed.append(level)
        verdict.disagree += problems
    return verdict
