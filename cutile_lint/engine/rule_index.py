"""The index of rule metadata: compiled from the YAML files once, so that a run reads no YAML.

In the wheel the build hook writes it (*frozen*: never checked against the files). In a checkout it is made on first use,
kept beside the package and made again when a YAML file was added, removed or changed (path, size, modification time).
Only what a run needs is in it; documentation and cases stay in the YAML files (``rule_docs``).

Standard library only, and YAML only when something changed: the build hook imports this module before anything is installed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cutile_lint.errors import UserError
from cutile_lint.regex import regex

#: raise when the shape of the index changes
FORMAT = 2
#: keys of the YAML file that go into the index, in this order; then module below the rules root, whether it has code, options
FIELDS = ("code", "name", "level", "fix", "layer", "needs", "summary")

LEVELS = ("info", "warning", "error")
FIXES = ("safe", "unsafe", "manual")
LAYERS = ("wrapper", "export", "kernel", "reference", "ir", "test", "any")

_CODE = regex(r"[A-Z]{2,8}[0-9]{3,4}")
_NAME = regex(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_NO_RULES = {"bases", "__pycache__"}


class RuleFileError(UserError):
    """A rule's YAML file is not as ``docs/rule-format.md`` says; the text names the file and the key."""


def rule_files(root: Path) -> list[Path]:
    """The YAML files of the rules below ``root``: ``<group>/<name>.yaml``, sorted."""
    return [Path(path) for path in _rule_files(root)]


def _rule_files(root: Path) -> list[str]:
    found: list[str] = []
    with os.scandir(root) as groups:
        for group in groups:
            if group.name in _NO_RULES or group.name.startswith(".") or not group.is_dir():
                continue
            with os.scandir(group.path) as entries:
                found += [entry.path for entry in entries if entry.name.endswith(".yaml")]
    return sorted(found)


def stamp(root: Path) -> list[list[Any]]:
    """What a checkout's index is keyed by: path below the root, size and modification time (ns) of each YAML file."""
    rows: list[list[Any]] = []
    below = len(os.path.join(root, ""))
    for path in _rule_files(root):
        state = os.stat(path)
        rows.append([path[below:].replace(os.sep, "/"), state.st_size, state.st_mtime_ns])
    return rows


def read_yaml(path: Path | Any) -> dict[str, Any]:
    """A rule's YAML file (a path or an ``importlib.resources`` traversable) as a mapping; duplicate keys are refused."""
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc, valid-type]
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            twice = sorted({str(key) for key in keys if keys.count(key) > 1})
            if twice:
                raise RuleFileError(f"{path}: line {node.start_mark.line + 1}: key `{twice[0]}` occurs twice")
            return super().construct_mapping(node, deep)

    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader)
    except yaml.MarkedYAMLError as error:
        mark, what = error.problem_mark, error.problem or error.context or "no valid YAML"
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        raise RuleFileError(f"{path}: {where}{what}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RuleFileError(f"{path}: {error}") from error
    if not isinstance(data, dict):
        raise RuleFileError(f"{path}: a mapping of keys is expected")
    return data


def index_row(path: Path, root: Path) -> list[Any]:
    """One row of the index from a rule's YAML file. Raises :class:`RuleFileError`."""
    data = read_yaml(path)
    missing = [key for key in FIELDS if key not in data and key != "needs"]
    if missing:
        raise RuleFileError(f"{path}: key `{missing[0]}` is missing")
    needs = data.get("needs") or []
    choices = {"level": LEVELS, "fix": FIXES, "layer": LAYERS}
    for key, allowed in choices.items():
        if data[key] not in allowed:
            raise RuleFileError(f"{path}: `{key}` is {data[key]!r}; one of {', '.join(allowed)} is expected")
    for key, pattern in (("code", _CODE), ("name", _NAME)):
        if not isinstance(data[key], str) or not pattern.fullmatch(data[key]):
            raise RuleFileError(f"{path}: `{key}` is {data[key]!r}, which does not match {pattern.pattern}")
    if not isinstance(data["summary"], str) or not isinstance(needs, list):
        raise RuleFileError(f"{path}: `summary` must be a text and `needs` a list")
    relative = path.relative_to(root).with_suffix("")
    values = [data["code"], data["name"], data["level"], data["fix"], data["layer"], needs, data["summary"].strip()]
    coded = path.with_suffix(".py").is_file()
    if coded and "pattern" in data:
        raise RuleFileError(f"{path}: the rule has a module and a `pattern`; one of them is enough")
    return [*values, ".".join(relative.parts), coded or "pattern" in data, _options(path, data)]


def _options(path: Path, data: dict[str, Any]) -> list[Any]:
    """Rows of ``rule_options``."""
    if "options" not in data:
        return []
    from cutile_lint.engine.rule_options import BadOption, declared

    try:
        return declared(data["options"])
    except BadOption as wrong:
        raise RuleFileError(f"{path}: `options` {wrong}") from None


def build_index(root: Path, *, frozen: bool = False) -> dict[str, Any]:
    """The index of the rules below ``root``. Raises :class:`RuleFileError` for a broken rule or a code or name used twice."""
    marks = [] if frozen else stamp(root)
    rows = sorted(index_row(path, root) for path in rule_files(root))
    for column, word in ((0, "code"), (1, "name")):
        seen: dict[str, str] = {}
        for row in rows:
            module = row[len(FIELDS)]
            if row[column] in seen:
                raise RuleFileError(f"{root}: the {word} `{row[column]}` is used by `{seen[row[column]]}` and by `{module}`")
            seen[row[column]] = module
    return {"format": FORMAT, "frozen": frozen, "stamp": marks, "rules": rows}


def load_index(root: Path, cached: Path | None) -> list[list[Any]]:
    """The rows for the rules below ``root``: from the file ``cached`` if it is current, else built and written there.

    A folder that can't be written to costs the time of building, nothing else.
    """
    data = _read(cached)
    if data is not None and (data.get("frozen") or data.get("stamp") == stamp(root)):
        return data["rules"]
    fresh = build_index(root)
    if cached is not None:
        _write(cached, fresh)
    return fresh["rules"]


def _read(cached: Path | None) -> dict[str, Any] | None:
    if cached is None:
        return None
    import json

    try:
        with open(cached, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError):
        return None
    valid = isinstance(data, dict) and data.get("format") == FORMAT and isinstance(data.get("rules"), list)
    return data if valid else None


def _write(cached: Path, data: dict[str, Any]) -> None:
    import json

    scratch = cached.with_suffix(f".{os.getpid()}.tmp")
    try:
        scratch.write_text(json.dumps(data), encoding="utf-8")
        os.replace(scratch, cached)
    except OSError:
        try:
            scratch.unlink()
        except OSError:
            pass
