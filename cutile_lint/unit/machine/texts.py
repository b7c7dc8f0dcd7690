"""Texts that the machine computes: how long one gets is known before it is made."""

from __future__ import annotations

from collections.abc import Sequence

from cutile_lint.regex import regex

#: Longer texts are not computed with: in ``x = x + x`` each line doubles one.
LONGEST = 1 << 16
#: Numbers above this are not computed with (``1 << 10**9``).
_LARGE = 1 << 64
_MAX_EXPONENT = 64
#: A width or precision of five digits, or one that is another argument.
_WIDE = regex(r"[%:.][^{}\d\s]{0,8}0*\d{5}|%[-+ #0\d.]*\*|:[^{}]*\{")


def is_small(value: object) -> bool:
    """A constant may be computed with."""
    if isinstance(value, int):
        return abs(value) < _LARGE
    return not isinstance(value, (str, bytes)) or len(value) <= LONGEST


def is_computable(op: str, left: object, right: object) -> bool:
    """``left op right`` of two constants costs next to nothing."""
    if not (is_small(left) and is_small(right)):
        return False
    if op in ("**", "<<"):
        return not isinstance(right, int) or right <= _MAX_EXPONENT
    if op == "*":
        text, times = (left, right) if isinstance(left, (str, bytes)) else (right, left)
        return not (isinstance(text, (str, bytes)) and isinstance(times, int)) or len(text) * times <= LONGEST
    return not (op == "%" and isinstance(left, (str, bytes))) or is_narrow(left)


def is_narrow(template: str | bytes) -> bool:
    """A template whose fields are about as long as what they are filled with."""
    return _WIDE.search(template if isinstance(template, str) else template.decode("latin-1")) is None


def joined(parts: Sequence[object], separator: str = "") -> str | None:
    """The texts of constants in a row; None if they are too long."""
    if len(separator) * len(parts) > LONGEST or not all(map(is_small, parts)):
        return None
    texts, length = [], 0
    for part in parts:
        texts.append(str(part))
        length += len(texts[-1]) + len(separator)
        if length > LONGEST:
            return None
    return separator.join(texts)


def is_short_method(text: str, name: str, arguments: Sequence[object]) -> bool:
    """Whether ``text.name(*arguments)`` gives a text of bounded length."""
    if not all(map(is_small, (text, *arguments))):
        return False
    if name == "replace" and len(arguments) > 1 and all(isinstance(argument, str) for argument in arguments[:2]):
        old, new = arguments[:2]
        return text.count(old) * len(new) <= LONGEST  # type: ignore[arg-type]
    return name != "format" or (is_narrow(text) and text.count("{") * max([0, *map(len, map(str, arguments))]) <= LONGEST)
