"""The files that the client is asked to watch, and what it is to tell of that it does to files itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types as lsp

from cutile_lint.server.documents import uri_of

CONFIGURATION = ("pyproject.toml", "cutile-lint.toml", ".gitignore")
#: created, renamed or deleted in the client: a watcher may be silent about what is in a folder
OPERATIONS = lsp.FileOperationRegistrationOptions([lsp.FileOperationFilter(lsp.FileOperationPattern("**/*"), "file")])
PATTERNS = ("**/*.{py,pyi,rs,mlir}", "**/{analysis.json,Cargo.toml," + ",".join(CONFIGURATION) + "}")


def patterns_for(files: Iterable[Path], relative: bool) -> list[str | lsp.RelativePattern]:
    """Patterns for files that :data:`PATTERNS` do not cover; ``relative``: the client knows patterns below a folder."""
    others = sorted(file for file in files if file.name not in CONFIGURATION)
    if not relative:
        return list(dict.fromkeys(f"**/{_escaped(file.name)}" for file in others))
    return [lsp.RelativePattern(uri_of(file.parent), _escaped(file.name)) for file in others]


def registration(name: str, patterns: Iterable[str | lsp.RelativePattern]) -> lsp.Registration:
    watchers = [lsp.FileSystemWatcher(pattern) for pattern in patterns]
    options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
    return lsp.Registration(name, lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)


def _escaped(name: str) -> str:
    """A name as a pattern: these have no escapes, but a sign for any character."""
    return "".join("?" if char in "*?[]{}!," else char for char in name)
