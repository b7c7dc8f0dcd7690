"""``cutile-lint config``: the settings that hold for a path, options of rules among them, and where each comes from."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from cutile_lint.cli.common import command_parser, end
from cutile_lint.cli.options import add_configuration, add_selection, overrides
from cutile_lint.config import Configurations, Settings
from cutile_lint.engine.api import check_words
from cutile_lint.engine.option_schema import schema
from cutile_lint.engine.registry import Registry, all_rules
from cutile_lint.engine.rule_options import values_of
from cutile_lint.errors import UserError
from cutile_lint.findings import Level
from cutile_lint.reports.view import View
from cutile_lint.sources.workspace import absolute

#: fields of the settings that are no keys
_NO_KEYS = {"root", "file", "discovered", "untrusted_rule_paths", "origins", "rules"}
#: command-line options that set a key
_OPTIONS = ("select", "extend_select", "ignore", "min_level")


def parser() -> argparse.ArgumentParser:
    made = command_parser("config", "Show the settings that hold for a file or folder, and where each comes from.")
    made.add_argument("path", nargs="?", default=".", metavar="PATH", help="a file or folder (default: .)")
    made.add_argument("--output-format", choices=("toml", "json"), default="toml", metavar="FORMAT", help="toml or json")
    made.add_argument("--schema", action="store_true", help="print the JSON schema of the configuration and end")
    add_selection(made)
    add_configuration(made)
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    path = absolute(options.path)
    if not path.exists():
        raise UserError(f"{options.path}: no such file or directory")
    as_json, options.output_format = options.output_format == "json", None
    given = overrides(options)
    found = Configurations(config=options.config, overrides=given, trust_rules=options.trust_project_rules)
    settings = found.for_folder(path if path.is_dir() else path.parent)
    rules, errors = all_rules(settings.rule_paths)
    if options.schema:
        sys.stdout.write(json.dumps(schema(rules), indent=2, ensure_ascii=False) + "\n")
        return end(errors)
    registry = Registry(rules)
    check_words(settings, registry, whole=not errors and not settings.untrusted_rule_paths)
    rows = {key: (value, _origin(key, settings, options)) for key, value in values(settings).items()} | _options(
        settings, registry
    )
    view = View()
    if as_json:
        told: dict[str, Any] = {
            "path": str(path),
            "file": str(settings.file) if settings.file else None,
            "excluded": settings.excludes(str(path), path.is_dir()),
            "settings": {key: {"value": value, "origin": str(origin)} for key, (value, origin) in rows.items()},
        }
        sys.stdout.write(json.dumps(told, indent=2) + "\n")
    else:
        sys.stdout.write(_toml(path, settings, rows, view))
    return end(errors)


def values(settings: Settings) -> dict[str, Any]:
    """Key -> value as configuration spells it; None for a key that has neither value nor default."""
    table = {item.name: getattr(settings, item.name) for item in fields(settings) if item.name not in _NO_KEYS}
    if settings.untrusted_rule_paths:
        table["rule_paths"] = settings.untrusted_rule_paths
    return {name.replace("_", "-"): _plain(value) for name, value in sorted(table.items())}


def _options(settings: Settings, registry: Registry) -> dict[str, tuple[Any, Path | str]]:
    """``rules.CTL208.ignore-fields`` -> value and origin: all options there are, then those of rules that are not loaded."""
    rows: dict[str, tuple[Any, Path | str]] = {}
    for info in registry.rules:
        written = info.name if info.name in settings.rules else info.code
        for name, value in values_of(info, settings).items():
            rows[f"rules.{written}.{name}"] = (_plain(value), settings.origins.get(f"rules.{written}.{name}", "default"))
    for rule, given in settings.rules.items():
        for name, value in given.items() if registry.find(rule) is None else ():
            key = f"rules.{rule}.{json.dumps(name, ensure_ascii=False)}"
            rows[key] = (_plain(value), settings.origins.get(f"rules.{rule}.{name}", "default"))
    return rows


def _plain(value: Any) -> Any:
    if isinstance(value, Level):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _origin(key: str, settings: Settings, options: argparse.Namespace) -> Path | str:
    """A file, ``command line`` or ``default``."""
    name = key.replace("-", "_")
    if name in _OPTIONS and getattr(options, name) is not None:
        return "command line"
    if options.select is not None and name in ("extend_select", "ignore"):
        return "command line"
    return settings.origins.get(key, "default")


def _toml(path: Path, settings: Settings, rows: Mapping[str, tuple[Any, Path | str]], view: View) -> str:
    where = f"from {view.path(settings.file)}" if settings.file else "no configuration file"
    lines = [f"# settings of {view.path(path) if path != view.cwd else '.'}: {where}"]
    if settings.excludes(str(path), path.is_dir()):
        lines.append("# it is excluded")
    if settings.untrusted_rule_paths:
        lines.append("# rule-paths is not loaded without --trust-project-rules")
    for key, (value, origin) in rows.items():
        told = view.path(origin) if isinstance(origin, Path) else origin
        lines.append(f"# {key} is not set" if value is None else f"{key} = {toml_value(value)}  # {told}")
    return "".join(f"{line}\n" for line in lines)


def toml_value(value: Any) -> str:
    """A text, list or table as one line of TOML."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(key, ensure_ascii=False)} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
