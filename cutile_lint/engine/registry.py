"""The rules there are: metadata, lazily imported checks, and selection by code, prefix or name."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cutile_lint.config.settings import Settings
from cutile_lint.engine.rule_index import load_index
from cutile_lint.engine.rule_options import RuleOption, options_from
from cutile_lint.errors import UserError
from cutile_lint.findings import Finding, Level
from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex

if TYPE_CHECKING:
    from cutile_lint.engine.plugins import Plugin

#: ``check(unit)``; of a rule with options ``check(unit, options)``
Check = Callable[..., Iterable[Finding]]

_BUILTIN = "cutile_lint._rules"
_PREFIX = regex(r"[A-Z]+[0-9]*")


class SelectorError(UserError):
    """A selector that names no rule: a usage error."""


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """A rule's metadata. ``fix``: safe, unsafe or manual; ``layer``: that of its primary place; ``needs``: what evidence."""

    code: str
    name: str
    level: Level
    fix: str
    layer: str
    needs: tuple[str, ...]
    summary: str
    #: ``group.name`` below ``root``
    module: str
    #: whether it has a check of its own: that module, or a pattern in the YAML file
    coded: bool
    #: the folder that the rule was found in
    root: Path = field(compare=False)
    #: the package that the rule is imported from; empty: from files below ``root``
    package: str = field(default=_BUILTIN, compare=False)
    options: tuple[RuleOption, ...] = field(default=(), compare=False)

    @property
    def builtin(self) -> bool:
        return self.package == _BUILTIN

    @property
    def yaml_path(self) -> Path:
        """The rule's YAML file, beside its module."""
        return self.root.joinpath(*self.module.split(".")).with_suffix(".yaml")

    def load(self) -> Check:
        """The rule's ``check`` function. Whatever its module raises on import passes through; UserError for a bad pattern or function."""
        if not self.builtin and not self.yaml_path.with_suffix(".py").is_file():
            from cutile_lint.engine.patterns import load_pattern

            return load_pattern(self.yaml_path).check
        by_name = self.package and not self.builtin
        module = importlib.import_module(f"{self.package}.{self.module}") if by_name else _import_file(self)
        code = getattr(module.check, "__code__", None)
        if self.options and code is not None and code.co_argcount < 2 and not code.co_flags & 4:  # 4: it takes `*args`
            raise UserError("the rule has options, its function is `check(unit, options)`")
        return module.check


def _import_file(info: RuleInfo) -> ModuleType:
    """Import a rule without a search for its file: one of ours, or, under a name of its own, one from a folder that is no package."""
    if info.builtin:
        name = f"{info.package}.{info.module}"
    else:
        name = f"cutile_lint_rules_{abs(hash(str(info.root))):x}.{info.module}".replace(".", "_")
    if name in sys.modules:
        return sys.modules[name]
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, os.path.join(info.root, *info.module.split(".")) + ".py")
    if spec is None or spec.loader is None:
        raise ImportError(f"no module for the rule `{info.code}` in {info.root}")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _infos(rows: Iterable[Sequence[Any]], root: Path, package: str) -> list[RuleInfo]:
    return [
        RuleInfo(code, name, Level(level), fix, layer, tuple(needs), summary, module, coded, root, package, options_from(options))
        for code, name, level, fix, layer, needs, summary, module, coded, options in rows
    ]


@lru_cache(maxsize=1)
def builtin_rules() -> tuple[RuleInfo, ...]:
    """The rules that cutile-lint ships, sorted by code."""
    package = importlib.import_module(_BUILTIN)
    root = Path(next(iter(package.__path__)))
    cached = Path(__file__).resolve().parents[1] / "_rules_index.json"
    return tuple(_infos(load_index(root, cached), root, _BUILTIN))


def find_rule(code_or_name: str) -> RuleInfo | None:
    """A rule that cutile-lint ships."""
    return next((info for info in builtin_rules() if code_or_name in (info.code, info.name)), None)


def folder_rules(root: Path) -> tuple[RuleInfo, ...]:
    """The rules in a folder of the user's own (``rule-paths``): ``<group>/<name>.yaml`` beside ``<group>/<name>.py``."""
    return tuple(_infos(load_index(root, None), root, ""))


def plugin_rules(plugin: Plugin) -> tuple[RuleInfo, ...]:
    """The rules of an installed package. Raises UserError naming the plugin."""
    if plugin.folder is None:
        raise UserError(plugin.problem)
    return tuple(_infos(load_index(plugin.folder, None), plugin.folder, plugin.package))


