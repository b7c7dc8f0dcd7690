"""Patterns in the syntax of ``.gitignore``, matched without a dependency and with one regular expression per file."""

from __future__ import annotations

import re
from collections.abc import Iterable


class Patterns:
    """A list of patterns; the last that matches decides, ``!`` turns a match back.

    Paths are relative to the patterns' folder, with ``/`` between the parts and none in front.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._rules = [rule for rule in map(translate, lines) if rule is not None]
        self._turns_back = any(not ignores for _, ignores in self._rules)
        self._any = re.compile("|".join(f"(?:{expression})" for expression, _ in self._rules), re.DOTALL) if self._rules else None

    def __bool__(self) -> bool:
        return self._any is not None

    def match(self, path: str, is_dir: bool = False) -> bool | None:
        """True: ignored; False: turned back by ``!``; None: no pattern speaks of it. Folders above are not looked at."""
        if self._any is None:
            return None
        if is_dir:
            path += "/"
        if self._any.fullmatch(path) is None:
            return None
        if not self._turns_back:
            return True
        return next(ignores for expression, ignores in reversed(self._rules) if re.compile(expression, re.DOTALL).fullmatch(path))

    def covers(self, path: str, is_dir: bool = False) -> bool:
        """Whether the path or a folder above it is ignored."""
        if self._any is None:
            return False
        slash = path.find("/")
        while slash != -1:
            if self.match(path[:slash], True):
                return True
            slash = path.find("/", slash + 1)
        return bool(self.match(path, is_dir))


def translate(line: str) -> tuple[str, bool] | None:
    """The regular expression of one pattern and whether it ignores (False: ``!``); None for a comment or blank line.

    The expression matches the whole path; a folder's path ends with a slash.
    """
    pattern = line.rstrip("\r\n")
    while pattern.endswith(" ") and not pattern.endswith("\\ "):
        pattern = pattern[:-1]
    if not pattern or pattern.startswith("#"):
        return None
    ignores = not pattern.startswith("!")
    if not ignores:
        pattern = pattern[1:]
    only_dirs = pattern.endswith("/")
    pattern = pattern.rstrip("/") if only_dirs else pattern
    anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    if not pattern:
        return None
    body = _body(pattern)
    return ("" if anchored else "(?:.*/)?") + body + ("/" if only_dirs else "/?"), ignores


def _body(pattern: str) -> str:
    out: list[str] = []
    index = 0
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
                out.append("[^/]*")
            index = end
            continue
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
    inner = pattern[start:position].replace("[", "\\[").replace("&&", "&\\&").replace("||", "|\\|").replace("~~", "~\\~")
    inner = "\\]" + inner[1:] if inner.startswith("]") else inner
    inner = "\\^" + inner[1:] if inner.startswith("^") else inner
    expression = f"(?!/)[{'^' if negated else ''}{inner}]"
    try:
        re.compile(expression)
    except re.error:
        return None
    return expression, position + 1
