"""What only happens for somebody who sits there: the progress bar, and ``--watch``."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Lint = Callable[..., "Result"]  # noqa: F821 - conftest's
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}


def on_terminal(cwd: Path, code: str, *arguments: str) -> tuple[str, str]:
    """Standard output, and what a terminal on standard error got."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, cwd=cwd, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=follower, text=True) as process:
        os.close(follower)
        seen = bytearray()

        def read() -> None:
            try:
                while data := os.read(leader, 1 << 16):
                    seen.extend(data)
            except OSError:
                pass  # the other end is closed

        reader = threading.Thread(target=read)
        reader.start()
        assert process.stdout is not None
        out = process.stdout.read()
        process.wait(60)
        reader.join(10)
    os.close(leader)
    return out, seen.decode()


@pytest.fixture
def op(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return Path(shutil.copytree(ROOT / "rules" / "bases" / "row_scale", tmp_path / "ops"))


RUN = (
    "import sys; import cutile_lint.reports.bar as bar; bar.PATIENCE = {patience};"
    "from cutile_lint.cli.main import main; sys.exit(main(sys.argv[1:]))"
)


def test_a_long_run_shows_how_far_it_is_and_leaves_no_trace(op: Path) -> None:
    out, seen = on_terminal(op, RUN.format(patience=0), "--no-cache", ".")
    assert out == "All checks passed.\n"
    assert "ops" in seen and "checking [" in seen and seen.endswith("\r\x1b[K")


def test_a_short_run_shows_nothing(op: Path) -> None:
    assert on_terminal(op, RUN.format(patience=1000), "--no-cache", ".") == ("All checks passed.\n", "")


def test_no_bar_where_nobody_looks(op: Path) -> None:
    command = [sys.executable, "-c", RUN.format(patience=0), "--no-cache", "."]
    done = subprocess.run(command, cwd=op, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "All checks passed.\n", "")


def test_watch_checks_again_after_a_change_and_ends_with_the_last_status(op: Path) -> None:
    command = [sys.executable, "-m", "cutile_lint.cli.main", "--watch", "--output-format", "concise", "row_scale.py"]
    wrapper = op / "row_scale.py"
    clean = wrapper.read_text()
    with subprocess.Popen(
        command, cwd=op, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        killer = threading.Timer(100, process.kill)
        killer.start()

        def lines() -> list[str]:
            got = []
            for line in process.stdout or ():
                got.append(line)
                if line.startswith("Waiting"):
                    return got
            raise AssertionError(got)

        assert lines()[0] == "All checks passed.\n"
        wrapper.write_text(clean.replace("y = torch.empty_like(x)\n", "y = torch.zeros_like(x)\n"))
        # the system may tell of the change before the watch has begun to listen: touch until it is heard
        toucher = threading.Event()

        def touch() -> None:
            while not toucher.wait(2):
                os.utime(wrapper)

        thread = threading.Thread(target=touch)
        thread.start()
        try:
            assert "[CTL101]" in lines()[0]
        finally:
            toucher.set()
            thread.join()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        killer.cancel()
    assert process.returncode == 1


def test_watch_without_its_package_or_with_standard_input_is_told(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "do not go together" in lint("--watch", "-").err
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    result = lint("--watch", ".")
    assert result.status == 2 and "--watch needs the package watchfiles: pip install 'cutile-lint[watch]'" in result.err
