"""The files of one run as everything else sees them: read once, editor buffers first, failures on record.

What was read, looked for in vain and listed is kept (:attr:`Workspace.reads`, :attr:`Workspace.misses`,
:attr:`Workspace.listings`): a result depends on exactly these.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from cutile_lint.inputs import UNLISTED, Inputs, digest, kind_at, listing
from cutile_lint.records import dataclass
from cutile_lint.sources.source import Source

MEGABYTE = 1 << 20
#: Largest file handed to a parser, by suffix; evidence files (IR, reports) are longer by nature.
SIZE_LIMITS = {".py": 2 * MEGABYTE, ".pyi": 2 * MEGABYTE, ".rs": 2 * MEGABYTE, ".mlir": 4 * MEGABYTE, ".json": 4 * MEGABYTE}
DEFAULT_SIZE_LIMIT = 4 * MEGABYTE

_MISSING = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL}


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file that exists has no source. ``kind``: ``unreadable``, ``not-utf8``, ``nul-bytes`` or ``too-large``; of a folder
    whose files are not known: ``unlisted``."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one state of a file from the next without reading it (nanoseconds, bytes, inode)."""

    mtime: int
    size: int
    inode: int
    ctime: int = 0


def absolute(path: Path | str) -> Path:
    """``path`` absolute and without ``.`` and ``..``; symbolic links stay as they were spelled."""
    normal = os.path.abspath(path)
    return path if isinstance(path, Path) and normal == str(path) else Path(normal)


