"""Files of the cache: named by a key, written whole or not at all, and believed only under this user's seal.

A checked tree may bring a cache folder of its own (a commit can hold one). What it says is a miss: entries are sealed with a
secret that lies in the user's own cache folder, where no tree can put one.
"""

from __future__ import annotations

import os
import sys
from zlib import adler32, crc32

from cutile_lint import __version__
from cutile_lint.inputs import CACHE_FOLDER, blake2b

#: raise when the shape of an entry changes
FORMAT = 2
_MAGIC = b"cutile-lint cache\n"
#: more entries than this are not kept; the oldest half goes
MAX_ENTRIES = 200
SUFFIXES = (".found", ".said")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def key_of(parts: Iterable[str]) -> bytes:
    """A key from its parts and from what every answer depends on."""
    every = (
        str(FORMAT),
        __version__,
        sys.version,
        sys.prefix,
        os.path.dirname(__file__),
        os.environ.get("HOME", ""),
        *sys.path,
        *parts,
    )
    return "\0".join(every).encode("utf-8", "surrogatepass")


def name_of(key: bytes) -> str:
    return f"{crc32(key):08x}{adler32(key):08x}"


def secret() -> bytes | None:
    """The user's secret, made when it is not there; None when it has no place (then nothing is kept)."""
    path = os.path.join(_user_folder(), "key")
    try:
        with open(path, "rb") as file:
            found = file.read(64)
    except FileNotFoundError:
        found = _made(path)
    except OSError:
        return None
    return found if len(found) >= 32 else None


def _user_folder() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else "")
    return os.path.join(base or os.path.join(os.path.expanduser("~"), ".cache"), "cutile-lint")


def _made(path: str) -> bytes:
    """A new secret on disk; that of another run which was faster; or nothing."""
    fresh = os.urandom(32)
    scratch = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(fresh)
        if os.path.exists(path):
            os.unlink(scratch)
        else:
            os.replace(scratch, path)
        with open(path, "rb") as file:
            return file.read(64)
    except OSError:
        return b""


def pack(seal: bytes, *sections: bytes) -> bytes:
    body = b"".join(sections)
    lengths = b" ".join(b"%d" % len(section) for section in sections)
    return _MAGIC + b"%s %s\n" % (_sealed(seal, lengths, body), lengths) + body


def _sealed(seal: bytes, lengths: bytes, body: bytes) -> bytes:
    made = blake2b(lengths + b"\n", key=seal, digest_size=32)
    made.update(body)
    return made.hexdigest().encode()


def unpack(seal: bytes, data: bytes, count: int) -> list[bytes] | None:
    """The sections of an entry; None when it is broken, or not sealed by us."""
    end = data.find(b"\n", len(_MAGIC))
    if not data.startswith(_MAGIC) or end == -1:
        return None
    try:
        check, *words = data[len(_MAGIC) : end].split(b" ")
        lengths = [int(word) for word in words]
        body = data[end + 1 :]
        if len(lengths) != count or sum(lengths) != len(body) or check != _sealed(seal, b" ".join(words), body):
            return None
    except ValueError:
        return None
    sections, at = [], 0
    for length in lengths:
        sections.append(body[at : at + length])
        at += length
    return sections


def read(folder: str, key: bytes, suffix: str, count: int) -> list[bytes] | None:
    """The sections behind the key of an entry; None for a miss."""
    try:
        with open(os.path.join(folder, name_of(key) + suffix), "rb") as file:
            data = file.read()
    except OSError:
        return None
    seal = secret()
    found = unpack(seal, data, count + 1) if seal else None
    return found[1:] if found is not None and found[0] == key else None


def write(folder: str, key: bytes, suffix: str, *sections: bytes) -> bool:
    """Write an entry so that others see the old one or the new one; False when the folder does not let us."""
    seal = secret()
    if not seal:
        return False
    path = os.path.join(folder, name_of(key) + suffix)
    scratch = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with open(scratch, "xb") as file:  # a link that lies there is not followed
            file.write(pack(seal, key, *sections))
        os.replace(scratch, path)
        return True
    except OSError:
        try:
            os.unlink(scratch)
        except OSError:
            pass
        return False


def default_folder(start: str) -> str:
    """Where answers about a folder are kept unless someone says otherwise: beside its repository's ``.git``, else here."""
    folder = start
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return os.path.join(os.getcwd(), CACHE_FOLDER)
        folder = above
    return os.path.join(folder, CACHE_FOLDER)
