"""Files that were ``ruff format``-clean stay so.

A clean file is one that formatting leaves as it is; so formatting the whole of it after an edit changes nothing but
what the edit touched, and takes one run of ruff where ``--range`` takes one for each edited range.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path


def restyle(path: Path, before: bytes, after: bytes) -> bytes:
    """``after``, formatted under the file's own settings if ``before`` was clean; unchanged without ruff or when ruff fails."""
    if path.suffix != ".py" or before == after or _format(path, before) != before:
        return after
    formatted = _format(path, after)
    return after if formatted is None else formatted


def _format(path: Path, data: bytes) -> bytes | None:
    """What ``ruff format`` makes of the text under the settings that hold for ``path``; None when it cannot say."""
    ruff = _ruff()
    if ruff is None:
        return None
    command = [ruff, "format", "--quiet", "--no-cache", "--stdin-filename", str(path), "-"]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return done.stdout if done.returncode == 0 else None


@lru_cache(maxsize=1)
def _ruff() -> str | None:
    """The project's ruff on the search path, else the one installed beside this Python; never one in the current folder."""
    found = shutil.which("ruff")
    if found and os.path.isabs(found) and os.path.dirname(found) != os.getcwd():
        return found
    beside = shutil.which("ruff", path=os.path.dirname(sys.executable))
    if beside:
        return beside
    try:
        from ruff.__main__ import find_ruff_bin  # pyright: ignore[reportMissingImports]

        return os.fspath(find_ruff_bin())
    except (ImportError, FileNotFoundError):
        return None
