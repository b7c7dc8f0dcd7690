"""Checking the batches of a plan one after the other, or in several processes: the same findings in the same order.

Processes are forked, so that what was found out about the files so far comes for free, and send what they found through a pipe.
They pay from some dozens of ops on. Where there is no ``fork``, one process does it all.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.engine import progress
from cutile_lint.findings import Finding
from cutile_lint.inputs import Inputs
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Problem, Workspace

if TYPE_CHECKING:
    from cutile_lint.engine.run import Report
    from cutile_lint.unit import KernelUnit, Plan

#: with fewer batches than this a second process costs more than it saves
WORTH_IT = 3
#: with more batches than this the texts of files are let go between them
LET_GO = 6
#: with more objects than this since the last collection, a process that does not collect by itself does it between two checks
PLENTY = 1_000_000


@dataclass(slots=True)
class Outcome:
    """What the check of one batch gave. ``held``: files with suppressions in it; ``covered``: its Rust files."""

    findings: list[Finding] = field(default_factory=list)
    suppressed: list[Finding] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)
    held: list[Path] = field(default_factory=list)
    covered: set[Path] = field(default_factory=set)
    #: what another process read for it, and what it could not read
    inputs: Inputs | None = None
    problems: dict[Path, Problem] = field(default_factory=dict)


def check_batches(
    plan: Plan, workspace: Workspace, run: Callable[[list[KernelUnit]], Report], jobs: int | None
) -> Iterator[Outcome]:
    """The outcomes of all batches in order. ``jobs``: number of processes; None: as many as are worth it."""
    count = len(plan) - 1
    progress.started(count + 1)
    processes = min(jobs or _processors(), max(1, count))
    with quiet_collector(freezing=len(plan) > LET_GO):
        if processes < 2 or not hasattr(os, "fork") or (jobs is None and count < WORTH_IT):
            for number in range(count):
                yield _check(plan, workspace, run, number)
        else:
            for outcome in _forked(plan, workspace, run, processes):
                plan.covered |= outcome.covered
                workspace.problems.update(outcome.problems)
                yield outcome
        yield _check(plan, workspace, run, count)


@contextmanager
def quiet_collector(freezing: bool) -> Iterator[None]:
    """No collection of cycles by the way: an op's traces are let go as a whole, and looking through them costs a fifth of a run.

    ``freezing``: what is there already stays, so no collection in between looks at it again.
    """
    was_on = gc.isenabled()
    gc.disable()
    if freezing:
        gc.freeze()
    try:
        yield
    finally:
        if freezing:
            gc.unfreeze()
        if was_on:
            gc.enable()
        elif gc.get_count()[0] > PLENTY:  # the next pass of fixing has no use for them
            gc.collect()


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _check(plan: Plan, workspace: Workspace, run: Callable[[list[KernelUnit]], Report], number: int) -> Outcome:
    from cutile_lint.engine.run import told
    from cutile_lint.errors import UserError

    outcome = Outcome()
    doing = "reading the files"
    try:
        units = plan.units(number)
        doing = "running the rules"
        report = run(units)
    except UserError:
        raise
    except Exception as error:
        from traceback import format_exception

        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        outcome.errors.append(f"internal error while {doing}: {what}")
        outcome.traces.append("".join(format_exception(error)))
        return outcome
    finally:
        progress.step()
    outcome.findings, outcome.suppressed = report.findings, report.suppressed
    outcome.errors = told(report.errors)
    outcome.traces = list(dict.fromkeys(error.traceback for error in report.errors if error.traceback))
    outcome.held = [item.source.path for item in report.suppressions]
    outcome.covered = plan.covered
    if len(plan) > LET_GO:
        from cutile_lint.unit.machine.paths import forget

        workspace.forget()
        forget()
        del units, report
        gc.collect()
        gc.freeze()  # what is left is the answer: nobody needs to look at it again
    return outcome


# ── processes ──────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Worker:
    process: int
    pipe: int
    numbers: range
    data: bytearray = field(default_factory=bytearray)


def _forked(plan: Plan, workspace: Workspace, run: Callable[[list[KernelUnit]], Report], processes: int) -> Iterator[Outcome]:
    """Every ``processes``-th batch in a process of its own. A process that dies has its batches checked here."""
    import signal

    sys.stdout.flush()
    sys.stderr.flush()
    count = len(plan) - 1
    workers: list[_Worker] = []
    parent = os.getpid()
    try:
        for first in range(processes):
            numbers = range(first, count, processes)
            reading, writing = os.pipe()
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # an interrupt must find every process on the list
            process = os.fork()
            if process == 0:
                for pipe in (reading, *(worker.pipe for worker in workers)):
                    os.close(pipe)  # with no reader left, what is sent to a parent that is gone fails and does not wait
                _work(plan, workspace, run, numbers, writing, parent)
            workers.append(_Worker(process, reading, numbers))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            os.close(writing)
        _collect(workers)
    finally:
        for worker in workers:
            _end(worker)
    import pickle

    outcomes: dict[int, Outcome] = {}
    for worker in workers:
        try:
            outcomes.update(pickle.loads(worker.data))
        except Exception:
            outcomes.update((number, _check(plan, workspace, run, number)) for number in worker.numbers)
    for number in range(count):
        yield outcomes[number]


def _work(
    plan: Plan, workspace: Workspace, run: Callable[[list[KernelUnit]], Report], numbers: range, pipe: int, parent: int
) -> None:
    """The life of a forked process: it never returns. It ends, without a word, when the process that wants its answer has."""
    import pickle
    import signal

    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it at once, without a word: the parent speaks
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        outcomes: dict[int, Outcome] = {}
        for number in numbers:
            if os.getppid() != parent:
                return
            outcomes[number] = _check(plan, workspace, run, number)
        if outcomes:
            from cutile_lint.inputs import loaded_modules

            last = outcomes[numbers[-1]]
            last.inputs, last.problems = workspace.inputs(), workspace.problems
            loaded_modules(last.inputs)
        with os.fdopen(pipe, "wb") as file:
            pickle.dump(outcomes, file, pickle.HIGHEST_PROTOCOL)
        status = 0
    finally:
        os._exit(status)


def _collect(workers: list[_Worker]) -> None:
    """Read what all processes send, until they close their ends."""
    from select import select

    open_pipes = {worker.pipe: worker for worker in workers}
    while open_pipes:
        waiting = 0.1 if progress.current is not None else None
        ready = select(list(open_pipes), [], [], waiting)[0]
        if progress.current is not None:
            progress.current.tell()
        for pipe in ready:
            data = os.read(pipe, 1 << 20)
            if data:
                open_pipes[pipe].data += data
            else:
                del open_pipes[pipe]


def _end(worker: _Worker) -> None:
    """Take leave of a process; one that still works is ended."""
    import signal

    os.close(worker.pipe)
    try:
        done, _ = os.waitpid(worker.process, os.WNOHANG)
        if not done:
            os.kill(worker.process, signal.SIGTERM)
            os.waitpid(worker.process, 0)
    except (ChildProcessError, ProcessLookupError):
        pass
