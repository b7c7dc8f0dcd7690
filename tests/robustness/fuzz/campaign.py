"""Many inputs, in processes that may die: each input's end is known by its number."""

from __future__ import annotations

import faulthandler
import gc
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator

from cutile_lint.records import dataclass, field
from tests.robustness.fuzz.attempt import BYTES, Fault, attempt, prepare
from tests.robustness.fuzz.mutate import make

#: seconds of processor time after which an input is a hang, and its process is ended
HANG = 20
#: bytes that a process may have besides those it starts with
_ROOM = 3 << 30
#: inputs for one process
BLOCK = 200


@dataclass(slots=True)
class Failure:
    """``number``: of the input; ``detail``: a traceback, or where the process stood."""

    number: int
    what: str
    detail: str


@dataclass(slots=True)
class Tally:
    """What came of the inputs."""

    tried: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    slowest: float = 0.0
    largest: int = 0


def run(seed: int, numbers: list[int], languages: tuple[str, ...], jobs: int) -> Iterator[Tally]:
    """Try the inputs of ``numbers``; yields the tally of each block when it is done."""
    prepare()  # what all of them need is read once, before they are forked
    gc.freeze()
    blocks = [numbers[start : start + BLOCK] for start in range(0, len(numbers), BLOCK)]
    running: dict[int, tuple[list[int], str]] = {}
    while blocks or running:
        while blocks and len(running) < jobs:
            block = blocks.pop(0)
            handle, log = tempfile.mkstemp(prefix="cutile-lint-fuzz-")
            os.close(handle)
            running[_start(seed, block, languages, log)] = (block, log)
        process, status = os.wait()
        block, log = running.pop(process)
        tally, rest = _read(block, log, status, languages)
        os.unlink(log)
        if rest:
            blocks.insert(0, rest)
        yield tally


def _start(seed: int, block: list[int], languages: tuple[str, ...], log: str) -> int:
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        with open(log, "w", encoding="utf-8", errors="backslashreplace") as out:
            _work(seed, block, languages, out)
        status = 0
    finally:
        os._exit(status)


def _work(seed, block, languages, out) -> None:
    gc.set_threshold(50_000, 20, 50)  # as the program sets it
    faulthandler.enable(out)
    faulthandler.register(signal.SIGPROF, out, chain=True)
    size = _rss("VmSize:")
    resource.setrlimit(resource.RLIMIT_AS, (size + _ROOM, size + _ROOM))
    for number in block:
        made = make(seed, number, languages)
        print("\x1e", number, "start", file=out, flush=True)
        before = _reset_peak()
        started = _cpu()
        signal.setitimer(signal.ITIMER_PROF, HANG)
        try:
            told = attempt(made)
            grown = _rss("VmHWM:") - before
            if grown > BYTES:
                raise Fault(f"it took {grown >> 20} MB")
        except BaseException as error:
            told = f"failed {type(error).__name__}: {str(error)[:300]!r} | {made.made_by}"
            print(made.seed.path.name, traceback.format_exc()[-2500:], file=out)
            grown = 0
        signal.setitimer(signal.ITIMER_PROF, 0)
        print("\x1e", number, f"end {_cpu() - started:.2f} {grown} {told}", file=out, flush=True)


def _read(block: list[int], log: str, status: int, languages: tuple[str, ...]) -> tuple[Tally, list[int]]:
    """What a process wrote down, and the inputs that it did not come to."""
    tally = Tally()
    with open(log, encoding="utf-8", errors="backslashreplace") as file:
        records = file.read().split("\x1e ")[1:]
    current, detail, ended = -1, "", True
    for record in records:
        head, _, below = record.partition("\n")
        number, kind, *rest = head.split(" ", 4)
        if kind == "start":
            current, detail, ended = int(number), below, False
            tally.tried[languages[current % len(languages)]] += 1
            continue
        ended = True
        seconds, grown, told = float(rest[0]), int(rest[1]), rest[2]
        tally.slowest, tally.largest = max(tally.slowest, seconds), max(tally.largest, grown)
        if told.startswith("failed "):
            tally.failures.append(Failure(current, told[7:], detail))
        elif told == "check":
            tally.checked[languages[current % len(languages)]] += 1
    if not ended:
        sign = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        what = "a hang" if sign == signal.SIGPROF else f"the process died (signal {sign}, status {status})"
        tally.failures.append(Failure(current, what, detail))
    if current == -1 and status:
        tally.failures.append(Failure(block[0], f"no input was tried: status {status}", ""))
        return tally, []
    return tally, block[block.index(current) + 1 :] if current in block and not (ended and status == 0) else []


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _rss(key: str) -> int:
    """A size of this process, in bytes; 0 where the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith(key))
    except (OSError, StopIteration):
        return 0


def _reset_peak() -> int:
    """Start to measure the peak anew; the memory in use now."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return _rss("VmHWM:")
    return _rss("VmRSS:")
