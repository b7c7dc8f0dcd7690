"""A command line that has spoken ends without tidying up; whoever waits for the usual end of a process still gets it."""

from __future__ import annotations

import os
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
    "a thread": "import threading; threading.Thread(target=lambda: (time.sleep(1), print('the usual end'))).start()",
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
