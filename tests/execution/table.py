"""The agreement table. ``python -m tests.execution.table`` prints it, with ``--write FILE`` it goes into a page of the documentation."""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import multiprocessing
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from cutile_lint.engine.registry import builtin_rules
from tests.execution.agreement import Verdict

_HEADER = ("rule", "executed", "findings", "agree", "by design", "disagree", "not executed", "executed again after a fix")


def rows(verdicts: Iterable[Verdict]) -> list[tuple[str, ...]]:
    """One row for each rule, and the sums."""
    by_rule: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_rule.setdefault(verdict.code, []).append(verdict)
    return [_row(code, by_rule[code]) for code in sorted(by_rule)] + [
        _row("all", [one for each in by_rule.values() for one in each])
    ]


def _row(name: str, verdicts: list[Verdict]) -> tuple[str, ...]:
    groups = [verdict.group for verdict in verdicts]
    counts = (
        len(groups) - groups.count("not executed"),
        sum(verdict.findings for verdict in verdicts if not verdict.reason),
        *(groups.count(group) for group in ("agree", "by design", "disagree", "not executed")),
        sum(bool(verdict.fixed) for verdict in verdicts),
    )
    return name, *map(str, counts)


def as_text(verdicts: list[Verdict]) -> str:
    """For a terminal: the table, then what is not simply agreed on."""
    table = [_HEADER, *rows(verdicts)]
    widths = [max(len(row[at]) for row in table) for at in range(len(_HEADER))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    return "\n".join(
        [*lines, "", *(f"{verdict.group}: {verdict.name} {verdict.code}: {text}" for verdict, text in _notes(verdicts))]
    )


def _notes(verdicts: list[Verdict]) -> Iterable[tuple[Verdict, str]]:
    for verdict in verdicts:
        if verdict.group != "agree":
            yield verdict, verdict.reason or verdict.by_design or "; ".join(verdict.disagree)


def as_page(verdicts: list[Verdict], date: str, commit: str) -> str:
    """The page of the documentation."""
    names = {info.code: f"[{info.code}](../rules/{info.code}.md) {info.name}" for info in builtin_rules()}
    body = [_HEADER, ("---",) + ("---:",) * (len(_HEADER) - 1), *rows(verdicts)]
    table = "\n".join("| " + " | ".join((names.get(row[0], row[0]), *row[1:])) + " |" for row in body)
    notes = "\n".join(f"- {verdict.group}: `{verdict.name}`: {text}" for verdict, text in _notes(verdicts))
    return _PAGE.format(table=table, notes=notes or "There is nothing else to say.", date=date, commit=commit)


_PAGE = """# Verdicts against execution

What the rules on the timed region and on autograd say is compared with what happens when the wrappers run. The wrappers of the bases, of `examples/`
and of every case of these rules are called on CPU PyTorch: a tensor type stands for device memory, a dispatch mode records every operation on it, a
stub runtime records launches and trials, and the kernels are computed, tile by tile, by a few lines of Python. New memory is full of NaN.

Each op is called with contiguous and strided tensors, several sizes and dtypes, its contract flags, inputs that require grad, and launches that fail.
The counts know nothing of the linter:

- CTL101, CTL102, CTL103, CTL107: fills, copies, computations and waits of an ordinary trial, by the place that calls them
- CTL104, CTL105: launches without which the op gives the same values
- CTL106: memory that no launch gets, nothing is computed from and nobody returns
- CTL110: launches after the tuner that read and give what its last one did
- CTL111: copies on every call of tensors that lie well
- CTL113: values that change with the number of trials
- CTL301, CTL302: calls that fail because an input requires grad; inputs that a launch gets with their graph

A rule agrees if its findings stand at exactly the places that are counted (a finding may stand at the call of the helper that launches). After a fix
the same holds for the new text, and after a safe fix each call gives the same values. What no call of the harness comes to is not counted either.

{table}

{notes}

Made by `python -m tests.execution.table` on {date}, at commit {commit}.
"""


def _judged(name: str) -> list[Verdict]:
    from tests.execution.cases import all_cases, verdict_on
    from tests.execution.examples import TREES, verdicts_on

    if name in TREES:
        return verdicts_on(name)
    return [verdict_on(next(case for case in all_cases() if case.id == name))]


def everything() -> list[Verdict]:
    """All trees and cases, in two processes."""
    from tests.execution.cases import all_cases
    from tests.execution.examples import TREES

    names = [*sorted(TREES, reverse=True), *(case.id for case in all_cases())]
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        return [verdict for found in pool.map(_judged, names, chunksize=1) for verdict in found]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.execution.table", description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page to FILE")
    options = parser.parse_args()
    verdicts = everything()
    print(as_text(verdicts))
    if options.write is not None:
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
        options.write.parent.mkdir(parents=True, exist_ok=True)
        options.write.write_text(as_page(verdicts, datetime.date.today().isoformat(), commit), encoding="utf-8")
    return int(any(verdict.group == "disagree" for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
