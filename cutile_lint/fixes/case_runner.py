"""Lints and fixes the trees of rule cases, all in memory: what ``engine.cases`` runs cases with."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutile_lint.config import Configurations, Settings
from cutile_lint.engine.cases import CaseRun, Tree
from cutile_lint.engine.registry import Registry, RuleInfo, builtin_rules
from cutile_lint.engine.rule_options import check_options
from cutile_lint.engine.run import Report, run
from cutile_lint.fixes.loop import fix_loop
from cutile_lint.sources import Workspace
from cutile_lint.sources.discovery import is_candidate

if TYPE_CHECKING:
    from cutile_lint.unit import KernelUnit

#: (workspace, files to check, settings) -> units
Load = Callable[[Workspace, Sequence[Path], Settings], "list[KernelUnit]"]


class MemoryRunner:
    """A ``Runner`` whose files are overlays below a folder that does not exist. ``load`` makes the units."""

    def __init__(self, load: Load | None = None) -> None:
        self.root = Path(tempfile.gettempdir()).resolve() / "cutile-lint-case"
        self._load = load

    def check(self, tree: Tree, rules: Sequence[RuleInfo], options: Mapping[str, Any], paths: Sequence[str]) -> CaseRun:
        report = self._report(self._overlays(tree, options), rules, self._files(tree, paths))
        return CaseRun(self.root, report.findings, [f"{error}\n{error.traceback}" for error in report.errors])

    def fix(
        self, tree: Tree, rules: Sequence[RuleInfo], options: Mapping[str, Any], paths: Sequence[str], unsafe: bool
    ) -> tuple[Tree, list[str]]:
        files = self._files(tree, paths)
        base = self._overlays(tree, options)
        result = fix_loop(lambda overlays: self._report(overlays, rules, files).findings, base, unsafe)
        changed = {path.relative_to(self.root).as_posix(): data.decode("utf-8") for path, data in result.changed.items()}
        problems = [f"the fix of {item.finding.place} was undone: {item.reason}" for item in result.undone]
        problems += [f"the fixes of {', '.join(fight.codes)} bring each other back" for fight in result.fights]
        return {**tree, **changed}, problems

    def _report(self, overlays: Mapping[Path, bytes], rules: Sequence[RuleInfo], files: Sequence[Path]) -> Report:
        from cutile_lint import unit

        workspace = Workspace(overlays)
        settings = Configurations(workspace).for_folder(self.root)
        check_options(settings, Registry(dict.fromkeys([*builtin_rules(), *rules])))
        load: Load = self._load or unit.load
        return run(load(workspace, files, settings), rules, settings, judged=frozenset(files))

    def _overlays(self, tree: Tree, options: Mapping[str, Any]) -> dict[Path, bytes]:
        """The tree, with a configuration file that holds the options and ends the search for another one."""
        table = "".join(f"{key} = {_toml(value)}\n" for key, value in options.items())
        return {self.root / path: text.encode("utf-8") for path, text in {"cutile-lint.toml": table, **tree}.items()}

    def _files(self, tree: Tree, paths: Sequence[str]) -> list[Path]:
        """The files of the tree that ``paths`` (files or folders, ``.`` for all) mean."""
        chosen = [path for path in tree if is_candidate(path.rsplit("/", 1)[-1])]
        chosen = [
            path for path in chosen if any(item in (".", path) or path.startswith(item.rstrip("/") + "/") for item in paths)
        ]
        return [self.root / path for path in sorted(chosen)]


def _toml(value: Any) -> str:
    """A value of a case's ``options`` as TOML; mappings become inline tables."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)
