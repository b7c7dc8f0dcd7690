"""Patterns in the syntax of ``.gitignore``, matched without a dependency and with one regular expression per file."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from cutile_lint.records import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern. ``expression`` matches a whole path, or only its last part (``by_name``); a folder ends with a slash.

    ``literals``: all that it matches, when that is a name or two. ``ignores`` is False for a pattern with ``!``.
    """

    expression: str
    ignores: bool
    by_name: bool
    literals: tuple[str, ...] = ()

    def matches(self, path: str, name: str) -> bool:
        return re.compile(self.expression, re.DOTALL).fullmatch(name if self.by_name else path) is not None


#: more ``**/`` in one pattern are not matched in any sensible time: such a pattern is passed over
_MAX_DEEP = 4
#: of groups: unique, because the patterns of a file are joined
_NUMBERS = itertools.count()


class Patterns:
    """A list of patterns; the last that matches decides, ``!`` turns a match back.

    Paths are relative to the patterns' folder, with ``/`` between the parts and none in front.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._rules = [rule for rule in map(translate, lines) if rule is not None]
        self._turns_back = any(not rule.ignores for rule in self._rules)
        self._literals = {literal for rule in self._rules for literal in rule.literals}
        self._names = _any_of(rule.expression for rule in self._rules if rule.by_name and not rule.literals)
        self._paths = _any_of(rule.expression for rule in self._rules if not rule.by_name)

    def __bool__(self) -> bool:
        return bool(self._rules)

    def match(self, path: str, is_dir: bool = False) -> bool | None:
        """True: ignored; False: turned back by ``!``; None: no pattern speaks of it. Folders above are not looked at."""
        if is_dir:
            path += "/"
        name = path[path.rfind("/", 0, len(path) - 1) + 1 :]
        spoken_of = (
            name in self._literals
            or (self._names is not None and self._names.fullmatch(name) is not None)
            or (self._paths is not None and self._paths.fullmatch(path) is not None)
        )
        if not spoken_of:
            return None
        if not self._turns_back:
            return True
        return next(rule.ignores for rule in reversed(self._rules) if rule.matches(path, name))

    def covers(self, path: str, is_dir: bool = False) -> bool:
        """Whether the path or a folder above it is ignored."""
        if not self._rules:
            return False
        slash = path.find("/")
        while slash != -1:
            if self.match(path[:slash], True):
                return True
            slash = path.find("/", slash + 1)
        return bool(self.match(path, is_dir))


def _any_of(expressions: Iterable[str]) -> re.Pattern[str] | None:
    joined = "|".join(f"(?:{expression})" for expression in expressions)
    return re.compile(joined, re.DOTALL) if joined else None


def translate(line: str) -> Rule | None:
    """The rule of one line; None for a comment or blank line."""
    pattern = line.rstrip("\r\n")
    while pattern.endswith(" ") and not pattern.endswith("\\ "):
        pattern = pattern[:-1]
    if not pattern or pattern.startswith("#"):
        return None
    ignores = not pattern.startswith("!")
    if not ignores:
        pattern = pattern[1:]
    only_dirs = pattern.endswith("/")
    pattern = pattern[:-1] if only_dirs else pattern  # one slash, as git
    by_name = "/" not in pattern
    pattern = pattern.removeprefix("/")
    if not pattern:
        return None
    literals: tuple[str, ...] = ()
    if by_name and not set(pattern) & set("*?[\\"):
        literals = (f"{pattern}/",) if only_dirs else (pattern, f"{pattern}/")
    if len(re.findall(r"\*\*/", pattern)) > _MAX_DEEP:
        return None
    return Rule(_body(pattern) + ("/" if only_dirs else "/?"), ignores, by_name, literals)


def _body(pattern: str) -> str:
    out: list[str] = []
    index = 0
    star = -1  #: place in ``out`` behind the last ``*`` of this part of the path
    while index < len(pattern):
        char = pattern[index]
        at_start = index == 0 or pattern[index - 1] == "/"
        if char == "*":
            end = index
            while end < len(pattern) and pattern[end] == "*":
                end += 1
            if end - index >= 2 and at_start and end == len(pattern):
                out.append(".+")
            elif end - index >= 2 and at_start and pattern[end] == "/":
                out.append("(?:.*/)?")
                end += 1
            else:
                if star != -1:  # as fnmatch: the first match of what stands between two stars is as good as any, so no going back
                    number = next(_NUMBERS)
                    out[star - 1 :] = [f"(?=(?P<g{number}>[^/]*?{''.join(out[star:])}))(?P=g{number})"]
                out.append("[^/]*")
                star = len(out)
            index = end
            continue
        if char == "/":
            star = -1
        if char == "?":
            out.append("[^/]")
        elif char == "[":
            found = _character_class(pattern, index)
            if found is None:
                return "(?!)"  # as git: an unclosed class matches nothing
            expression, index = found
            out.append(expression)
            continue
        elif char == "\\":
            index += 1
            if index == len(pattern):
                return "(?!)"
            out.append(re.escape(pattern[index]))
        else:
            out.append(re.escape(char))
        index += 1
    return "".join(out)


def _character_class(pattern: str, index: int) -> tuple[str, int] | None:
    """``[…]`` from ``index``: its expression and the place behind it; None when it is not closed."""
    position = index + 1
    negated = pattern[position : position + 1] in ("!", "^") and position < len(pattern)
    position += negated
    start = position
    while position < len(pattern) and (pattern[position] != "]" or position == start):
        position += 2 if pattern[position] == "\\" else 1
    if position >= len(pattern):
        return None
    inner = ""
    while start < position:
        escaped = pattern[start] == "\\"
        start += escaped
        inner += pattern[start] if pattern[start] == "-" and not escaped else re.escape(pattern[start])
        start += 1
    expression = f"(?!/)[{'^' if negated else ''}{inner}]"
    try:
        re.compile(expression)
    except re.error:
        return None
    return expression, position + 1
