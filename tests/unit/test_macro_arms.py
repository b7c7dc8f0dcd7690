"""Invocations matched against the arms of a macro by their tokens."""

from __future__ import annotations

import pytest

from cutile_lint.frontends.rust.fragments import is_fragment
from cutile_lint.frontends.rust.tokens import Token, match, tokens
from cutile_lint.sources import Span


def taken(pattern: str, given: str) -> dict[str, object] | None:
    """The text that each metavariable of the pattern takes; lists for repetitions."""
    data = given.encode()

    def text(found: list) -> object:
        if found and isinstance(found[0], Token):
            return data[found[0].span.start : found[-1].span.end].decode()
        return [text(one) for one in found]

    def parses(part: list[Token], kind: str) -> bool:
        return is_fragment(data, Span(part[0].span.start, part[-1].span.end), kind)

    found = match(tokens(pattern.encode(), Span(0, len(pattern))), tokens(data, Span(0, len(data))), parses)
    return None if found is None else {name: text(one) for name, one in found.items()}


@pytest.mark.parametrize(
    ("pattern", "given", "expected"),
    [
        ("", "", {}),
        ("$a:expr, $b:expr", "x + 1, f::<A, B>(y)", {"$a": "x + 1", "$b": "f::<A, B>(y)"}),
        ("$a:expr, $b:expr", "|p, q| p + q, 2", {"$a": "|p, q| p + q", "$b": "2"}),
        ("ctas => $a:expr, blocks => $b:expr", "ctas => -1, blocks => o", {"$a": "-1", "$b": "o"}),
        ("ctas => $a:expr", "occ => 1", None),
        ("$a:expr; $b:expr", "a; b", {"$a": "a", "$b": "b"}),
        ("@build $a:expr", "@build a.b", {"$a": "a.b"}),
        ("$a:expr", "@build a", None),
        ("$($k:ident: $v:expr),+ $(,)?", "a: 1, b: x[0],", {"$k": ["a", "b"], "$v": ["1", "x[0]"]}),
        ("$($k:ident),+", "", None),
        ("$($k:ident)|*", "a | b", {"$k": ["a", "b"]}),
        ("$a:ident $(as $b:ident)?", "x", {"$a": "x", "$b": []}),
        ("$a:ident $(as $b:ident)?", "x as y", {"$a": "x", "$b": ["y"]}),
        ("$($row:ident [$($x:expr),*]);*", "p [1, 2]; q []", {"$row": ["p", "q"], "$x": [["1", "2"], []]}),
        ("$t:ty, $($rest:tt)*", "HashMap<K, V>, a => (b, c)", {"$t": "HashMap<K, V>", "$rest": ["a", "=>", "(b, c)"]}),
        ("$p:pat => $e:expr", "Some(1..=3) | None => 0", {"$p": "Some(1..=3) | None", "$e": "0"}),
        ("$l:literal $n:literal", '-1 "a, b"', {"$l": "-1", "$n": '"a, b"'}),
        ("$v:vis fn $n:ident $b:block", "pub(crate) fn f { 1 }", {"$v": "pub(crate)", "$n": "f", "$b": "{ 1 }"}),
        ("$a:ident /* , */ $b:ident", "a // ,\n b", {"$a": "a", "$b": "b"}),
        ("($a:expr) [$b:expr]", "(1) [2]", {"$a": "1", "$b": "2"}),
        ("($a:expr)", "[1]", None),
        ("$l:lifetime $s:stmt", "'a let x = 1", {"$l": "'a", "$s": "let x = 1"}),
    ],
)
def test_what_metavariables_take(pattern: str, given: str, expected: dict[str, object] | None) -> None:
    assert taken(pattern, given) == expected
