"""Ops by name or path: what ``checklist`` and ``flow`` are about."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.cli.common import command_parser
from cutile_lint.cli.options import add_color, add_configuration
from cutile_lint.config import Configurations, Settings
from cutile_lint.engine import api
from cutile_lint.engine.registry import Registry, all_rules
from cutile_lint.errors import UserError
from cutile_lint.findings import Finding
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Workspace

if TYPE_CHECKING:
    from cutile_lint.engine.registry import RuleInfo
    from cutile_lint.unit import KernelUnit


def ops_parser(command: str, description: str) -> argparse.ArgumentParser:
    """A parser that takes ops' names and paths."""
    made = command_parser(command, description)
    made.add_argument("targets", nargs="*", metavar="OP|PATH", help="ops by name, files or folders (default: .)")
    add_configuration(made)
    add_color(made)
    return made


@dataclass(slots=True)
class Chosen:
    """The units that a command line means, in order of their wrappers' paths; ``errors``: what is wrong with single targets."""

    units: list[KernelUnit] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def chosen_units(options: argparse.Namespace) -> Chosen:
    """Ops by name are looked for below the paths, or below the current folder. Raises UserError when nothing is left."""
    paths = [one for one in options.targets if Path(one).exists()]
    names = [one for one in options.targets if one not in paths]
    configurations = Configurations(config=options.config, trust_rules=options.trust_project_rules)
    wrong = [name for name in names if "/" in name or name.endswith((".py", ".rs"))]
    chosen = Chosen(errors=[f"{name}: no such file or directory" for name in wrong])
    names = [name for name in names if name not in wrong]
    if wrong and not paths and not names:
        return chosen
    found = api.find_files(paths or ["."], configurations)
    chosen.errors += [f"{folder}: the folder cannot be read: {reason}" for folder, reason in found.unlisted.items()]
    units = [unit for unit in _load(found.files, configurations) if unit.runs or unit.exports]
    if names:
        chosen.errors += [_unknown(name, units) for name in names if all(unit.name != name for unit in units)]
        units = [unit for unit in units if unit.name in names]
    chosen.units = units
    if not units and not chosen.errors:
        raise UserError(f"no op was found in {', '.join(paths) or 'this folder'}")
    return chosen


def _load(files: Sequence[Path], configurations: Configurations) -> list[KernelUnit]:
    from cutile_lint import unit

    groups: dict[int, tuple[Settings, list[Path]]] = {}
    for path in files:
        settings = configurations.for_file(path)
        groups.setdefault(id(settings), (settings, []))[1].append(path)
    for settings, _ in groups.values():
        rules, errors = all_rules(settings.rule_paths)
        api.check_words(settings, Registry(rules), whole=not errors and not settings.untrusted_rule_paths)
    workspace = Workspace()
    return [one for settings, paths in groups.values() for one in unit.load(workspace, paths, settings)]


def _unknown(name: str, units: Iterable[KernelUnit]) -> str:
    from difflib import get_close_matches

    known = sorted({unit.name for unit in units})
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean `{near[0]}`?" if near else f"; ops here: {', '.join(known[:12])}" if known else ""
    return f"no op is named `{name}`{hint}"


def findings_about(unit: KernelUnit, rules: Sequence[RuleInfo]) -> tuple[list[Finding], list[Finding], list[str]]:
    """(findings, suppressed ones, errors of rules) of some rules on one op; selection in configuration does not count."""
    from cutile_lint.engine.run import run

    report = run([unit], rules)
    return report.findings, report.suppressed, [str(error) for error in report.errors]
