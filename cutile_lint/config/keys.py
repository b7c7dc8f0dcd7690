"""The keys of the configuration table: what each takes, and what is said when it is given something else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from cutile_lint.config.settings import OUTPUT_FORMATS, RUNTIME_NAMES
from cutile_lint.errors import UserError
from cutile_lint.findings import Level
from cutile_lint.regex import regex

_SELECTOR = regex(r"ALL|[A-Z]+[0-9]*|[a-z][a-z0-9]*(-[a-z0-9]+)*")
_URL = regex(r"(https?|file)://[^\s<>\"]+")
_RULE = regex(r"[A-Z]{2,8}[0-9]{3,4}|[a-z][a-z0-9]*(-[a-z0-9]+)*")
_VERSION = regex(r"\d+(\.\d+){0,2}")
_ARCH = regex(r"sm_?(\d{2,3}[a-z]?)")


class Wrong(Exception):
    """What is wrong with a value: the end of a sentence that begins with the key."""


def read_table(table: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Fields of :class:`Settings` from a parsed table. Raises UserError naming file and key."""
    fields: dict[str, Any] = {}
    for key, value in table.items():
        reader = READERS.get(key)
        if reader is None:
            raise UserError(f"{file}: unknown key `{key}`{suggestion(key, (*READERS, 'extend'))}")
        try:
            fields[key.replace("-", "_")] = reader(value, file.parent)
        except Wrong as wrong:
            raise UserError(f"{file}: key `{key}` {wrong}") from None
    return fields


def suggestion(word: str, known: Iterable[str]) -> str:
    """``; did you mean `x`?`` for the nearest known word, or nothing."""
    from difflib import get_close_matches

    known = list(known)
    near = get_close_matches(word.replace("_", "-"), known, 1, 0.6) or get_close_matches(word.upper(), known, 1, 0.6)
    return f"; did you mean `{near[0]}`?" if near else ""


def selectors(value: Any, folder: Path | None = None) -> tuple[str, ...]:
    words = strings(value)
    for word in words:
        if not _SELECTOR.fullmatch(word):
            raise Wrong(f"holds `{word}`, which is no rule code (`CTL101`), start of one (`CTL1`), rule name or `ALL`")
    return words


def strings(value: Any, folder: Path | None = None) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Wrong(f"takes a list of strings, not {_shown(value)}")
    return tuple(value)


def level(value: Any, folder: Path | None = None) -> Level:
    if value not in ("info", "warning", "error"):
        raise Wrong(f"takes `info`, `warning` or `error`, not {_shown(value)}")
    return Level(value)


def arch(value: Any, folder: Path | None = None) -> str:
    found = _ARCH.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise Wrong(f"takes a GPU architecture such as `sm_100`, not {_shown(value)}")
    return f"sm_{found[1]}"


def version(value: Any, folder: Path | None = None) -> str:
    if not isinstance(value, str) or not _VERSION.fullmatch(value):
        raise Wrong(f"takes a cutile version such as `0.2.0`, not {_shown(value)}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Wrong(f"takes a string, not {_shown(value)}")
    return value


def _path(value: Any, folder: Path) -> Path:
    return Path(os.path.abspath(folder / os.path.expanduser(_text(value))))


def _format(value: Any, folder: Path) -> str:
    if value not in OUTPUT_FORMATS:
        near = suggestion(value, OUTPUT_FORMATS) if isinstance(value, str) else ""
        raise Wrong(f"takes one of {', '.join(OUTPUT_FORMATS)}, not {_shown(value)}{near}")
    return value


def _docs_url(value: Any, folder: Path) -> str:
    if not isinstance(value, str) or not _URL.fullmatch(value) or not ("{code}" in value or "{name}" in value):
        raise Wrong(f"takes an address with `{{code}}` or `{{name}}` in it, `https://…/rules/{{code}}.html`, not {_shown(value)}")
    return value


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Wrong(f"takes a table, not {_shown(value)}")
    return value


def _severity(value: Any, folder: Path) -> dict[str, Level]:
    return {selectors([code])[0]: _inside(code, level, item, folder) for code, item in _table(value).items()}


def _per_file_ignores(value: Any, folder: Path) -> dict[str, tuple[str, ...]]:
    return {pattern: _inside(pattern, selectors, item, folder) for pattern, item in _table(value).items()}


def _runtime_names(value: Any, folder: Path) -> dict[str, tuple[str, ...]]:
    names = dict(RUNTIME_NAMES)
    for role, item in _table(value).items():
        if role not in RUNTIME_NAMES:
            raise Wrong(f"has an unknown entry `{role}`{suggestion(role, RUNTIME_NAMES)}")
        names[role] = tuple(dict.fromkeys(RUNTIME_NAMES[role] + _inside(role, strings, item, folder)))
    return names


def _rules(value: Any, folder: Path) -> dict[str, dict[str, Any]]:
    """Options of rules; which ones there are is not known here."""
    tables = {}
    for rule, options in _table(value).items():
        if not _RULE.fullmatch(rule):
            raise Wrong(f"has the entry `{rule}`, which is neither the code of one rule (`CTL208`) nor the name of one")
        table = _inside(rule, lambda item, _: _table(item), options, folder)
        tables[rule] = {name: tuple(item) if isinstance(item, list) else item for name, item in table.items()}
    return tables


def _inside(entry: str, reader: Callable[[Any, Path], Any], value: Any, folder: Path) -> Any:
    try:
        return reader(value, folder)
    except Wrong as wrong:
        raise Wrong(f"entry `{entry}` {wrong}") from None


def _shown(value: Any) -> str:
    text = repr(value)
    return f"`{text if len(text) <= 40 else text[:37] + '...'}`"


READERS: dict[str, Callable[[Any, Path], Any]] = {
    "select": selectors,
    "extend-select": selectors,
    "ignore": selectors,
    "severity": _severity,
    "per-file-ignores": _per_file_ignores,
    "rules": _rules,
    "exclude": strings,
    "extend-exclude": strings,
    "target-arch": arch,
    "target-version": version,
    "runtime-names": _runtime_names,
    "rule-paths": lambda value, folder: tuple(_path(item, folder) for item in strings(value)),
    "baseline": _path,
    "cache-dir": _path,
    "min-level": level,
    "output-format": _format,
    "docs-url": _docs_url,
}
