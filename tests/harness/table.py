"""The fix harness over every case, as a table.

python -m tests.harness.table --write      every case in every variant, then docs/trust/fixes.md written (a quarter of an hour)
python -m tests.harness.table --sample     what CI runs
"""

from __future__ import annotations

import argparse
import os
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "trust" / "fixes.md"
_ITEM = re.compile(r"::(?P<test>\w+)\[(?P<id>(?:(?P<code>CTL\d+)-)?.*)\]$")
#: test → column
COLUMNS = {
    "test_variant_is_fixed_alike": "variants",
    "test_fix_is_harmless": "harmless",
    "test_formatted_file_stays_formatted": "formatted",
    "test_fixed_case_compiles": "Rust compiles",
}


@dataclass
class Results:
    """A pytest plugin that counts what ran and what failed, by rule and test."""

    ran: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))
    cases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    failed: list[str] = field(default_factory=list)
    others: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and not report.failed:
            return
        found = _ITEM.search(report.nodeid)
        column = COLUMNS.get(found["test"]) if found else None
        if found and column and found["code"]:
            self.ran[found["code"]][column] += 1
            if column == "harmless":
                self.cases[found["code"]].add(found["id"])
        else:
            self.others[found["test"] if found else report.nodeid.rpartition("::")[2]] += 1
        if report.failed:
            self.failed.append(report.nodeid.partition("::")[2])


def table_of(results: Results) -> str:
    from cutile_lint.engine.registry import builtin_rules
    from tests.mutation.table import as_table

    rows = []
    failures = [re.search(r"CTL\d+", item) for item in results.failed]
    codes = [found[0] for found in failures if found]
    for info in builtin_rules():
        ran = results.ran.get(info.code)
        if ran:
            rows.append(
                [
                    f"{info.code} {info.name}",
                    len(results.cases[info.code]),
                    *(ran[c] for c in COLUMNS.values()),
                    codes.count(info.code),
                ]
            )
    total = ["all", *(sum(row[at] for row in rows) for at in range(1, len(COLUMNS) + 2)), len(results.failed)]
    return as_table(["rule", "cases with a fix", *COLUMNS.values(), "failures"], [*rows, total])


def page(results: Results, everything: bool) -> str:
    from tests.mutation.table import stamp

    told = "\n".join(f"- {text}" for text in results.failed) or "Nothing failed."
    size = "every case in every variant" if everything else "the sample that CI runs"
    return f"""# Fixes

Measured {stamp()}: {size}. Written by `python -m tests.harness.table --write`; do not edit by hand.

Each number is how often it was tried. *variants*: the case with CRLF, BOM, tabs, emoji, or no newline at its end is fixed like the plain one,
a second run changes nothing, nothing fixable is left, and every file parses. *harmless*: no new finding of any rule, comments survive, no file is
touched that no fix names. *formatted*: what `ruff format` had formatted is still formatted. *Rust compiles*: host Rust that
type-checked before the fix does so after it. Besides, random combinations of faults in one file are fixed at once, in both orders of the rules,
with one result, and the faulty examples as a whole like any case, in all variants. [What is measured](index.md) has the rest.

{table_of(results)}

## What failed

{told}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="The fix harness over every case, as a table.")
    parser.add_argument("--sample", action="store_true", help="what CI runs instead of every case")
    parser.add_argument("--write", action="store_true", help="write docs/trust/fixes.md")
    given = parser.parse_args()
    if not given.sample:
        os.environ["CUTILE_LINT_HARNESS"] = "all"
    results = Results()
    folder = ROOT / "tests" / "harness"
    files = [
        str(folder / f"test_{name}.py") for name in ("fix_variants", "fixed_rust_compiles", "combinations", "examples_are_fixed")
    ]
    pytest.main(["-q", "--no-header", "--tb=short", "-p", "no:cacheprovider", *files], plugins=[results])
    text = page(results, not given.sample)
    print(text)
    if given.write:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
