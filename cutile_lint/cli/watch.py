"""``--watch``: check again whenever a file that can matter changes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cutile_lint.errors import UserError
from cutile_lint.sources.discovery import is_candidate, repository_root
from cutile_lint.sources.workspace import absolute

_SETTINGS = ("pyproject.toml", "cutile-lint.toml")


def watch(paths: Sequence[str], check: Callable[[], int]) -> int:
    """Run ``check`` now and after each change below the repository (or PATHS, outside of one); Ctrl-C ends with its last status."""
    try:
        from watchfiles import watch as changes  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        raise UserError("--watch needs the package watchfiles: pip install 'cutile-lint[watch]'") from None
    folders = _folders(paths)
    gc.enable()
    status = _once(check)
    try:
        _waiting()
        for _ in changes(*folders, watch_filter=_matters, debounce=100, step=50, raise_interrupt=False):
            if sys.stdout.isatty():
                sys.stdout.write("\x1b[2J\x1b[H")
            status = _once(check)
            _waiting()  # an interrupt from here on ends with the status just found
    except KeyboardInterrupt:
        pass
    return status


def _once(check: Callable[[], int]) -> int:
    try:
        status = check()
    except UserError as error:
        from cutile_lint.reports.text import clean

        print(f"cutile-lint: error: {clean(str(error))}", file=sys.stderr)
        status = 2
    sys.stdout.flush()
    return status


def _waiting() -> None:
    print("Waiting for changes; Ctrl-C ends.", file=sys.stderr, flush=True)


def _folders(paths: Sequence[str]) -> list[Path]:
    given = [absolute(path) for path in paths or ["."]]
    missing = [path for path in given if not path.exists()]
    if missing:
        raise UserError(f"{missing[0]}: no such file or directory")
    folders = [path if path.is_dir() else path.parent for path in given]
    return list(dict.fromkeys(repository_root(folder) or folder for folder in folders))


def _matters(change: object, path: str) -> bool:
    name = path.replace("\\", "/").rpartition("/")[2]
    hidden = any(part in path for part in ("/.git/", "/.cutile_lint_cache/", "/target/", "/node_modules/"))
    return not hidden and (is_candidate(name) or name in _SETTINGS or path.endswith((".yaml", ".json")))
