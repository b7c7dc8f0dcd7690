"""After an edit a file must still be what it was: Python that compiles, Rust without a new syntax error."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from pathlib import Path

from cutile_lint.sources import Source


def broken_by(path: Path, before: bytes, after: bytes) -> str:
    """What an edit broke in a file, as the end of a sentence; empty when it broke nothing."""
    suffix = path.suffix
    if suffix in (".py", ".pyi"):
        return _python(before, after)
    if suffix == ".rs":
        return _rust(path, before, after)
    if suffix == ".json":
        return _json(before, after)
    if suffix == ".toml":
        return _toml(before, after)
    return ""


def _python(before: bytes, after: bytes) -> str:
    told = _compile_error(after, whole=True)
    if not told or (_compile_error(before, whole=True) and not _compile_error(after, whole=False)):
        return ""
    return f"the file no longer compiles ({told})"


def _compile_error(data: bytes, whole: bool) -> str:
    """Why the text does not compile (``whole``) or parse; empty when it does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(data, "<fixed>", "exec", 0 if whole else ast.PyCF_ONLY_AST, dont_inherit=True)
        except SyntaxError as error:
            return f"row {error.lineno}: {error.msg}"
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return str(error) or type(error).__name__
    return ""


def _rust(path: Path, before: bytes, after: bytes) -> str:
    from cutile_lint.frontends import rust

    try:
        fresh = Source(path, after)
    except UnicodeDecodeError:
        return "the file is no longer UTF-8"
    faults = rust.parse(fresh).faults
    if not faults:
        return ""
    old = Source(path, before)
    known = Counter((fault.message, old.slice(fault.span)) for fault in rust.parse(old).faults)
    found = Counter((fault.message, fresh.slice(fault.span)) for fault in faults)
    return "the file has a new syntax error" if found - known else ""


def _json(before: bytes, after: bytes) -> str:
    import json

    try:
        json.loads(after)
    except (ValueError, RecursionError) as error:
        try:
            json.loads(before)
        except (ValueError, RecursionError):
            return ""
        return f"the file is no longer JSON ({error})"
    return ""


def _toml(before: bytes, after: bytes) -> str:
    try:
        import tomllib
    except ModuleNotFoundError:
        import tomli as tomllib  # pyright: ignore[reportMissingImports]

    def error_in(data: bytes) -> str:
        try:
            tomllib.loads(data.decode())
        except (ValueError, RecursionError) as error:
            return str(error) or type(error).__name__
        return ""

    told = error_in(after)
    return f"the file is no longer TOML ({told})" if told and not error_in(before) else ""
