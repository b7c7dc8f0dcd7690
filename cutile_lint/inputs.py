"""What an answer depends on: the states of the files read, the folders listed and the paths looked for.

Recorded while a run reads (:class:`Inputs`), written as bytes beside its answer, and compared with the disk before the answer
is given again (:func:`compare`). A state is compared by its stamp first, and by content where the stamp does not tell.

Imports nothing that costs: a run that is answered from the cache goes through here.
"""

from __future__ import annotations

import os
import stat
import sys
from time import time_ns

try:
    from _blake2 import blake2b  # `hashlib` brings all of OpenSSL
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: a state younger than this (ns) at the time it was recorded may change without a new stamp: FAT counts in steps of 2 s
UNSURE = 2_000_000_000
#: the folder of the cache never counts as a change of the folder around it
CACHE_FOLDER = ".cutile_lint_cache"
_HIDDEN_NAMES = (".git", ".gitignore")
_HIDDEN_ENDS = (".py", ".pyi", ".rs", ".mlir", ".json", ".toml")
#: listing of a folder that cannot be listed
UNLISTED = "!"

#: (mtime ns, ctime ns, size, inode): all of it changes when a file is replaced, and ctime whatever else is set back
Stamp = tuple[int, int, int, int]


def stamp_of(state: os.stat_result) -> Stamp:
    return (state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)


def digest(data: bytes) -> str:
    """A content hash (hex)."""
    return blake2b(data, digest_size=16).hexdigest()


def listing(entries: Iterable[os.DirEntry[str]]) -> str:
    """What a folder holds as far as it can matter to a run: names with their kinds, and where links lead."""
    names = []
    for entry in entries:
        name = entry.name
        if name[0] == "." and name not in _HIDDEN_NAMES and not name.endswith(_HIDDEN_ENDS):
            continue
        if name == "__pycache__":
            continue
        try:
            if entry.is_symlink():
                target = os.path.realpath(entry.path)
                kind = "d" if os.path.isdir(target) else "f" if os.path.isfile(target) else "-"
                names.append(f"{name}\1l{kind}{target}")
                continue
            kind = "d" if entry.is_dir() else "f" if entry.is_file() else "o"
        except OSError:
            kind = "?"
        names.append(f"{name}\1{kind}")
    return "\2".join(sorted(names))


def list_folder(folder: str | bytes) -> str:
    """:func:`listing` of a folder on disk; :data:`UNLISTED` when it cannot be listed."""
    try:
        with os.scandir(os.fsdecode(folder)) as entries:
            return listing(entries)
    except OSError:
        return UNLISTED


class Inputs:
    """A record of what was read. ``usable`` is False when something can't be recorded (then nothing may be kept)."""

    def __init__(self) -> None:
        self.usable = True
        #: when recording began: states younger than that are never sure
        self.since = time_ns()
        #: path -> stamp taken before reading, hash of what was read ("" when the content was not kept)
        self.files: dict[str, tuple[Stamp, str]] = {}
        #: path -> what was listed
        self.folders: dict[str, str] = {}
        #: path -> what was there: "d" a folder, "f" something else, "-" nothing
        self.looked: dict[str, str] = {}

    def add_file(self, path: str, content: str = "") -> None:
        """A file read some other way, by its stamp now."""
        try:
            self.files[path] = (stamp_of(os.stat(path)), content)
        except OSError:
            self.looked[path] = "-"

    def add_code(self, root: str) -> None:
        """The modules and rule files below a folder."""
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name not in ("__pycache__", "bases") and name[0] != "."]
            self.folders.setdefault(folder, list_folder(folder))
            for name in names:
                if name.endswith((".py", ".yaml")) or name == "_rules_index.json":
                    self.add_file(os.path.join(folder, name))

    def look(self, path: str) -> str:
        """Record what is at a path."""
        kind = self.looked[path] = kind_at(path)
        return kind

    def merge(self, other: Inputs) -> None:
        self.usable = self.usable and other.usable
        self.since = min(self.since, other.since)
        self.files.update(other.files)
        self.folders.update(other.folders)
        self.looked.update(other.looked)

    def pack(self, clock_now: int, own: str = "") -> bytes | None:
        """The record as bytes; None when a folder changed meanwhile, or the record is not usable.

        ``clock_now``: the file system's idea of the time now (ns); ``own``: a folder that we made ourselves meanwhile.
        """
        if not self.usable:
            return None
        sure = min(self.since, clock_now - (time_ns() - self.since)) - UNSURE
        rows: list[bytes] = []
        if any("\0" in path for paths in (self.files, self.folders, self.looked) for path in paths):
            return None
        for path, (mark, content) in self.files.items():
            rows.append(_row("F", path, mark, max(mark[:2]) >= sure, content))
        for path, content in self.folders.items():
            try:
                state = os.stat(path)
            except OSError:
                self.looked[path] = "-"
                continue
            now = list_folder(path)  # again, behind the stamp: nothing may slip in between
            if now != content:
                if not own.startswith(path + os.sep) or _without(now, own[len(path) + 1 :].split(os.sep)[0]) != content:
                    return None
                content = now
            rows.append(_row("D", path, stamp_of(state), _unsure_folder(state, content, sure), content))
        for path, kind in self.looked.items():
            if path in self.folders or path in self.files:
                continue
            folder, name = os.path.split(path)
            if folder in self.folders and _matters(name):
                continue  # the listing says it
            rows.append(_row("L", path, (0, 0, 0, 0), False, kind))
        return b"\0".join(rows)


