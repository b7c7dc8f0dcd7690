"""Recall and false alarms of every rule under rewrites, as a table.

python -m tests.mutation.table              a sample, some minutes
python -m tests.mutation.table --all        every source under every rewrite, some hours; --jobs N processes
python -m tests.mutation.table --write      … and docs/trust/mutation.md written
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from .judge import REWRITES, mutate
from .sources import OF_THE_LINTER, ROOT, RULES, Source, fraction, sources

PAGE = ROOT / "docs" / "trust" / "mutation.md"


@dataclass
class Row:
    """What happened to the faults of one rule, or under one rewrite."""

    planted: int = 0
    missed: int = 0
    clean: int = 0
    alarms: int = 0

    def add(self, other: Row) -> None:
        for name in ("planted", "missed", "clean", "alarms"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def recall(self) -> str:
        return f"{100 * (self.planted - self.missed) / self.planted:.1f} %" if self.planted else "–"


@dataclass
class Tally:
    rules: dict[str, Row] = field(default_factory=lambda: defaultdict(Row))
    rewrites: dict[str, Row] = field(default_factory=lambda: defaultdict(Row))
    faults: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        for mine, theirs in ((self.rules, other.rules), (self.rewrites, other.rewrites)):
            for name, row in theirs.items():
                mine[name].add(row)
        self.faults += other.faults


def tally(source: Source, rewrites: Iterable[str]) -> Tally:
    """One source under some rewrites. A clean tree counts for the rule that it was written for."""
    result = Tally()
    for name in rewrites:
        try:
            mutant = mutate(source, name)
        except AssertionError as error:
            result.faults.append(f"the rewrite or a rule failed: {error}")
            continue
        if mutant is None:
            continue
        row = result.rewrites[name]
        for code, number in mutant.planted.items():
            result.rules[code].planted += number
            row.planted += number
        for code, number in mutant.lost.items():
            result.rules[code].missed += number
            row.missed += number
        for code, number in mutant.new.items():
            result.rules[code].alarms += number
            row.alarms += number
        if source.planted is None:
            row.clean += 1
            if source.about:
                result.rules[source.about].clean += 1
        if mutant.lost or mutant.new:
            lost, new = (", ".join(sorted(counter)) for counter in (mutant.lost, mutant.new))
            result.faults.append(f"{mutant.id}: lost {lost or 'nothing'}, new {new or 'nothing'}")
    return result


def _work(task: tuple[int, list[str]]) -> Tally:
    return tally(sources()[task[0]], task[1])


def run(share: float, jobs: int, seed: str = "") -> Tally:
    tasks = []
    listed = sources()
    looked_at = set(fraction([source.id for source in listed], min(1.0, 8 * share), seed))  # a source is judged plain once
    for index, source in enumerate(listed):
        if source.id not in looked_at:
            continue
        chosen = fraction(REWRITES, max(share, 1 / 8), seed + source.id) if share < 1 else list(REWRITES)
        if chosen:
            tasks.append((index, chosen))
    total = Tally()
    with ProcessPoolExecutor(jobs) as pool:
        for number, one in enumerate(pool.map(_work, tasks, chunksize=8), 1):
            total.add(one)
            for text in one.faults:
                print(text, file=sys.stderr, flush=True)
            if sys.stderr.isatty():
                print(f"\r{number}/{len(tasks)}", end="", file=sys.stderr)
    return total


def as_table(head: list[str], rows: list[list[object]]) -> str:
    """Markdown."""
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


_HEAD = ["faults under rewrites", "missed", "recall", "clean trees under rewrites", "false alarms"]


def by_rule(rows: Mapping[str, Row], summed: Row | None = None) -> str:
    """Recall and false alarms of each rule, and of all (``summed``, where a tree counts for more than one of them)."""
    names = {info.code: info.name for info in RULES if info.code not in OF_THE_LINTER}
    listed = [[f"{code} {name}", *_cells(rows.get(code, Row()))] for code, name in names.items()]
    return as_table(["rule", *_HEAD], [*listed, ["all", *_cells(summed or _sum(rows.values()))]])


def _sum(rows: Iterable[Row]) -> Row:
    summed = Row()
    for row in rows:
        summed.add(row)
    return summed


def tables(total: Tally) -> str:
    """Both tables and what fell out, as Markdown."""
    by_rewrite = [[name, *_cells(total.rewrites[name])] for name in sorted(total.rewrites)]
    summed = _sum(total.rewrites.values())
    told = "\n".join(f"- {text}" for text in total.faults) or "Nothing was missed, and nothing was a false alarm."
    return "\n\n".join(
        [
            f"**All rules: {summed.planted} faults, recall {summed.recall}; {summed.clean} clean trees, "
            f"{summed.alarms} false alarms.**",
            "## By rule",
            by_rule(total.rules, summed),
            "## By rewrite",
            as_table(["rewrite", *_HEAD], by_rewrite),
            "## What fell out",
            told,
        ]
    )


def _cells(row: Row) -> list[object]:
    return [row.planted, row.missed, row.recall, row.clean, row.alarms]


def stamp() -> str:
    """Date and commit of a measurement."""
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    return f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}, commit {done.stdout.strip()}"


def page(total: Tally, share: float, seed: str = "") -> str:
    cases = sum(source.about is not None for source in sources())
    size = "every source under every rewrite" if share >= 1 else f"{share:.1%} of all pairs of source and rewrite"
    size += f" (seed `{seed}`)" if seed and share < 1 else ""
    return f"""# Rewrites and faults

Measured {stamp()}: {size}. Written by `python -m tests.mutation.table --write`; do not edit by hand.

Sources are the {cases} cases of all rules, their bases, and the examples. A rewrite keeps what a file does and changes how it is
written: {len(REWRITES)} of them, from other names, imports, order and layout to helpers, closures, partials, methods, decorators,
modules, comprehensions and macros around the very place of a fault. Under every rewrite a source must have the findings it had
before: a lost one is a miss, a new one a false alarm. [What is measured](index.md) has the rest.

{tables(total)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Recall and false alarms of every rule under rewrites.")
    parser.add_argument("--all", action="store_true", help="every source under every rewrite")
    parser.add_argument("--share", type=float, default=0.02, help="the part of all pairs that is looked at")
    parser.add_argument("--seed", default="", help="a text: with another one other pairs are looked at")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--write", action="store_true", help="write docs/trust/mutation.md")
    given = parser.parse_args()
    share = 1.0 if given.all else given.share
    total = run(share, given.jobs, given.seed)
    print(tables(total))
    if given.write:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page(total, share, given.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
