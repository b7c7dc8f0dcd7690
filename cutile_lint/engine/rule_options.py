"""Options of rules: declared in a rule's YAML file, set in the configuration's table ``rules``, given to ``check(unit, options)``.

Standard library only, like the index that they are part of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cutile_lint.records import dataclass
from cutile_lint.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cutile_lint.config.settings import Settings
    from cutile_lint.engine.registry import Registry, RuleInfo

#: type -> what is said about a value of it
TYPES = {
    "boolean": "`true` or `false`",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "strings": "a list of strings",
}
_KEYS = ("type", "default", "description", "choices", "minimum")
_NAME = regex(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class BadOption(Exception):
    """What is wrong with a declared option or a value: the end of a sentence that begins with the option."""


@dataclass(frozen=True, slots=True)
class RuleOption:
    """One option. ``choices`` (of a string, or of each string of a list) and ``minimum`` (of a number) bound its values."""

    name: str
    type: str
    default: Any
    description: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None

    @property
    def takes(self) -> str:
        """``a list of strings, each one of `a`, `b` ``."""
        told = TYPES[self.type]
        if self.choices:
            told += f"{', each' if self.type == 'strings' else ','} one of {', '.join(f'`{item}`' for item in self.choices)}"
        return told if self.minimum is None else f"{told} from {self.minimum:g}"

    def read(self, value: Any) -> Any:
        """The value as a rule gets it: lists as tuples, numbers as floats. Raises :class:`BadOption`."""
        if not self._fits(value):
            raise BadOption(f"takes {self.takes}, not `{_shown(value)}`{self._near(value)}")
        if self.type == "strings":
            return tuple(value)
        return float(value) if self.type == "number" else value

    def _fits(self, value: Any) -> bool:
        if self.type == "strings":
            fits = isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
            return fits and not (self.choices and set(value) - set(self.choices))
        if self.type == "string":
            return isinstance(value, str) and (not self.choices or value in self.choices)
        if self.type == "boolean":
            return isinstance(value, bool)
        number = isinstance(value, int if self.type == "integer" else (int, float)) and not isinstance(value, bool)
        # also false for `nan`
        return number and abs(value) < float("inf") and (self.minimum is None or value >= self.minimum)

    def _near(self, value: Any) -> str:
        from cutile_lint.config.keys import suggestion

        words = [value] if isinstance(value, str) else value if isinstance(value, (list, tuple)) else []
        wrong = [word for word in words if isinstance(word, str) and word not in self.choices]
        return suggestion(wrong[0], self.choices) if wrong and self.choices else ""


def declared(data: Any) -> list[list[Any]]:
    """The key ``options`` of a rule's YAML file as rows for the index. Raises :class:`BadOption`."""
    if not isinstance(data, dict):
        raise BadOption("must be a mapping: name -> type, default, description")
    rows = []
    for name, value in data.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise BadOption(f"has `{name}`, which is no name: small letters, digits and single dashes are expected")
        try:
            rows.append(_declared(name, value))
        except BadOption as wrong:
            raise BadOption(f"entry `{name}` {wrong}") from None
    return rows


def _declared(name: str, data: Any) -> list[Any]:
    if not isinstance(data, dict):
        raise BadOption("must be a mapping with `type`, `default` and `description`")
    unknown = [key for key in data if key not in _KEYS]
    if unknown:
        raise BadOption(f"has an unknown key `{unknown[0]}`; the keys are {', '.join(_KEYS)}")
    missing = [key for key in _KEYS[:3] if key not in data]
    if missing:
        raise BadOption(f"lacks the key `{missing[0]}`")
    if data["type"] not in TYPES:
        raise BadOption(f"has the type `{data['type']}`; one of {', '.join(TYPES)} is expected")
    if not isinstance(data["description"], str) or not data["description"].strip():
        raise BadOption("needs a text as its `description`")
    choices, minimum = data.get("choices", []), data.get("minimum")
    texts = isinstance(choices, list) and all(isinstance(item, str) for item in choices)
    if not texts or (choices and data["type"] not in ("string", "strings")):
        raise BadOption("may have a list of strings as `choices` if its type is string or strings")
    numeric = data["type"] in ("integer", "number")
    if minimum is not None and (not numeric or not isinstance(minimum, (int, float)) or isinstance(minimum, bool)):
        raise BadOption("may have a number as `minimum` if its type is integer or number")
    option = RuleOption(name, data["type"], data["default"], data["description"].strip(), tuple(choices), minimum)
    try:
        option.read(option.default)
    except BadOption as wrong:
        raise BadOption(f"has a `default` that does not fit: it {wrong}") from None
    return [name, option.type, option.default, " ".join(option.description.split()), choices, minimum]


def options_from(rows: Iterable[Any]) -> tuple[RuleOption, ...]:
    """The options from rows of the index."""
    made = [RuleOption(name, kind, None, told, tuple(choices), least) for name, kind, _, told, choices, least in rows]
    for option, row in zip(made, rows, strict=True):
        object.__setattr__(option, "default", option.read(row[2]))
    return tuple(made)


def values_of(info: RuleInfo, settings: Settings) -> dict[str, Any]:
    """The values of a rule's options under the settings: those that are set, the others by default. Raises UserError."""
    from cutile_lint.errors import UserError

    known = {option.name: option for option in info.options}
    values = {name: option.default for name, option in known.items()}
    written = [key for key in (info.code, info.name) if key in settings.rules]
    if len(written) == 2:
        raise UserError(f"{_where(settings, written[1])}`rules.{written[0]}` and `rules.{written[1]}` are the same rule")
    for name, value in settings.rules[written[0]].items() if written else ():
        key = f"{written[0]}.{name}"
        if name not in known:
            raise UserError(f"{_where(settings, key)}`rules.{key}`: {_no_option(info, name)}")
        try:
            values[name] = known[name].read(value)
        except BadOption as wrong:
            raise UserError(f"{_where(settings, key)}key `rules.{key}` {wrong}") from None
    return values


def check_options(settings: Settings, registry: Registry, whole: bool = True) -> None:
    """Raise UserError for an option that no rule has, or a value that it does not take; ``whole``: the registry knows all rules."""
    from cutile_lint.config.keys import suggestion
    from cutile_lint.errors import UserError

    for key in settings.rules:
        info = registry.find(key)
        if info is not None:
            values_of(info, settings)
        elif whole:
            near = suggestion(key, [word for info in registry.rules for word in (info.code, info.name)])
            raise UserError(f"{_where(settings, key)}`rules.{key}`: there is no rule `{key}`{near}")


def _no_option(info: RuleInfo, name: str) -> str:
    from cutile_lint.config.keys import suggestion

    if not info.options:
        return f"{info.code} ({info.name}) has no options"
    names = [option.name for option in info.options]
    near = suggestion(name, names)
    listed = "" if near else f"; it has {', '.join(f'`{item}`' for item in names)}"
    return f"{info.code} ({info.name}) has no option `{name}`{near}{listed}"


def _where(settings: Settings, key: str) -> str:
    """The file that set a key below ``rules``, as the head of a message."""
    below: Mapping[str, Any] = settings.origins
    file = below.get(f"rules.{key}") or next((below[item] for item in below if item.startswith(f"rules.{key}.")), settings.file)
    return f"{file}: " if file else ""


def _shown(value: Any) -> str:
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 40 else text[:37] + "..."
