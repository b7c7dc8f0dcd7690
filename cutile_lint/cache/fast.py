"""The short way: a command line that was answered before is answered again when nothing has changed.

Anything unusual is left to the long way, which says the same. Nothing may be imported here that is not needed for that: a run
with nothing to do takes little longer than starting Python.
"""

from __future__ import annotations

import os
import sys
from time import time_ns

from cutile_lint.cache.entries import default_folder, key_of, read, write
from cutile_lint.inputs import compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: options with which nothing is looked up
_LONG_WAY = ("--fix", "--diff", "--no-cache", "--help", "--version", "--stdin-filename", "--output-file")
#: options whose value stands behind them
_VALUED = frozenset(
    [
        "--select",
        "--ignore",
        "--extend-select",
        "--output-format",
        "--min-level",
        "--color",
        "--config",
        "--cache-dir",
        "--baseline",
        "-j",
        "--jobs",
    ]
)
_ENVIRONMENT = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS")
CONFIGURATIONS = ("cutile-lint.toml", "pyproject.toml")


def answer(arguments: Sequence[str]) -> int | None:
    """Print what was said before and give its exit status; None when that is not known, or no longer true."""
    folder = cache_folder(arguments)
    if folder is None:
        return None
    said = read(folder, said_key(arguments), ".said", 4)
    if said is None:
        return None
    found_key, token, status, texts = said
    found = read(folder, found_key, ".found", 3)
    if found is None or found[0] != token:
        return None
    try:
        same, fresh = compare(found[1], time_ns())
    except (ValueError, OSError):
        return None
    if not same:
        return None
    if fresh is not None:
        write(folder, found_key, ".found", token, fresh, found[2])
    parts = texts.decode("utf-8", "surrogatepass").split("\0")
    for stream, text in zip(parts[::2], parts[1::2], strict=False):
        (sys.stderr if stream == "err" else sys.stdout).write(text)
        if stream == "err":
            sys.stderr.flush()
    return int(status)


def said_key(arguments: Sequence[str]) -> bytes:
    """The command line, and what decides how its answer looks."""
    looks = [os.environ.get(name, "\1") for name in _ENVIRONMENT]
    for stream in (sys.stdout, sys.stderr):
        size = ""
        if stream.isatty():
            try:
                size = str(os.get_terminal_size(stream.fileno()).columns)
            except (OSError, ValueError, AttributeError):
                size = "?"
        looks.append(size)
    return key_of(["said", os.getcwd(), *looks, *arguments])


def cache_folder(arguments: Sequence[str]) -> str | None:
    """The folder that the command line's answer would be in; None when only the long way can tell."""
    first, given, behind = "", "", ""
    for word in arguments:
        if behind:
            given = word if behind == "--cache-dir" else given
            behind = ""
        elif word.startswith(_LONG_WAY) if word[:2] == "--" else word == "-" or word.startswith("-h"):
            return None
        elif word in _VALUED:
            behind = word
        elif word.startswith("--cache-dir="):
            given = word[len("--cache-dir=") :]
        elif word[:1] != "-" and not first:
            first = word
    if given:
        return os.path.abspath(given)
    start = os.path.abspath(first or ".")
    start = start if os.path.isdir(start) else os.path.dirname(start)
    configured = _configured(start)
    if configured == "":
        return default_folder(start)
    return configured


def _configured(start: str) -> str | None:
    """``cache-dir`` of the nearest configuration, when it is as plain as it mostly is; "": there is none; None: cannot tell.

    A wrong guess costs a miss: what an entry rests on is checked wherever it was found.
    """
    folder = start
    while True:
        for name in CONFIGURATIONS:
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    data = file.read()
            except OSError:
                continue
            if name == CONFIGURATIONS[0] or b"tool.cutile-lint" in data:
                return _plain_value(data, folder)
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def _plain_value(data: bytes, folder: str) -> str | None:
    if b"cache-dir" not in data:
        return "" if b"extend" not in data.replace(b"extend-", b"") else None
    for line in data.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition("=")
        value = value.strip()
        if name.strip() == "cache-dir" and len(value) > 2 and value[0] == value[-1] and value[0] in "\"'" and "\\" not in value:
            return os.path.abspath(os.path.join(folder, os.path.expanduser(value[1:-1])))
    return None
