"""Files of the cache: named by a key, written whole or not at all, and never believed unless they say so themselves."""

from __future__ import annotations

import os
import sys
from zlib import adler32, crc32

from cutile_lint import __version__
from cutile_lint.inputs import CACHE_FOLDER

#: raise when the shape of an entry changes
FORMAT = 1
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


def pack(*sections: bytes) -> bytes:
    body = b"".join(sections)
    lengths = b" ".join(b"%d" % len(section) for section in sections)
    return _MAGIC + b"%08x %s\n" % (crc32(lengths + body), lengths) + body


def unpack(data: bytes, count: int) -> list[bytes] | None:
    """The sections of an entry; None when it is broken or something else."""
    end = data.find(b"\n", len(_MAGIC))
    if not data.startswith(_MAGIC) or end == -1:
        return None
    try:
        check, *words = data[len(_MAGIC) : end].split(b" ")
        lengths = [int(word) for word in words]
        body = data[end + 1 :]
        if len(lengths) != count or sum(lengths) != len(body) or int(check, 16) != crc32(b" ".join(words) + body):
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
            found = unpack(file.read(), count + 1)
    except OSError:
        return None
    return found[1:] if found is not None and found[0] == key else None


def write(folder: str, key: bytes, suffix: str, *sections: bytes) -> bool:
    """Write an entry so that others see the old one or the new one; False when the folder does not let us."""
    path = os.path.join(folder, name_of(key) + suffix)
    scratch = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with open(scratch, "wb") as file:
            file.write(pack(key, *sections))
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
