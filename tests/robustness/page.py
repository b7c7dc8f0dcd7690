"""``python -m tests.robustness.page docs/trust/robustness.md --fuzz LOG …``: what the fuzz runs and the tests of faults say today.

A LOG is what ``python -m tests.robustness.fuzz`` printed; an input that failed in it is tried again.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from xml.etree import ElementTree

from tests.robustness.fuzz.attempt import attempt
from tests.robustness.fuzz.mutate import make
from tests.robustness.fuzz.targets import LANGUAGES

_ROOT = Path(__file__).resolve().parents[2]
GROUPS = {
    "tests/robustness/test_limits.py": "Limits and nesting",
    "tests/robustness/test_disk.py": "Disks, kills, caches, two runs",
    "tests/security/test_no_code_runs.py": "Nothing of the tree runs",
    "tests/security/test_nothing_outside.py": "Nothing is written outside the tree",
    "tests/security/test_reports_stay_whole.py": "Reports stay whole",
}
_HEAD = """\
# Robustness

Written by `python -m tests.robustness.page docs/trust/robustness.md`, {date}, commit {commit}; do not edit by hand.

Whatever stands in the files: no traceback, no internal error, no hang; a file is read, or refused, in 2 s of processor time and 500 MB,
and what was left out is said ([CTL903](../rules/CTL903.md)). Whatever the tree wants: nothing of it runs, nothing is written outside of it.

## Fuzz runs

Files of the examples with bytes, tokens and lines changed, moved and repeated, and with text that nests or goes on without an end.
Each is read alone; some are checked with their whole op under all rules, then fixed, mapped and reported in all formats.
`python -m tests.robustness.fuzz --count 20000` makes more, and prints for each failure the command that repeats it.

"""


def main() -> int:
    made = argparse.ArgumentParser(prog="python -m tests.robustness.page")
    made.add_argument("page", type=Path)
    made.add_argument("--fuzz", nargs="+", type=Path, default=[], metavar="LOG")
    options = made.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=_ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    text = _HEAD.format(date=datetime.now(timezone.utc).date(), commit=commit)
    text += _fuzz([log.read_text(encoding="utf-8") for log in options.fuzz]) + _faults()
    options.page.write_text(text, encoding="utf-8", newline="\n")
    return 0


def _fuzz(logs: list[str]) -> str:
    read: Counter[str] = Counter()
    checked: Counter[str] = Counter()
    lines = []
    for log in logs:
        seed = int(re.findall(r"^seed (\d+)", log, re.M)[0])
        for language, alone, whole in re.findall(r"^(\w+) +(\d+) read, +(\d+) with their op$", log, re.M):
            read[language] += int(alone)
            checked[language] += int(whole)
        failed = [int(number) for number in re.findall(r"^FAILED (\d+)", log, re.M)]
        still = [number for number in failed if _fails(seed, number)]
        slowest, largest = re.findall(r"slowest ([\d.]+) s, largest (\d+) MB$", log, re.M)[0]
        at = re.findall(r"^seed .* at commit (\w+)", log, re.M)
        end = f"{len(failed)} failed, {len(still)} of them still do at the commit of this page" if failed else "none failed"
        where = f"commit {at[0]}" if at else "an earlier commit"
        most = f"The slowest input, with all that was done to it, took {slowest} s, the largest {largest} MB."
        lines.append(f"- seed {seed}, run at {where}: {end}. {most}")
    return "\n".join([fuzz_table(read, checked), "", *lines, "", ""])


def fuzz_table(read: Mapping[str, int], checked: Mapping[str, int]) -> str:
    table = ["| language | inputs read | with their whole op |", "| --- | ---: | ---: |"]
    table += [f"| {language} | {read.get(language, 0):,} | {checked.get(language, 0):,} |" for language in LANGUAGES]
    return "\n".join([*table, f"| all | {sum(read.values()):,} | {sum(checked.values()):,} |"])


def _fails(seed: int, number: int) -> bool:
    try:
        attempt(make(seed, number))
    except Exception:
        return True
    return False


def _faults() -> str:
    """The tests of faults, run now: each with its result."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *GROUPS]
        subprocess.run(command, cwd=_ROOT, stdout=subprocess.DEVNULL, check=False)
        cases = list(ElementTree.parse(report).iter("testcase"))
    found = [(f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}", not list(case)) for case in cases]
    return "\n".join(["## Faults survived", "", faults_table(found), ""])


def faults_table(tests: Iterable[tuple[str, bool]]) -> str:
    """``tests``: file and name of each that ran, and whether it passed."""
    results: dict[str, dict[str, list[bool]]] = {file: {} for file in GROUPS}
    for test, good in tests:
        file, _, name = test.partition("::")
        if file in results:
            results[file].setdefault(name.partition("[")[0].removeprefix("test_").replace("_", " "), []).append(good)
    lines = ["| fault | survived |", "| --- | --- |"]
    for file, title in GROUPS.items():
        lines.append(f"| **{title}** | |")
        lines += [f"| {name} | {sum(good)} of {len(good)} |" for name, good in results[file].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
