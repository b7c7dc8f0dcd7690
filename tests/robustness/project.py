"""Ops on disk, and the program as a user runs it, on a short leash."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from cutile_lint.engine.cases import load_base
from cutile_lint.records import dataclass

PROGRAM = str(Path(sys.executable).with_name("cutile-lint"))
#: what no run may need: seconds of processor time and bytes of memory (a machine's worth beyond the 2 s and 500 MB of a file)
_SECONDS, _BYTES = 30, 1 << 30


@dataclass(slots=True)
class Project:
    root: Path

    def lint(
        self, *arguments: str, leash: Callable[[], None] | None = None, prefix: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run it; no traceback, no internal error."""
        command = [*prefix, PROGRAM, *arguments]
        done = subprocess.run(
            command, cwd=self.root, capture_output=True, text=True, errors="replace", timeout=300, preexec_fn=leash or short_leash
        )
        assert "Traceback" not in done.stderr and "internal error" not in done.stderr, done.stderr[-3000:]
        assert done.returncode in (0, 1, 2), (done.returncode, done.stderr[-2000:])
        return done

    def named(self, name: str) -> Path:
        return next(path for path in sorted(self.root.rglob(name)))


def make_project(folder: Path, fault: bool = True) -> Project:
    project = Project(folder)
    for path, text in load_base("row_scale").items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text.replace("torch.empty_like(x)", "torch.zeros_like(x)") if fault else text)
    (folder / ".git").mkdir()
    return project


def short_leash() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))


def tight_leash() -> None:
    """For one file that was made large: some times the 2 s and 500 MB that it may need."""
    resource.setrlimit(resource.RLIMIT_CPU, (8, 8))
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))


def small_files() -> None:
    """No file may grow beyond 1 KB: a write fails in the middle, as on a full disk."""
    short_leash()
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))


def can_mount() -> bool:
    """Whether a mount of one's own is possible here."""
    try:
        done = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", os.path.realpath("/tmp")], capture_output=True)
    except OSError:
        return False
    return done.returncode == 0
