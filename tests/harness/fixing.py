"""Cases with a fix, and fixing their trees in memory. Used by the fix harness.

``CUTILE_LINT_HARNESS=all`` runs every case; otherwise a sample that is the same in every run.
"""

from __future__ import annotations

import functools
import os
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from cutile_lint.engine.cases import Case, Tree, load_cases
from cutile_lint.engine.registry import RuleInfo, builtin_rules
from cutile_lint.engine.rule_docs import load_doc
from cutile_lint.findings import Finding
from cutile_lint.fixes.case_runner import MemoryRunner
from cutile_lint.fixes.loop import FixResult, fix_loop
from cutile_lint.fixes.verify import broken_by

ALL = os.environ.get("CUTILE_LINT_HARNESS") == "all"
RULES = builtin_rules()


@functools.lru_cache(maxsize=1)
def fixed_cases() -> list[Case]:
    """The invalid cases whose documentation says that something is fixed in them."""
    found = []
    for info in RULES:
        if info.fix in ("safe", "unsafe"):
            found += [case for case in load_cases(load_doc(info)) if not case.valid and _says_fixed(case)]
    return found


def _says_fixed(case: Case) -> bool:
    wanted = [case.data.get(key, "unchanged") for key in ("fixed", "unsafe_fixed")]
    return any(value != "unchanged" for value in wanted)


def rules_of(case: Case) -> Sequence[RuleInfo]:
    """The case's rule; all of them where it says something about what the others find."""
    return RULES if case.data.get("only") else (case.rule,)


def sample(cases: Iterable[Case], per_rule: int) -> list[Case]:
    """At most so many cases of each rule (all on demand), spread over its list."""
    by_rule: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_rule[case.rule.code].append(case)
    chosen: list[Case] = []
    for listed in by_rule.values():
        chosen += listed if ALL else sorted(listed, key=lambda case: zlib.crc32(case.id.encode()))[:per_rule]
    return chosen


class Fixer(MemoryRunner):
    """The in-memory runner, which tells the whole result of a fix."""

    def run(self, tree: Tree, rules: Sequence[RuleInfo], case: Case, unsafe: bool, style: bool = False) -> tuple[Tree, FixResult]:
        files = self._files(tree, case.paths)
        base = self._overlays(tree, case.options)

        def check(overlays) -> list[Finding]:
            report = self._report(overlays, rules, files)
            assert not report.errors, "\n".join(f"{error}\n{error.traceback}" for error in report.errors)
            return report.findings

        result = fix_loop(check, base, unsafe, style=style)
        changed = {path.relative_to(self.root).as_posix(): data.decode("utf-8") for path, data in result.changed.items()}
        return {**tree, **changed}, result


def problems_of(result: FixResult, unsafe: bool, before: Tree, after: Tree) -> list[str]:
    """What no fix may leave behind: a broken file, a fix undone, rules that fight, something fixable."""
    found = [f"{item.finding.code}: undone: {item.reason}" for item in result.undone]
    found += [f"{', '.join(fight.codes)} fight" for fight in result.fights]
    found += [f"still fixable: {told(item)}" for item in result.remaining if fixable(item, unsafe)]
    for path, text in after.items():
        if text != before[path]:
            reason = broken_by(MemoryRunner().root / path, b"" if path.endswith((".py", ".rs")) else b"{}", text.encode())
            found += [f"{path}: {reason}"] if reason else []
    return found


def fixable(finding: Finding, unsafe: bool) -> bool:
    return finding.fix is not None and (unsafe or finding.fix.applicability.value == "safe")


def told(finding: Finding) -> str:
    return f"{finding.code} {finding.place.path.name}:{finding.place.start[0]} {finding.message}"


def codes(findings: Iterable[Finding]) -> Counter[str]:
    return Counter(finding.code for finding in findings)
