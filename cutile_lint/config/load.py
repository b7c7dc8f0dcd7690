"""Finding and reading configuration: the nearest file that speaks of cutile-lint, no merging but by ``extend``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cutile_lint.config.settings import Settings
from cutile_lint.errors import UserError
from cutile_lint.records import replace
from cutile_lint.sources.workspace import Workspace, absolute

OWN_NAME = "cutile-lint.toml"
PROJECT_NAME = "pyproject.toml"
Overrides = Callable[[Settings], Settings]


class Configurations:
    """Settings by file. ``config`` (``--config``) replaces the search; ``overrides`` lays the command line over the result.

    Files are read through ``workspace``, so what was looked for is on its record. Every method may raise UserError.
    """

    def __init__(
        self,
        workspace: Workspace | None = None,
        config: Path | None = None,
        overrides: Overrides = lambda settings: settings,
        trust_rules: bool = False,
    ) -> None:
        self.workspace = workspace or Workspace()
        self._overrides = overrides
        self._trust_rules = trust_rules
        self._by_folder: dict[Path, Settings] = {}
        self._by_file: dict[Path, Settings] = {}
        self._given: Settings | None = None
        self._default: Settings | None = None
        if config is not None:
            given = load_file(absolute(config), self.workspace)
            if given is None:
                raise UserError(f"{config}: no {'table `[tool.cutile-lint]`' if self.workspace.exists(config) else 'such file'}")
            self._given = overrides(given)

    def for_file(self, path: Path) -> Settings:
        """Settings of a file, or of a folder's files when ``path`` is a file in it that need not exist."""
        return self.for_folder(absolute(path).parent)

    def for_folder(self, folder: Path) -> Settings:
        """Settings that hold in an absolute folder."""
        if self._given is not None:
            return self._given
        found = self._by_folder.get(folder)
        if found is None:
            found = self._by_folder[folder] = self._search(folder)
        return found

    def _search(self, folder: Path) -> Settings:
        for name in (OWN_NAME, PROJECT_NAME):
            settings = self._read(folder / name)
            if settings is not None:
                return settings
        if folder.parent != folder:
            return self.for_folder(folder.parent)
        if self._default is None:
            self._default = self._overrides(Settings())
        return self._default

    def _read(self, file: Path) -> Settings | None:
        settings = self._by_file.get(file)
        if settings is None:
            if file not in self.workspace.overlays and not os.path.lexists(file):
                self.workspace.misses.add(file)  # nearly always: worth a short way
                return None
            settings = load_file(file, self.workspace)
            if settings is None:
                return None
            settings = replace(settings, discovered=True)
            if not self._trust_rules:
                settings = replace(settings, rule_paths=(), untrusted_rule_paths=settings.rule_paths)
            settings = self._by_file[file] = self._overrides(settings)
        return settings


def load_file(file: Path, workspace: Workspace) -> Settings | None:
    """The settings of one file; None when it is not there or is a ``pyproject.toml`` without our table. Raises UserError."""
    table = _table(file, workspace)
    if table is None:
        return None
    from cutile_lint.config.keys import read_table

    fields: dict[str, Any] = {}
    origins: dict[str, Path] = {}
    for where, one in reversed(_chain(file, table, workspace)):
        read = read_table(one, where)
        if "rules" in read:  # options are keys of their own: each holds where the extending file has none
            given, below = read["rules"], fields.get("rules", {})
            origins |= {f"rules.{rule}.{name}": where for rule, options in given.items() for name in options}
            read["rules"] = {rule: {**below.get(rule, {}), **given.get(rule, {})} for rule in (*below, *given)}
        fields |= read
        origins |= dict.fromkeys(one, where)
    return Settings(root=file.parent, file=file, origins=origins, **fields)


def _chain(file: Path, table: dict[str, Any], workspace: Workspace) -> list[tuple[Path, dict[str, Any]]]:
    """The tables of a file and of those that it extends, one after the other, without their ``extend``. Raises UserError."""
    chain = [(file, table)]
    while "extend" in table:
        extended = table.pop("extend")
        if not isinstance(extended, str):
            raise UserError(f"{file}: key `extend` takes the path of another configuration file")
        base_file = absolute(file.parent / extended)
        if any(base_file == seen for seen, _ in chain):
            raise UserError(f"{file}: key `extend` goes in a circle through `{base_file}`")
        base = _table(base_file, workspace)
        if base is None:
            raise UserError(f"{file}: key `extend` names `{extended}`, which is not there or has no table of ours")
        file, table = base_file, base
        chain.append((file, table))
    return chain


def _table(file: Path, workspace: Workspace) -> dict[str, Any] | None:
    workspace.configuration.add(file)
    source = workspace.source(file)
    if source is None:
        problem = workspace.problems.get(file)
        if problem is not None:
            raise UserError(f"{file}: {problem.message}")
        return None
    own = file.name != PROJECT_NAME
    if not own and "cutile-lint" not in source.text:
        return None  # reading TOML costs more than the rest of the start
    document = _document(file, source.text.removeprefix("\ufeff"))
    if own:
        table = document.get("tool", {}).get("cutile-lint", document) if isinstance(document.get("tool"), dict) else document
    else:
        tool = document.get("tool", {})
        table = tool.get("cutile-lint") if isinstance(tool, dict) else None
        if table is None:
            return None
    if not isinstance(table, dict):
        raise UserError(f"{file}: `tool.cutile-lint` is no table")
    return dict(table)


def _document(file: Path, text: str) -> dict[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:
        import tomli as tomllib  # pyright: ignore[reportMissingImports]
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(f"{file}: not valid TOML: {str(error) or type(error).__name__}") from None
