"""Writing a file so that it is the old text or the new one, whole, whatever happens in between."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

#: of the file that a text is written to before it takes its place
_SUFFIX = ".cutile-lint"
#: seconds; a write takes some milliseconds
_LEFT_AFTER = 60


class ChangedMeanwhile(OSError):
    """The file on disk is no longer what was read: somebody else wrote it."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"`{path}` changed on disk while it was being fixed; left alone")


def leads_out(path: Path | str, folder: Path | str) -> bool:
    """Whether a path, its links followed, lies outside of a folder."""
    root = os.path.realpath(folder)
    target = os.path.realpath(path)
    return target != root and not target.startswith(root.rstrip(os.sep) + os.sep)


def read_only(path: Path) -> str:
    """Why a file may not be written; nothing when it may."""
    return "the file is read-only" if os.path.exists(path) and not os.access(path, os.W_OK) else ""


def write_atomically(path: Path, data: bytes, expected: bytes | None = None) -> None:
    """Replace the file's content by ``data``; a link's target is written, the link stays; the mode is kept.

    With ``expected``, raises :class:`ChangedMeanwhile` when the content on disk is not that. Raises OSError otherwise.
    """
    target = os.path.realpath(path)
    state = os.stat(target)
    if expected is not None:
        with open(target, "rb") as file:
            if file.read() != expected:
                raise ChangedMeanwhile(path)
    if reason := read_only(path):
        raise PermissionError(13, reason, str(path))
    folder, name = os.path.split(target)
    import tempfile  # only who writes needs it

    lead = f".{name[:100]}."
    _remove_left_behind(folder, lead)
    handle, temporary = tempfile.mkstemp(prefix=f"{lead}{os.getpid()}-", suffix=_SUFFIX, dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _keep_owner_and_mode(temporary, state)
        os.replace(temporary, target)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise
    _sync_folder(folder)


def _remove_left_behind(folder: str, lead: str) -> None:
    """What a run that was killed left of an earlier write of the file: made by us, of a process that is gone, a minute old."""
    for entry in os.scandir(folder):
        process = entry.name[len(lead) : -len(_SUFFIX)].partition("-")[0]
        if (
            not entry.name.startswith(lead)
            or not entry.name.endswith(_SUFFIX)
            or not process.isdecimal()
            or is_alive(int(process))
        ):
            continue
        try:
            state = entry.stat(follow_symlinks=False)
            own = not hasattr(os, "getuid") or state.st_uid == os.getuid()
            if stat.S_ISREG(state.st_mode) and own and time.time() - state.st_mtime > _LEFT_AFTER:
                os.unlink(entry.path)
        except OSError:
            pass  # somebody else was faster, or may not be helped


def is_alive(process: int) -> bool:
    """Whether a process has this number, as far as can be told."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # it is there and not ours, or that cannot be told
    return True


def _keep_owner_and_mode(path: str, state: os.stat_result) -> None:
    if hasattr(os, "chown"):
        own = os.stat(path)
        if (own.st_uid, own.st_gid) != (state.st_uid, state.st_gid):
            try:
                os.chown(path, state.st_uid, state.st_gid)
            except OSError:
                pass  # not ours to give away: the mode still holds
    os.chmod(path, stat.S_IMODE(state.st_mode))


def _sync_folder(folder: str) -> None:
    """Make the rename itself durable where folders can be synced."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
