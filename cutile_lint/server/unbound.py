"""A name that nothing gives a value, as it is typed: which one it is makes no difference."""

from __future__ import annotations

import builtins
import re

from cutile_lint.sources import Source, Span
from cutile_lint.sources.lines import line_end, line_start

_BUILTINS = frozenset(dir(builtins))
_WORD = re.compile(rb"[\w\x80-\xff]+")


def renamed(old: Source, new: Source, start: int, end: int) -> Span | None:
    """The word of the old text in which ``[start, end)`` lies, where all that the new text has else is another word in its place.

    None where somebody may mean one of the two: it stands elsewhere in the file, is built in, or may have come with ``import *``.
    """
    raw = old.raw
    words = _WORD.finditer(raw, line_start(old, start), line_end(old, end))
    span = next((Span(*word.span()) for word in words if word.start() <= start and end <= word.end()), None)
    if span is None or b"import *" in raw:
        return None
    grown = Span(span.start, span.end + len(new.raw) - len(raw))
    return span if _is_unbound(raw, span) and _is_unbound(new.raw, grown) else None


def _is_unbound(raw: bytes, span: Span) -> bool:
    """The word is a name that stands nowhere else and is not built in. (In front of a quotation mark it is no name.)"""
    word = raw[span.start : span.end]
    if not word.isascii() or not (name := word.decode()).isidentifier() or name in _BUILTINS or name.startswith("__"):
        return False
    return len(re.findall(rb"(?<![\w\x80-\xff])%s(?![\w\x80-\xff\"'])" % word, raw)) == 1


def mentions(text: str, word: str) -> bool:
    """A message speaks of a name."""
    return word in text and re.search(rf"(?<!\w){word}(?!\w)", text) is not None