class Workspace:
    """Files by absolute path. ``overlays`` (path -> bytes) win over the disk, also for files that are not there.

    All paths that go in may be relative; all that come out are absolute and normalised (:func:`absolute`).
    """

    def __init__(self, overlays: Mapping[Path, bytes] | None = None) -> None:
        self.overlays: dict[Path, bytes] = {absolute(path): data for path, data in (overlays or {}).items()}
        #: files read, with their stamp when they were opened; None for an overlay
        self.reads: dict[Path, Stamp | None] = {}
        #: paths looked for that were not there
        self.misses: set[Path] = set()
        #: directories listed, with the names found; an empty tuple for one that cannot be listed
        self.listings: dict[Path, tuple[str, ...]] = {}
        #: files that are there but give no source
        self.problems: dict[Path, Problem] = {}
        #: files that were read, or looked for in vain, as configuration
        self.configuration: set[Path] = set()
        self._sources: dict[Path, Source | None] = {}
        self._exists: dict[Path, bool] = {}
        self._entries: dict[Path, list[Path]] = {}
        self._overlay_children: dict[Path, set[str]] = {}
        #: for the record (:meth:`inputs`): kinds of the paths looked at, folders as they were listed, hashes of texts let go
        self._kinds: dict[Path, str] = {}
        self._listed: dict[Path, str] = {}
        self._digests: dict[Path, str] = {}
        #: a file that was read twice had become another
        self._changed = False
        for path in self.overlays:
            child = path
            for parent in path.parents:
                self._overlay_children.setdefault(parent, set()).add(child.name)
                child = parent

    def overlaid(self, overlays: Mapping[Path, bytes]) -> Workspace:
        """A workspace with other overlays that keeps every source read so far as the same object, where its bytes are the same.

        What is known by :class:`Source` (a parsed tree) stays good, and the disk is not read again.
        """
        fresh = Workspace(overlays)
        for path, source in self._sources.items():
            new = fresh.overlays.get(path)
            unchanged = path not in self.overlays if new is None else source is not None and source.data == new
            if unchanged and path in self.reads and source is not None:
                fresh._sources[path] = source
                fresh.reads[path] = None if new is not None else self.reads[path]
        return fresh

    def source(self, path: Path) -> Source | None:
        """The file's text; None when there is no such file, or when :attr:`problems` says why it cannot be used."""
        if path in self._sources:
            return self._sources[path]
        normal = absolute(path)
        if normal not in self._sources:
            self._sources[normal] = self._load(normal)
        if normal != path:
            self._sources[path] = self._sources[normal]
        return self._sources[normal]

    def exists(self, path: Path) -> bool:
        """Whether a file or directory is there (a dangling link is not)."""
        path = absolute(path)
        found = self._exists.get(path)
        if found is None:
            found = path in self.overlays or path in self._overlay_children
            if not found:
                kind = self._kinds[path] = kind_at(str(path))
                found = kind != "-"
            self._exists[path] = found
            if not found:
                self.misses.add(path)
        return found

    def entries(self, directory: Path) -> list[Path]:
        """What a directory holds, sorted by name; empty when there is none or it cannot be read.

        A link that leads back to a directory on the way to it is left out, so that walking down always ends.
        """
        directory = absolute(directory)
        found = self._entries.get(directory)
        if found is None:
            found = self._entries[directory] = self._list(directory)
            self.listings[directory] = tuple(path.name for path in found)
        return found

    def inputs(self) -> Inputs:
        """Everything that was read, listed and looked for; not usable with overlays or what could not be read at all."""
        made = Inputs()
        made.usable = (
            not self.overlays
            and not self._changed
            and all(problem.kind not in ("unreadable", "unlisted") for problem in self.problems.values())
        )
        for path, stamp in self.reads.items():
            if stamp is not None:
                source = self._sources.get(path)
                content = self._digests.get(path, "") if source is None else digest(source.data)
                made.files[str(path)] = ((stamp.mtime, stamp.ctime, stamp.size, stamp.inode), content)
        made.looked = {str(path): "-" for path in self.misses} | {str(path): kind for path, kind in self._kinds.items()}
        made.folders = {str(path): listed for path, listed in self._listed.items()}
        return made

    def forget(self) -> None:
        """Let go of the texts of all files; they are read again when they are asked for again."""
        for path, source in list(self._sources.items()):
            if source is not None and path not in self.overlays:
                if path in self.reads:
                    self._digests[path] = digest(source.data)
                del self._sources[path]

    def _list(self, directory: Path) -> list[Path]:
        names: set[str] = set()
        try:
            with os.scandir(directory) as found:
                entries = list(found)
            self._listed[directory] = listing(entries)
            names = {entry.name for entry in entries if not (entry.is_symlink() and leads_back(entry.path))}
        except OSError:
            self.misses.add(directory)
            self._listed[directory] = UNLISTED
        names |= self._overlay_children.get(directory, set())
        return [directory / name for name in sorted(names)]

    def _load(self, path: Path) -> Source | None:
        data = self.overlays.get(path)
        if data is None:
            data = self._read(path)
            if data is None:
                return None
        else:
            self.reads[path] = None
        limit = size_limit(path)
        if len(data) > limit:
            self._refuse(path, "too-large", _too_large(len(data), limit))
        elif b"\0" in data:
            self._refuse(path, "nul-bytes", "the file holds NUL bytes; it is not text")
        else:
            try:
                return Source(path, data)
            except UnicodeDecodeError as error:
                row = data.count(b"\n", 0, error.start) + 1
                byte = data[error.start]
                self._refuse(path, "not-utf8", f"the file is not UTF-8: byte 0x{byte:02x} in row {row}")
        return None

    def _read(self, path: Path) -> bytes | None:
        """The bytes on disk; None, with the reason on record, when there are none to be had."""
        try:
            state = os.stat(path)  # before opening: a pipe would block there
            if not stat.S_ISREG(state.st_mode):
                if not stat.S_ISDIR(state.st_mode):
                    self._refuse(path, "unreadable", "not a regular file")
                else:
                    self.misses.add(path)
                    self._kinds[path] = "d"
                return None
            limit = size_limit(path)
            with open(path, "rb") as file:
                state = os.fstat(file.fileno())
                data = file.read(limit + 1) if state.st_size <= limit else b""
        except (OSError, ValueError) as error:
            if isinstance(error, ValueError) or error.errno in _MISSING:
                self.misses.add(path)
            else:
                self._refuse(path, "unreadable", f"the file cannot be read: {error.strerror or error}")
            return None
        if path in self._digests and self._digests[path] != digest(data):
            self._changed = True
        self.reads[path] = Stamp(state.st_mtime_ns, state.st_size, state.st_ino, state.st_ctime_ns)
        size = max(state.st_size, len(data))
        if size > limit:
            self._refuse(path, "too-large", _too_large(size, limit))
            return None
        return data

    def _refuse(self, path: Path, kind: str, message: str) -> None:
        """Put the reason on record; the path counts as read, so that a change of it is noticed."""
        self.problems[path] = Problem(kind, message)
        self.reads.setdefault(path, None)


def size_limit(path: Path) -> int:
    """Bytes up to which a file is read."""
    return SIZE_LIMITS.get(path.suffix, DEFAULT_SIZE_LIMIT)


def leads_back(link: str) -> bool:
    """Whether a link to a directory leads to a directory that lies on the link's own way, or is a loop of links."""
    if not os.path.isdir(link):
        return not os.path.exists(link) and _is_loop(link)
    target = os.path.realpath(link)
    parent = os.path.dirname(link)
    real_parent = os.path.realpath(parent)
    if target == real_parent or real_parent.startswith(target.rstrip(os.sep) + os.sep):
        return True
    while True:
        if os.path.realpath(parent) == target:
            return True
        above = os.path.dirname(parent)
        if above == parent:
            return False
        parent = above


def _is_loop(link: str) -> bool:
    try:
        os.stat(link)
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def _too_large(size: int, limit: int) -> str:
    return f"the file has {size / MEGABYTE:.1f} MB; cutile-lint reads up to {limit / MEGABYTE:.0f} MB"
