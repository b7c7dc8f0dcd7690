"""The bases and the two trees of examples/: every rule at once, each op by itself."""

from __future__ import annotations

from pathlib import Path

from cutile_lint.engine.cases import Tree, load_base
from tests.execution.agreement import RULES, Linter, Setting, Verdict, examine, values_differ
from tests.execution.judge import COUNTS
from tests.execution.kernels import EXAMPLE_KERNELS, FAULTY_KERNELS, KERNELS

EXAMPLES = Path(__file__).parents[2] / "examples"
_MODULES = (
    "tilegym/src/tilegym/ops/cutile_rs/__init__.py",
    "tilegym/src/tilegym/suites/lowrank/cutile_rs/__init__.py",
    "skill/scale_residual/wrapper.py",
)
TREES: dict[str, Setting] = {
    "base row_scale": Setting(KERNELS),
    "base gemm": Setting(KERNELS),
    "base batched": Setting(KERNELS),
    "examples/clean": Setting(EXAMPLE_KERNELS, _MODULES),
    "examples/faulty": Setting(FAULTY_KERNELS, _MODULES),
}


def tree_of(name: str) -> Tree:
    if name.startswith("base "):
        return load_base(name.removeprefix("base "))
    root = EXAMPLES.parent / name
    files = sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes().decode() for path in files}


def verdicts_on(name: str) -> list[Verdict]:
    """A tree judged, one verdict for each rule; then its fixes, whose values are compared for the safe ones."""
    linter, setting, tree = Linter(), TREES[name], tree_of(name)
    rules = [RULES[code] for code in COUNTS]
    found = linter.sites(tree, rules)
    differences, runs = examine(tree, found, list(COUNTS), setting)
    verdicts = {
        code: Verdict(code, name, sum(finding.code == code for finding, _ in found), problems)
        for code, problems in differences.items()
    }
    for unsafe in (False, True):
        level = "unsafe" if unsafe else "safe"
        if not any(finding.fix is not None and finding.fix.applicability.value == level for finding, _ in found):
            continue
        fixed, problems = linter.fix(tree, rules, {}, ["."], unsafe)
        after, again = examine(fixed, linter.sites(fixed, rules), list(COUNTS), setting)
        if not unsafe:
            problems += values_differ(runs, again)
        for code, more in after.items():
            fixable = [
                f for f, _ in found if f.code == code and f.fix is not None and (unsafe or f.fix.applicability.value == "safe")
            ]
            if fixable:
                verdicts[code].fixed.append(level)
            verdicts[code].disagree += [f"after the {level} fixes: {text}" for text in (*more, *(problems if fixable else ()))]
    return list(verdicts.values())
