"""Whole files: syntax errors, limits, comments."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust import comments
from tests.frontends.rust.reading import module, show, source


def test_each_error_has_its_place_and_the_rest_is_read() -> None:
    read = module("fn a() { let x = ; }\nfn b() -> i32 { f(1, , 2) }\nfn c() -> i32 { g() }\n")
    assert [read.source.position(fault.span.start)[0] for fault in read.faults] == [1, 2]
    assert all(fault.message.startswith("syntax error") for fault in read.faults)
    assert [function.name for function in read.functions()] == ["a", "b", "c"]
    assert [show(node.func) for node in read.walk() if isinstance(node, syntax.Call)] == ["f", "g"]


def test_a_missing_token_is_named() -> None:
    (fault,) = module("fn a() { f(1) ; let x = 1 }\n").faults
    assert fault.message == "syntax error: missing `;`"


def test_an_unclosed_file_is_still_read() -> None:
    read = module("use a::b;\nfn a() { f(1);\n")
    assert read.faults and isinstance(read.body[0], syntax.Import)


def test_valid_rust_that_the_grammar_lacks_is_no_fault() -> None:
    read = module("fn f(x: Tensor<E, -1, -1>) -> i32 { g::<_, -1>(..=n) }")
    assert not read.faults
    assert show(read.body[0]) == "fn f"


@pytest.mark.parametrize("text", [b"", b"\xef\xbb\xbf", b"\r\n\r\n", b"// only\n", b"#![allow(dead_code)]\n"])
def test_files_without_items(text: bytes) -> None:
    read = module(text)
    assert (read.body, read.faults, read.refused) == ([], [], "")


def test_nul_bytes_are_a_fault() -> None:
    read = module(b"fn f() { \0 }\nfn g() {}\n")
    assert read.faults and [function.name for function in read.functions()] == ["f", "g"]


@pytest.mark.parametrize(
    "text",
    [
        b"fn f() { let x = " + b"(" * 20_000 + b")" * 20_000 + b"; }",
        b"fn f() { m!" + b"[" * 20_000 + b"]" * 20_000 + b"; }",
        b"{" * 20_000,
        b"fn f() { " + b"-" * 20_000 + b"x; }",
        b"fn f() { a" + b".b()" * 5_000 + b"; }",
        b"fn f() { a" + b" + b" * 20_000 + b"; }",
        b"fn f() { if a {}" + b" else if b {}" * 5_000 + b" }",
        b"//" + b"x" * 2_000_001,
        b"static A: [u8; 1] = [" + b"1," * 250_000 + b"];",
    ],
    ids=["parentheses", "macro", "open", "unary", "chain", "sum", "else-if", "bytes", "nodes"],
)
def test_beyond_the_limits_is_refused(text: bytes) -> None:
    read = module(text)
    assert read.refused and read.body == []


def test_long_but_ordinary_code_is_read() -> None:
    read = module("fn f() -> bool { a" + " || b" * 400 + " }\nfn g() { x" + ".y()" * 60 + "; }\n")
    assert not read.refused and [function.name for function in read.functions()] == ["f", "g"]


COMMENTED = """// head
fn f<'a>(x: &'a str /* inline /* nested */ */) {
    let s = "// no"; let r = r#"/* no " */"#; let c = '"'; let q = '\\''; let b = b"//"; // yes
    macro_rules! m { ($a:expr) => {{ // in a body
        g($a, "\\"//"); /// doc
    }}; }
    m!(x, // in arguments
       y);
}
// größe"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_comments(newline: str) -> None:
    text = source(COMMENTED.replace("\n", newline))
    found = comments(text)
    assert [comment.text for comment in found] == [
        "// head",
        "/* inline /* nested */ */",
        "// yes",
        "// in a body",
        "/// doc",
        "// in arguments",
        "// größe",
    ]
    assert all(text.slice(comment.span) == comment.text for comment in found)


def test_comments_of_odd_text() -> None:
    assert comments(source("")) == []
    assert [comment.text for comment in comments(source("/* open"))] == ["/* open"]
    assert [comment.text for comment in comments(source("let a: &'static u8; // c"))] == ["// c"]


_PIECES = [
    "macro_rules! m { ($a:expr) => {{ ",
    "$a",
    "$( ",
    " )*",
    "}}; }",
    "fn f() { ",
    " }",
    "m!(",
    ")",
    "let x = ",
    ";",
    "match ",
    " => ",
]
_PIECES += [
    "if ",
    "else ",
    "é",
    '"',
    "'a",
    "\\",
    "/*",
    "*/",
    "//",
    "\n",
    "\r\n",
    "#[a(b = (c",
    "vec![",
    "]",
    "1..",
    "|x| ",
    "::<",
    ">",
    "\0",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=24).map("".join))
def test_any_text_is_read_and_its_places_are_inside(text: str) -> None:
    read = module(text)
    size = len(read.source.data)
    places = [node.span for node in read.walk()] + [fault.span for fault in read.faults]
    assert all(0 <= place.start <= place.end <= size for place in places)
    assert all(read.source.slice(comment.span) == comment.text for comment in comments(read.source))
