"""A command line that has spoken ends without tidying up; whoever waits for the usual end of a process still gets it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cutile_lint.engine.cases import load_base

ROOT = Path(__file__).parents[2]
USUAL_ENDS = {
    "a handler": "import atexit; atexit.register(print, 'the usual end')",
    "a profiler": "sys.setprofile(lambda frame, event, argument: None)",
    "a tracer": "sys.settrace(lambda frame, event, argument: None)",
    "a thread": "import threading as t; t.Thread(target=lambda: (t.main_thread().join(), print('the usual end'))).start()",
}
CODE = """
import os, sys, time
ended = os._exit
os._exit = lambda status: (print("at once", flush=True), ended(status))
{before}
from cutile_lint.cli.main import run
run()
"""


@pytest.fixture
def op(tmp_path: Path) -> Path:
    for path, text in load_base("row_scale").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    wrapper = next(path for path in tmp_path.rglob("*.py") if "register_impl(" in path.read_text())
    wrapper.write_text(wrapper.read_text() + "\n# cutile-lint: ignored[CTL101]\n")
    return tmp_path


def run(folder: Path, before: str, *arguments: str) -> tuple[int, list[str]]:
    """Exit status and lines of a process that does something and then is the command line."""
    command = [sys.executable, "-c", CODE.format(before=before), "--no-cache", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_status_and_the_whole_report_are_there(op: Path) -> None:
    status, lines = run(op, "", "--output-format", "concise")
    assert status == 1
    assert "CTL901" in lines[0] and lines[-2].startswith("Found 1 warning") and lines[-1] == "at once"


@pytest.mark.parametrize("who", USUAL_ENDS)
def test_whoever_waits_for_the_end_gets_it(op: Path, who: str) -> None:
    status, lines = run(op, USUAL_ENDS[who], "--output-format", "concise")
    assert status == 1
    assert "CTL901" in lines[0] and "at once" not in lines
    assert ("the usual end" in lines) == (who in ("a handler", "a thread"))


FORKED = """
import os
import time
from cutile_lint.engine.batches import check_batches
from cutile_lint.engine.run import Report
from cutile_lint.sources import Workspace


class Plan:
    covered = set()

    def __len__(self):
        return {batches} + 1

    def units(self, number):
        return []


def run(units):
    os.write(1, b"batch\\n")
    time.sleep({seconds})
    return Report(findings=["more than a pipe holds" * 10_000])


list(check_batches(Plan(), Workspace(), run, 2))
"""


SPEAKING = [
    "check op",
    "check --exit-zero op",
    "check --fix op",
    "check - ",
    "rule --all",
    "rule CTL101",
    "config",
    "--help",
    "--version",
]
NOWHERE = {"a full disk": ">/dev/full", "nothing": ">&-"}


def shell(folder: Path, script: str, buffered: bool = True) -> subprocess.CompletedProcess[str]:
    """A line for the shell in which `$lint` is the command."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "" if buffered else "1"}
    environment["lint"] = f"{sys.executable} -m cutile_lint"
    return subprocess.run(
        ["sh", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("buffered", [True, False], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("where", NOWHERE)
@pytest.mark.parametrize("words", SPEAKING)
def test_output_that_cannot_be_written_is_an_error(tmp_path: Path, words: str, where: str, buffered: bool) -> None:
    (tmp_path / "op").mkdir()
    (tmp_path / "op" / "a.py").write_text("x = 1\n")
    done = shell(tmp_path, f"$lint {words} {NOWHERE[where]}", buffered)
    why = "No space left on device" if where == "a full disk" else "Bad file descriptor"
    assert (done.returncode, done.stdout) == (2, "")
    if words != "check - ":  # says on standard error what it found
        assert done.stderr == f"cutile-lint: error: the output cannot be written: {why}\n"


def test_errors_that_nobody_hears_are_in_the_status(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    for where in ("2>/dev/full", "2>&-"):
        assert shell(tmp_path, f"$lint nowhere.py {where}").returncode == 2
        assert shell(tmp_path, f"$lint --no-such-option {where}").returncode == 2
        clean = shell(tmp_path, f"$lint a.py {where}")
        assert (clean.returncode, clean.stdout) == (0, "All checks passed.\n")
    assert shell(tmp_path, "$lint a.py <&- >&- 2>&-").returncode == 2


def test_standard_input_that_is_closed_is_an_error(tmp_path: Path) -> None:
    done = shell(tmp_path, "$lint - <&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "cutile-lint: error: standard input cannot be read: Bad file descriptor\n"


@pytest.mark.parametrize("words", ["", ".", "rule CTL101", "config", "op"])
def test_a_current_folder_that_was_removed_is_an_error(op: Path, words: str) -> None:
    words = words.replace("op", str(op))
    done = shell(op, f"mkdir gone && cd gone && rmdir ../gone && $lint {words}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "cutile-lint: error: the current folder is not there: it was removed, or may not be entered\n"


def test_a_fault_of_ours_does_not_look_like_findings(op: Path) -> None:
    before = "import cutile_lint.cli.rule as rule\ndef fails(words): raise RuntimeError('of ours')\nrule.main = fails"
    command = [sys.executable, "-c", CODE.format(before=before), "rule"]
    done = subprocess.run(
        command, cwd=op, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and done.stderr.splitlines()[-1] == "RuntimeError: of ours"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize(("batches", "seconds"), [(2, 0.3), (400, 0.05)], ids=["to send", "to check"])
def test_the_processes_of_a_killed_run_end(number: signal.Signals, batches: int, seconds: float) -> None:
    """Whether they still had answers to send or batches to check; they hold its standard output until they end."""
    command = [sys.executable, "-c", FORKED.format(batches=batches, seconds=seconds)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["batch\n"] * 2, "both are at work"
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == -number and err == ""
    assert out.count("batch") < 20
