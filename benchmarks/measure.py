"""Running commands and measuring whole processes: wall time, processor time of the process and its children, peak memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Command:
    """One thing to measure. ``before`` runs before each measurement and is not counted."""

    name: str
    arguments: Sequence[str | Path]
    cwd: Path = ROOT
    before: Callable[[], None] = lambda: None
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    #: megabytes, of the largest single process
    memory: float = 0.0

    def run(self, record: bool = True) -> None:
        self.before()
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in self.arguments],
            cwd=self.cwd,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        told = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        elapsed = time.perf_counter() - start
        if process.returncode not in (0, 1):
            raise SystemExit(f"{self.name}: exit status {process.returncode}\n{told.decode(errors='replace')}")
        if record:
            self.wall.append(elapsed)
            self.cpu.append(usage.ru_utime + usage.ru_stime)
            self.memory = max(self.memory, usage.ru_maxrss / 1024)

    def median(self, by: str) -> float:
        return statistics.median(self.wall if by == "wall" else self.cpu)


def environment() -> Mapping[str, str]:
    """That of a user: compiled modules are kept, nothing else of ours is in the way."""
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONDONTWRITEBYTECODE", "FORCE_COLOR")}
    return {**kept, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


def measure(commands: Sequence[Command], rounds: int) -> None:
    """Measure all commands in turn, so that what else the machine does falls on all of them alike."""
    for number in range(rounds):
        for command in commands:
            command.run()
        print(f"  round {number + 1} of {rounds}", file=sys.stderr)


def ours(*arguments: str | Path, python: str = sys.executable) -> list[str | Path]:
    """Our command line as the console script starts it."""
    return [python, ROOT / "benchmarks" / "cutile_lint_script.py", *arguments]
