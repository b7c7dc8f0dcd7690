"""Token trees of macro text, and the patterns of ``macro_rules!`` arms matched against them as the compiler does.

Matching is by the tokens alone, arm after arm: literal tokens have to be the same, a metavariable takes what its fragment kind allows,
a repetition goes on as long as it fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from cutile_lint.frontends.rust.lexer import HIDING, block_comment_end
from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.sources import Span

_TOKEN = regex(
    HIDING + rb"|(?P<lifetime>'[A-Za-z_]\w*)"
    rb"|(?P<variable>\$\w+)"
    rb"|(?P<number>\d(?:\w|\.(?=\d))*)"
    rb"|(?P<word>(?:r\#)?[A-Za-z_\x80-\xff][\w\x80-\xff]*)"
    rb"|(?P<open>\$?[(\[{])|(?P<close>[)\]}])"
    rb"|(?P<mark>\.\.\.|\.\.=|<<=|>>=|=>|->|::|\.\.|&&|\|\||[=!<>+*/%^&|-]=|<<|\S)",
    re.DOTALL,
)
#: At so many places an expression, type or pattern is tried to end.
_MAX_TRIES = 64
_OPERATORS = ("*", "+", "?")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_EXPRESSION_ENDS = (",", ";", "=>")
_TYPE_ENDS = ("{", "[", "=>", ",", ">", "=", ":", ";", "|", "as", "where")
_PATTERN_ENDS = ("=>", ",", "=", "if", "in")
#: fragments that take tokens up to the first place that may follow them at which they parse: kind of text, what may follow
_OPEN_FRAGMENTS = {
    "expr": ("expr", _EXPRESSION_ENDS),
    "expr_2021": ("expr", _EXPRESSION_ENDS),
    "stmt": ("stmt", _EXPRESSION_ENDS),
    "ty": ("ty", _TYPE_ENDS),
    "path": ("ty", _TYPE_ENDS),
    "pat": ("pat", _PATTERN_ENDS),
    "pat_param": ("pat", (*_PATTERN_ENDS, "|")),
}
_NO_EXPRESSION = frozenset("as dyn else enum extern fn impl in let mod pub ref static struct trait type use where _".split())
_EXPRESSION_MARKS = frozenset(["-", "!", "*", "&", "&&", "|", "||", "<", "<<", "::", "..", "..=", "#"])


@dataclass(slots=True, eq=False)
class Token:
    """One token tree. ``kind``: "word", "literal", "lifetime", "variable" (``$x``), "mark", "group", "repetition" or "fragment".

    ``text`` is the token, the opening bracket of a group, the separator of a repetition. ``value`` is what a metavariable stands for;
    ``moved`` says that the token does not stand at its place by itself: it came out of a repetition.
    """

    kind: str
    text: str
    span: Span
    inner: list[Token] = field(default_factory=list)
    operator: str = ""
    value: object = None
    moved: bool = False


#: What a metavariable took: tokens, or one such per round of the repetition it stands in.
Bound = "list[Token] | list[Bound]"
Bindings = dict[str, "Bound"]
#: whether the text of tokens is a whole fragment of a kind ("expr", "stmt", "ty", "pat")
Parses = Callable[["list[Token]", str], bool]


def tokens(data: bytes, span: Span) -> list[Token]:
    """The token trees of a part of a text; a bracket that is never closed ends with the part."""
    found: list[Token] = []
    opened: list[tuple[list[Token], int, str]] = []
    position = span.start
    while token := _TOKEN.search(data, position, span.end):
        start, position = token.span()
        kind, text = token.lastgroup, token[0].decode("utf-8", "replace")
        if kind == "block":
            position = block_comment_end(data, start)
        elif kind == "open":
            opened.append((found, start, text))
            found = []
        elif kind == "close":
            if opened:
                found = _closed(opened.pop(), found, position)
        elif kind != "line":
            found.append(
                Token({"number": "literal", "hashes": "literal", None: "literal"}.get(kind, kind), text, Span(start, position))
            )
    while opened:
        found = _closed(opened.pop(), found, span.end)
    return _with_repetitions(found)


def _closed(opened: tuple[list[Token], int, str], inner: list[Token], end: int) -> list[Token]:
    around, start, text = opened
    around.append(Token("repetition" if text == "$(" else "group", text, Span(start, end), _with_repetitions(inner)))
    return around


def _with_repetitions(found: list[Token]) -> list[Token]:
    """Separator and operator taken into each repetition."""
    result: list[Token] = []
    at = 0
    while at < len(found):
        token = found[at]
        at += 1
        result.append(token)
        if token.kind == "repetition" and not token.operator:
            separated = at + 1 < len(found) and found[at + 1].text in _OPERATORS
            alone = at < len(found) and found[at].text in _OPERATORS
            if separated and not (alone and found[at].text == "?") and not (alone and not _touches(found[at], found[at + 1])):
                token.text, token.operator = found[at].text, found[at + 1].text
                at += 2
            elif alone:
                token.text, token.operator = "", found[at].text
                at += 1
            else:
                token.text, token.operator = "", "*"
    return result


def _touches(first: Token, second: Token) -> bool:
    return first.span.end == second.span.start


# ── matching ───────────────────────────────────────────────────────────────


def match(pattern: list[Token], given: list[Token], parses: Parses) -> Bindings | None:
    """What the metavariables of an arm's pattern take of an invocation's tokens; None when the arm does not fit."""
    found: Bindings = {}
    end = _sequence(pattern, given, 0, parses, found)
    return found if end == len(given) else None


def _sequence(pattern: list[Token], given: list[Token], at: int, parses: Parses, found: Bindings) -> int | None:
    """Match a pattern against tokens from a position on; returns where it ended."""
    position = 0
    while position < len(pattern):
        token = pattern[position]
        end: int | None
        if token.kind == "repetition":
            end = _repetition(token, given, at, parses, found)
            position += 1
        elif token.kind == "variable" and [one.text for one in pattern[position + 1 : position + 2]] == [":"]:
            fragment = pattern[position + 2].text if position + 2 < len(pattern) else ""
            end = _fragment(fragment, given, at, parses)
            if end is not None:
                found[token.text] = given[at:end]
            position += 3
        else:
            end = _literal(token, given, at, parses, found)
            position += 1
        if end is None:
            return None
        at = end
    return at


def _literal(token: Token, given: list[Token], at: int, parses: Parses, found: Bindings) -> int | None:
    if at >= len(given) or given[at].kind != token.kind or given[at].text != token.text:
        return None
    if token.kind == "group" and _sequence(token.inner, given[at].inner, 0, parses, found) != len(given[at].inner):
        return None
    return at + 1


def _repetition(token: Token, given: list[Token], at: int, parses: Parses, found: Bindings) -> int | None:
    rounds: list[Bindings] = []
    end = at
    while not (rounds and token.operator == "?"):
        start = end
        if rounds and token.text:
            if start >= len(given) or given[start].text != token.text:
                break
            start += 1
        taken: Bindings = {}
        after = _sequence(token.inner, given, start, parses, taken)
        if after is None or after == end:
            break
        rounds.append(taken)
        end = after
    for name in variables(token.inner):
        found[name] = [taken[name] for taken in rounds]
    return end if rounds or token.operator != "+" else None


def variables(pattern: list[Token]) -> list[str]:
    """The names of all metavariables, in groups and repetitions too."""
    names: list[str] = []
    for token in pattern:
        if token.kind == "variable":
            names.append(token.text)
        names += variables(token.inner)
    return names


def _fragment(kind: str, given: list[Token], at: int, parses: Parses) -> int | None:
    """Where the fragment that begins at a position ends."""
    first = given[at] if at < len(given) else None
    if kind == "vis":
        if first is None or first.text not in ("pub", "crate"):
            return at
        return at + 2 if at + 1 < len(given) and given[at + 1].text == "(" else at + 1
    if first is None:
        return None
    if kind in _OPEN_FRAGMENTS:
        return _open_fragment(kind, given, at, parses)
    if first.kind == "fragment":
        return at + 1
    if kind == "tt":
        return at + 1
    if kind == "ident":
        return at + 1 if first.kind == "word" and first.text != "_" else None
    if kind == "lifetime":
        return at + 1 if first.kind == "lifetime" else None
    if kind == "block":
        return at + 1 if first.text == "{" else None
    if kind == "literal":
        if first.text == "-" and at + 1 < len(given) and given[at + 1].kind == "literal":
            return at + 2
        return at + 1 if first.kind == "literal" or first.text in ("true", "false") else None
    if kind == "item":
        return next((end + 1 for end in range(at, len(given)) if given[end].text in (";", "{")), None)
    if kind == "meta":
        return next((end for end in range(at + 1, len(given)) if given[end].text in _EXPRESSION_ENDS), len(given))
    return None


def _open_fragment(kind: str, given: list[Token], at: int, parses: Parses) -> int | None:
    kind, ends = _OPEN_FRAGMENTS[kind]
    first = given[at]
    if kind == "expr" and (
        first.text in _NO_EXPRESSION if first.kind == "word" else first.kind == "mark" and first.text not in _EXPRESSION_MARKS
    ):
        return None
    following = (end for end in range(at + 1, len(given) + 1) if end == len(given) or given[end].text in ends)
    return next((end for end in islice(following, _MAX_TRIES) if parses(given[at:end], kind)), None)
