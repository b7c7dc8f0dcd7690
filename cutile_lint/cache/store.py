"""Finding and keeping answers on the long way."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import time_ns

from cutile_lint.cache.entries import MAX_ENTRIES, default_folder, key_of, read, write
from cutile_lint.config import Settings
from cutile_lint.errors import UserError
from cutile_lint.findings import Finding
from cutile_lint.inputs import Inputs, compare, loaded_modules
from cutile_lint.regex import regex
from cutile_lint.sources.files import leads_out
from cutile_lint.sources.workspace import absolute

IGNORE_FILE = "# made by cutile-lint\n*\n"
_TAG = "CACHEDIR.TAG"
_TAG_TEXT = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# This folder was made by cutile-lint; `cutile-lint clean` removes it.\n"
)

#: entries and what is left of a run that was killed while it wrote one; `clean` touches nothing else
_OURS = regex(r"(?:[0-9a-f]{16}\.(?:found|said)(?:\.\d+-[0-9a-f]{8}\.tmp)?|probe-\d+-[0-9a-f]{8}\.tmp)")


class Cache:
    """The entries of one folder, for one question. A folder that cannot be written to keeps nothing."""

    def __init__(self, folder: Path, question: list[str]) -> None:
        self.folder = str(folder)
        self.key = key_of(["found", os.getcwd(), *question])
        self.token = b""

    def find(self) -> list[Finding] | None:
        """The findings of the question, if everything they rest on is as it was."""
        entry = read(self.folder, self.key, ".found", 3)
        if entry is None:
            return None
        token, inputs, findings = entry
        try:
            same, fresh = compare(inputs, time_ns())
            if not same:
                return None
            from cutile_lint.cache.packing import unpack_findings

            found = unpack_findings(findings)
        except (ValueError, OSError, LookupError, TypeError, AttributeError):
            return None  # an entry of somebody else
        if fresh is not None:
            write(self.folder, self.key, ".found", token, fresh, findings)
        self.token = token
        return found

    def keep(self, findings: list[Finding], inputs: Inputs) -> None:
        """Keep findings with what they rest on."""
        clock = self._prepare()
        if clock is None:
            return
        installation(inputs)
        packed = inputs.pack(clock, self.folder)
        if packed is None:
            return
        from cutile_lint.cache.packing import pack_findings

        token = os.urandom(8).hex().encode()
        if write(self.folder, self.key, ".found", token, packed, pack_findings(findings)):
            self.token = token
            self._thin_out()

    def keep_said(self, said_key: bytes, status: int, texts: list[tuple[str, str]]) -> None:
        """Keep what a command line printed: (``out`` or ``err``, text) in order."""
        if not self.token or any("\0" in text for _, text in texts):
            return
        joined = "\0".join(part for stream, text in texts for part in (stream, text))
        write(self.folder, said_key, ".said", self.key, self.token, b"%d" % status, joined.encode("utf-8", "surrogatepass"))

    def _prepare(self) -> int | None:
        """Make the folder; the file system's time now (ns), or None when nothing can be kept there."""
        marker = os.path.join(self.folder, ".gitignore")
        probe = os.path.join(self.folder, f"probe-{os.getpid()}-{os.urandom(4).hex()}.tmp")
        try:
            os.makedirs(self.folder, exist_ok=True)
            for path, text in ((marker, IGNORE_FILE), (os.path.join(self.folder, _TAG), _TAG_TEXT)):
                if not os.path.exists(path):
                    with open(path, "x", encoding="utf-8") as file:
                        file.write(text)
        except FileExistsError:
            pass
        except OSError:
            return None
        try:
            with open(probe, "xb"):
                pass
            clock = os.stat(probe).st_mtime_ns
            os.unlink(probe)
            return clock
        except OSError:
            return None

    def _thin_out(self) -> None:
        """Drop the older half when there are too many entries."""
        entries = _entries(self.folder)
        if len(entries) <= MAX_ENTRIES:
            return
        aged = []
        for path in entries:
            try:
                aged.append((os.stat(path).st_mtime_ns, path))
            except OSError:
                pass
        for _, path in sorted(aged)[: len(aged) // 2]:
            _unlink(path)


def installation(inputs: Inputs) -> None:
    """Put on record what says what is found: cutile-lint, its rules, and the modules of others that were imported."""
    from cutile_lint import _rules

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    roots = [package, *_rules.__path__]
    for root in dict.fromkeys(os.path.abspath(path) for path in roots):
        inputs.add_code(root)
    loaded_modules(inputs)


def folder_of(given: Path | None, settings: Settings, start: Path) -> Path:
    """Where results are kept: the folder of the command line, else the configured one, else the usual one.

    Raises UserError where a checked tree would have us write outside of it: by its configuration, or by a link.
    """
    if given is not None:
        return absolute(given)
    if settings.cache_dir is not None:
        if settings.leads_out(settings.cache_dir):
            raise UserError(f"{settings.file}: `cache-dir` leads out of the project; name it with --cache-dir to have it used")
        return absolute(settings.cache_dir)
    folder = absolute(default_folder(str(start)))
    if leads_out(folder, folder.parent):
        raise UserError(f"{folder}: a link that leads out of the project; no results are kept there")
    return folder


def clean(folder: str) -> int:
    """Remove what cutile-lint made in a cache folder, and the folder when nothing else is in it. Returns the number of entries."""
    entries = _entries(folder)
    for path in entries:
        _unlink(path)
    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8") as file:
            ours = file.read() == IGNORE_FILE
    except (OSError, ValueError):
        ours = False
    if ours:
        _unlink(os.path.join(folder, ".gitignore"))
        _unlink(os.path.join(folder, _TAG))
        try:
            os.rmdir(folder)
        except OSError:
            pass
    return len(entries)


def _entries(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if _OURS.fullmatch(name)]


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        print(f"cutile-lint: warning: {path}: {error.strerror or error}", file=sys.stderr)
