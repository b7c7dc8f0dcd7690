"""A rule's YAML file in full: documentation and cases. Read for ``cutile-lint rule``, the docs and tests; a run doesn't."""

from __future__ import annotations

from typing import Any

from cutile_lint.engine.registry import RuleInfo
from cutile_lint.engine.rule_index import FIELDS, RuleFileError, read_yaml
from cutile_lint.records import dataclass, field

#: documentation keys that hold Markdown text
TEXTS = ("what", "why", "example", "use_instead", "fix_safety", "cost")
LISTS = ("leaves_alone", "checklist")
CASES = ("valid", "invalid")

_CASE_KEYS = {"name", "files", "base", "edits", "add", "remove", "rename", "options", "paths", "encode", "only"}
_INVALID_KEYS = {*_CASE_KEYS, "findings", "fixed", "unsafe_fixed"}
_FINDING_KEYS = {"at", "file", "message", "help", "level", "related", "fix"}
_RELATED_KEYS = {"at", "file", "message"}


@dataclass(frozen=True, slots=True)
class RuleDoc:
    """Texts are Markdown, "" where a rule has none; cases are the raw mappings, their keys checked (see ``cases``)."""

    info: RuleInfo
    what: str = ""
    why: str = ""
    example: str = ""
    use_instead: str = ""
    fix_safety: str = ""
    cost: str = ""
    leaves_alone: tuple[str, ...] = ()
    checklist: tuple[str, ...] = ()
    valid: tuple[dict[str, Any], ...] = field(default=())
    invalid: tuple[dict[str, Any], ...] = field(default=())


def load_doc(info: RuleInfo) -> RuleDoc:
    """Read the rule's YAML file. Raises :class:`RuleFileError` naming file and key for anything it does not know."""
    path = info.yaml_path
    data = read_yaml(path)
    _only_known(path, "the rule", data, {*FIELDS, *TEXTS, *LISTS, *CASES, "pattern", "options"})
    values: dict[str, Any] = {key: _text(path, key, data.get(key) or "") for key in TEXTS}
    values |= {key: tuple(_list(path, key, data.get(key) or [], str)) for key in LISTS}
    values |= {key: tuple(_list(path, key, data.get(key) or [], dict)) for key in CASES}
    for case in values["valid"]:
        _check_case(path, case, _CASE_KEYS)
    for case in values["invalid"]:
        _check_case(path, case, _INVALID_KEYS)
        for finding in _list(path, "findings", case.get("findings") or [], dict):
            _only_known(path, f"a finding of case `{case['name']}`", finding, _FINDING_KEYS)
            for related in _list(path, "related", finding.get("related") or [], dict):
                _only_known(path, f"a related place of case `{case['name']}`", related, _RELATED_KEYS)
    return RuleDoc(info, **values)


def _check_case(path: Any, case: dict[str, Any], keys: set[str]) -> None:
    name = case.get("name")
    if not isinstance(name, str) or not name:
        raise RuleFileError(f"{path}: a case has no name")
    _only_known(path, f"case `{name}`", case, keys)
    if ("files" in case) == ("base" in case):
        raise RuleFileError(f"{path}: case `{name}` must have either `files` or `base`")


def _only_known(path: Any, where: str, data: dict[str, Any], known: set[str]) -> None:
    unknown = sorted(str(key) for key in data.keys() - known)
    if unknown:
        raise RuleFileError(f"{path}: {where} has an unknown key `{unknown[0]}`")


def _text(path: Any, key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise RuleFileError(f"{path}: `{key}` must be a text")
    return value.strip("\n")


def _list(path: Any, key: str, value: Any, kind: type) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
        raise RuleFileError(f"{path}: `{key}` must be a list of {'texts' if kind is str else 'mappings'}")
    return value