def all_rules(rule_paths: Iterable[Path] = ()) -> tuple[list[RuleInfo], list[str]]:
    """Built-in rules, those of installed plugins and those in the user's folders; and what is wrong with a plugin or folder.

    A broken one brings no rules and takes away none of the others'.
    """
    from cutile_lint.engine.plugins import plugins

    rules, errors = list(builtin_rules()), []
    sources: list[tuple[str, Callable[[], tuple[RuleInfo, ...]]]] = [
        (f"plugin `{plugin.name}`", partial(plugin_rules, plugin)) for plugin in plugins()
    ]
    sources += [(f"rules in `{folder}`", partial(folder_rules, folder)) for folder in rule_paths]
    for told, load in sources:
        try:
            found = load()
            _refuse_taken(found, rules)
        except UserError as error:
            errors.append(f"{told}: {error}")
        except OSError as error:
            errors.append(f"{told} cannot be read: {error.strerror or error}")
        else:
            rules += found
    return rules, errors


def _refuse_taken(found: Iterable[RuleInfo], rules: Iterable[RuleInfo]) -> None:
    """Raise UserError when a code or name is used already."""
    taken = {key: info for info in rules for key in (info.code, info.name)}
    for info in found:
        for key in (info.code, info.name):
            if key in taken:
                whose = "cutile-lint's own" if taken[key].builtin else f"that of {taken[key].yaml_path}"
                raise UserError(f"{info.yaml_path}: a rule `{key}` is there already: {whose}")


class Registry:
    """A set of rules to select from."""

    def __init__(self, rules: Iterable[RuleInfo]) -> None:
        self.rules: tuple[RuleInfo, ...] = tuple(sorted(rules, key=lambda info: info.code))
        self._by_key = {key: info for info in self.rules for key in (info.code, info.name)}
        if len(self._by_key) != 2 * len(self.rules):
            keys = [key for info in self.rules for key in (info.code, info.name)]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise SelectorError(f"two rules are called `{twice}`")

    def find(self, code_or_name: str) -> RuleInfo | None:
        """The rule with exactly this code or name."""
        return self._by_key.get(code_or_name)

    def matching(self, selector: str) -> list[RuleInfo]:
        """The rules that a selector means: ``ALL``, a code, a prefix of codes, or a name. Raises :class:`SelectorError`."""
        if selector == "ALL":
            return list(self.rules)
        exact = self.find(selector)
        if exact is not None:
            return [exact]
        found = [info for info in self.rules if info.code.startswith(selector)] if _PREFIX.fullmatch(selector) else []
        if not found:
            raise SelectorError(self._unknown(selector))
        return found

    def validate(self, selectors: Iterable[str]) -> None:
        """Raise :class:`SelectorError` for the first selector that names no rule."""
        for selector in selectors:
            self.matching(selector)

    def select(
        self, select: Sequence[str] = ("ALL",), ignore: Sequence[str] = (), extend_select: Sequence[str] = ()
    ) -> tuple[RuleInfo, ...]:
        """The rules chosen by the selectors; the more specific one wins, and ``ignore`` among equals.

        So ``select CTL101, ignore CTL1`` leaves CTL101, and ``select CTL1, ignore CTL101`` all of the group but CTL101.
        """
        return self.selected(Settings(select=tuple(select), ignore=tuple(ignore), extend_select=tuple(extend_select)))

    def selected(self, *settings: Settings) -> tuple[RuleInfo, ...]:
        """The rules that are on in any of the settings; their selectors are validated. Without settings: all rules."""
        for item in settings:
            self.validate((*item.select, *item.extend_select, *item.ignore))
        return tuple(info for info in self.rules if not settings or any(item.selects(info.code, info.name) for item in settings))

    def _unknown(self, selector: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(selector, [*self._by_key, "ALL"], n=1)
        hint = f"; did you mean `{near[0]}`?" if near else "; `cutile-lint rule --all` lists them"
        return f"no rule is selected by `{selector}`{hint}"


def load_rules(
    select: Sequence[str] = ("ALL",),
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    rule_paths: Iterable[Path] = (),
) -> tuple[RuleInfo, ...]:
    """The selected rules, the built-in ones and those in the folders ``rule_paths``, sorted by code.

    Raises :class:`SelectorError` for a selector that names no rule, ``RuleFileError`` for a broken rule folder.
    """
    return registry(rule_paths).select(select, ignore, extend_select)


def registry(rule_paths: Iterable[Path] = ()) -> Registry:
    """All rules there are. Raises UserError for a broken plugin or folder."""
    rules, errors = all_rules(rule_paths)
    if errors:
        raise UserError("; ".join(errors))
    return Registry(rules)
