"""What the client decides: rules, which files, which of the server's services. Read leniently, mistakes are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cutile_lint.config import Settings
from cutile_lint.config.keys import Wrong, arch, selectors, strings, version
from cutile_lint.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The client's settings. Rule selection is laid over that of the project's file, as the command line is."""

    #: "workspace": all ops in the workspace; "open": those with an open file
    scope: str = "workspace"
    config: Path | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    target_arch: str | None = None
    target_version: str | None = None
    #: milliseconds of quiet before an analysis starts
    debounce: int = 5
    hover: bool = True
    navigation: bool = True
    inlay_hints: bool = True
    code_lens: bool = True
    #: URL of a rule's page, with ``{code}`` and ``{name}``; empty: the page that the server writes itself
    docs_url: str = ""
    mistakes: tuple[str, ...] = field(default=(), compare=False)

    def overrides(self, settings: Settings) -> Settings:
        """A file's settings with the client's laid over them."""
        changes: dict[str, Any] = {}
        if self.select is not None:
            changes |= {"select": self.select, "extend_select": (), "ignore": ()}
        if self.ignore:
            changes["ignore"] = changes.get("ignore", settings.ignore) + self.ignore
        if self.extend_select:
            changes["extend_select"] = changes.get("extend_select", settings.extend_select) + self.extend_select
        if self.target_arch:
            changes["target_arch"] = self.target_arch
        if self.target_version:
            changes["target_version"] = self.target_version
        if self.docs_url:
            changes["docs_url"] = self.docs_url
        return replace(settings, **changes) if changes else settings


def section(given: object) -> object:
    """Our table in what a client sends: plain, or under our name or ``settings`` or both; None when it says nothing."""
    while isinstance(given, Mapping) and (name := next((name for name in _WRAPPINGS if name in given), None)):
        given = given[name]
    return None if given == [] or given == {} else given  # Lua writes an empty table as a list


def read_settings(given: object, base: Path | None = None) -> ClientSettings:
    """Settings from the client's :func:`section` (keys in camelCase or with hyphens); what cannot be read keeps its default."""
    given = section(given)
    if given is None:
        return ClientSettings()
    if not isinstance(given, Mapping):
        return ClientSettings(mistakes=("the client's settings for cutile-lint are no table",))
    fields: dict[str, Any] = {}
    mistakes = []
    for key, value in given.items():
        name = _snake(str(key))
        if name in _OTHERS or value is None:
            continue
        reader = _READERS.get(name)
        if reader is None:
            mistakes.append(f"the client's settings have an unknown key `{key}`")
            continue
        try:
            fields[name] = reader(value)
        except Wrong as wrong:
            mistakes.append(f"the client's setting `{key}` {wrong}")
    if fields.get("config") is not None and base is not None:
        fields["config"] = base / fields["config"]
    return ClientSettings(**fields, mistakes=tuple(mistakes))


def _snake(key: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else "_" if char == "-" else char for char in key)


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Wrong(f"takes true or false, not `{value}`")
    return value


def _scope(value: Any) -> str:
    if value not in ("workspace", "open"):
        raise Wrong(f"takes `workspace` or `open`, not `{value}`")
    return value


def _milliseconds(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= 10_000:
        raise Wrong(f"takes milliseconds up to 10000, not `{value}`")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Wrong(f"takes a text, not `{value}`")
    return value


def _file(value: Any) -> Path | None:
    return Path(_text(value)).expanduser() if value != "" else None


def _codes(value: Any) -> tuple[str, ...]:
    words = [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value
    return selectors(list(strings([] if words == {} else words)))  # an empty table of Lua again


def _or_nothing(reader: Callable[[Any], str]) -> Callable[[Any], str | None]:
    return lambda value: reader(value) if value != "" else None


SECTION = "cutile-lint"
#: where editors put our table: their section's name (as Lua spells it, too), or the key that holds all of a server's settings
_WRAPPINGS = (SECTION, "cutile_lint", "settings")
_READERS: dict[str, Callable[[Any], Any]] = {
    "scope": _scope,
    "config": _file,
    "select": lambda value: _codes(value) or None,
    "ignore": _codes,
    "extend_select": _codes,
    "target_arch": _or_nothing(arch),
    "target_version": _or_nothing(version),
    "debounce": _milliseconds,
    "hover": _switch,
    "navigation": _switch,
    "inlay_hints": _switch,
    "code_lens": _switch,
    "docs_url": _text,
}
#: settings of the same section that only the client's side heeds
_OTHERS = frozenset(["path", "args", "trace", "interpreter", "enable"])
