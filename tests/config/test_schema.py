"""The schema for editors says what the strict reader says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import cutile_lint.config
from cutile_lint.config.keys import READERS, read_table
from cutile_lint.config.settings import OUTPUT_FORMATS, RUNTIME_NAMES, Settings
from cutile_lint.engine.registry import builtin_rules
from cutile_lint.engine.rule_options import values_of
from cutile_lint.errors import UserError

SCHEMA = json.loads(Path(cutile_lint.config.__file__).with_name("schema.json").read_text(encoding="utf-8"))
LISTS = ([], ["CTL101"], ["CTL1", "fill-in-kernel-fn", "ALL"], ["CTL 1"], ["ctl_1"], "CTL1", [1], [""], None, {}, ["Ctl1"])
TEXTS = ("a/b", "", 1, None, ["a"], True)
LEVELS = ("info", "error", "fatal", 1, None)
VALUES: dict[str, tuple[Any, ...]] = {
    "select": LISTS,
    "extend-select": LISTS,
    "ignore": LISTS,
    "severity": ({}, {"CTL1": "info"}, {"CTL1": "fatal"}, {"a b": "info"}, [], "info", {"some-name": "error"}),
    "per-file-ignores": ({}, {"*.py": ["CTL1"]}, {"*.py": "CTL1"}, {"a": ["b c"]}, []),
    "rules": (
        {},
        {"CTL620": {}},
        {"CTL620": {"tolerance": 2}},
        {"config-drift": {"ignore-fields": ["a"]}, "ACME101": {"most": 3}},
        {"CTL620": 2},
        {"CTL6": {}},
        {"a b": {}},
        [],
    ),
    "exclude": ([], ["a/"], "a", [1], None),
    "extend-exclude": ([], ["a/", "*.rs"], "a", [1]),
    "target-arch": ("sm_100", "sm90a", "sm_1", "hopper", 100, "sm_100 ", ""),
    "target-version": ("0.2.0", "1", "0.2", "=0.2", 0.2, "0.2.0.1", ""),
    "runtime-names": ({}, {"check-rc": ["ok"]}, {"check-rc": "ok"}, {"check_rc": ["ok"]}, []),
    "rule-paths": ([], ["a", "b"], "a", [1], [""]),
    "baseline": TEXTS,
    "cache-dir": TEXTS,
    "min-level": LEVELS,
    "output-format": (*OUTPUT_FORMATS, "xml", "", 1),
    "docs-url": ("https://docs.test/{code}", "file:///a/{name}.html", "https://docs.test/", "{code}", "http://a b/{code}", 1),
}


def test_schema_and_reader_know_the_same_keys() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert set(SCHEMA["properties"]) == {*READERS, "extend"} == {*VALUES, "extend"}
    assert set(SCHEMA["properties"]["runtime-names"]["properties"]) == set(RUNTIME_NAMES)
    assert not list(jsonschema.Draft7Validator(SCHEMA).iter_errors({}))


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in VALUES.items() for value in values])
def test_schema_and_reader_agree(key: str, value: Any, tmp_path: Path) -> None:
    try:
        read_table({key: value}, tmp_path / "cutile-lint.toml")
        read = True
    except UserError:
        read = False
    assert jsonschema.Draft7Validator(SCHEMA).is_valid({key: value}) is read


@pytest.mark.parametrize("key", ["selekt", "target_arch", "Select"])
def test_unknown_keys_are_refused_by_both(key: str, tmp_path: Path) -> None:
    with pytest.raises(UserError):
        read_table({key: []}, tmp_path / "cutile-lint.toml")
    assert not jsonschema.Draft7Validator(SCHEMA).is_valid({key: []})


def test_it_has_the_options_of_the_rules_and_takes_the_same_values() -> None:
    from cutile_lint.engine.option_schema import schema

    assert SCHEMA == schema(builtin_rules()), "run `python -m cutile_lint.engine.option_schema`"
    values = ([], ["a"], ["index"], "a", True, 0, 2, -1, 1.5, 0.5, {}, [1])
    for info in builtin_rules():
        for option in info.options:
            for value in values:
                given = {"rules": {info.code: {option.name: value}}}
                try:
                    values_of(info, Settings(rules=given["rules"]))
                    taken = True
                except UserError:
                    taken = False
                assert jsonschema.Draft7Validator(SCHEMA).is_valid(given) is taken, (given, taken)
    assert not jsonschema.Draft7Validator(SCHEMA).is_valid({"rules": {"CTL620": {"tolerence": 1}}})


def test_defaults_are_those_of_the_settings() -> None:
    from cutile_lint.cli.config import values

    defaults = {key: item["default"] for key, item in SCHEMA["properties"].items() if "default" in item}
    told = values(Settings())
    assert {key: told[key] for key in defaults} == defaults