def _without(content: str, name: str) -> str:
    return "\2".join(part for part in content.split("\2") if not part.startswith(f"{name}\1"))


def kind_at(path: str | bytes) -> str:
    try:
        return "d" if stat.S_ISDIR(os.stat(path).st_mode) else "f"
    except (OSError, ValueError):
        return "-"


def _matters(name: str) -> bool:
    return name != "__pycache__" and (name[:1] != "." or name in _HIDDEN_NAMES or name.endswith(_HIDDEN_ENDS))


def _unsure_folder(state: os.stat_result, content: str, sure: int) -> bool:
    """Links lead to what may change without the folder's stamp."""
    return "\1l" in content or max(state.st_mtime_ns, state.st_ctime_ns) >= sure


def _row(kind: str, path: str, mark: Stamp, unsure: bool, content: str) -> bytes:
    numbers = ",".join(map(str, mark))
    return b"\0".join([kind.encode(), os.fsencode(path), numbers.encode(), b"?" if unsure else b"", os.fsencode(content)])


def compare(packed: bytes, clock_now: int) -> tuple[bool, bytes | None]:
    """Whether everything is as recorded, and the record with the stamps of today if some had to be looked at closely."""
    fields = packed.split(b"\0")
    moved = False
    state = os.stat
    sure = clock_now - UNSURE
    for at in range(0, len(fields), 5):
        kind, path, numbers, unsure, content = fields[at : at + 5]
        if kind == b"L":
            if kind_at(path).encode() != content:
                return False, None
            continue
        try:
            now = state(path)
        except OSError:
            return False, None
        mark = b"%d,%d,%d,%d" % (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino)
        if mark == numbers and not unsure:
            continue
        if kind == b"D":
            if os.fsencode(list_folder(path)) != content:
                return False, None
            fresh = _unsure_folder(now, os.fsdecode(content), sure)
        else:
            if not content or not _same_content(path, now.st_size, content):
                return False, None
            fresh = max(now.st_mtime_ns, now.st_ctime_ns) >= sure
        if mark != numbers or not fresh:
            fields[at + 2], fields[at + 3] = mark, b"?" if fresh else b""
            moved = True
    return True, b"\0".join(fields) if moved else None


def _same_content(path: bytes, size: int, content: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            data = file.read(size + 1)
    except OSError:
        return False
    return len(data) == size and digest(data).encode() == content


def loaded_modules(inputs: Inputs) -> None:
    """Record the files of every module imported from outside the standard library: what they say went into the answer."""
    standard = os.path.dirname(os.__file__) + os.sep
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and (not path.startswith(standard) or "site-packages" in path):
            if path not in inputs.files:
                inputs.add_file(os.path.abspath(path))
