"""``python -m tests.robustness.fuzz --count 20000``: try so many inputs; what fails is told so that it can be tried again."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter

from tests.robustness.fuzz.attempt import attempt
from tests.robustness.fuzz.campaign import Failure, run
from tests.robustness.fuzz.mutate import make
from tests.robustness.fuzz.targets import LANGUAGES


def main() -> int:
    options = _options()
    languages = tuple(options.language) if options.language else LANGUAGES
    if options.only is not None:
        return _again(options.seed, options.only, languages, options.write)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"seed {options.seed}: {options.count} inputs, {', '.join(languages)}, at commit {commit or 'unknown'}", flush=True)
    tried: Counter[str] = Counter()
    checked: Counter[str] = Counter()
    failures: list[Failure] = []
    slowest, largest, started = 0.0, 0, time.monotonic()
    numbers = list(range(options.start, options.start + options.count))
    for tally in run(options.seed, numbers, languages, options.jobs):
        tried += tally.tried
        checked += tally.checked
        slowest, largest = max(slowest, tally.slowest), max(largest, tally.largest)
        for failure in tally.failures:
            failures.append(failure)
            chosen = f" --language {' '.join(options.language)}" if options.language else ""
            print(f"FAILED {failure.number}: {failure.what}\n  again: python -m tests.robustness.fuzz --seed {options.seed}"
                  f"{chosen} --only {failure.number}\n{failure.detail}", flush=True)  # fmt: skip
        if options.progress:
            print(
                f"{tried.total()} tried, {len(failures)} failed, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True
            )
    for language in languages:
        print(f"{language:8} {tried[language]:6} read, {checked[language]:6} with their op")
    print(f"{tried.total()} inputs, {len(failures)} failures; slowest {slowest:.1f} s, largest {largest >> 20} MB")
    return int(bool(failures))


def _options() -> argparse.Namespace:
    made = argparse.ArgumentParser(prog="python -m tests.robustness.fuzz")
    made.add_argument("--count", type=int, default=2000)
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--start", type=int, default=0, help="number of the first input")
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    made.add_argument("--language", nargs="+", choices=LANGUAGES)
    made.add_argument("--only", type=int, metavar="NUMBER", help="this input alone, here, with everything")
    made.add_argument("--write", metavar="FILE", help="with --only: its text goes there")
    made.add_argument("--progress", action="store_true")
    return made.parse_args()


def _again(seed: int, number: int, languages: tuple[str, ...], target: str | None) -> int:
    made = make(seed, number, languages)
    print(f"{made.seed.path}: {made.made_by}, {len(made.text)} bytes", flush=True)
    if target:
        with open(target, "wb") as file:
            file.write(made.text)
    started = time.process_time()
    print(attempt(made, True), f"{time.process_time() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
