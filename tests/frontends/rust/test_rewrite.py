"""Edits of Rust text."""

from __future__ import annotations

import pytest

from cutile_lint.findings import Edit
from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust import parse, rewrite
from cutile_lint.sources import Source
from tests.frontends.rust.reading import source


def applied(text: Source, *edits: Edit) -> str:
    data = text.data
    for edit in sorted(edits, key=lambda one: one.start, reverse=True):
        data = data[: edit.start] + edit.content.encode() + data[edit.end :]
    return data.decode()


def at(text: Source, snippet: str) -> rewrite.Span:
    start = text.data.index(snippet.encode())
    return rewrite.Span(start, start + len(snippet.encode()))


CODE = "fn f() {\r\n\té();\r\n    a(); // why\r\n    b(); c();\r\n    d()\r\n}"


def test_replace_and_insert_keep_line_endings_and_indentation() -> None:
    text = source(CODE)
    assert "x(\r\n1)" in applied(text, rewrite.replace(text, at(text, "a();"), "x(\n1)"))
    assert "\tnew();\r\n\té();" in applied(text, rewrite.insert_before(text, at(text, "é();"), "new();"))
    assert "a(); // why\r\n    if x {\r\n        y();\r\n    }\r\n    b();" in applied(
        text, rewrite.insert_after(text, at(text, "a();"), "if x {\n    y();\n}")
    )
    assert "b(); new(); c();" in applied(text, rewrite.insert_after(text, at(text, "b();"), "new();"))
    assert "b(); new(); c();" in applied(text, rewrite.insert_before(text, at(text, "c();"), "new();"))


@pytest.mark.parametrize(
    ("snippet", "left", "drops"),
    [
        ("é();", "fn f() {\r\n    a(); // why\r\n", False),
        ("a();", "\té();\r\n    b(); c();\r\n", True),
        ("b();", "    c();\r\n    d()", False),
        ("c();", "    b();\r\n    d()", False),
        ("d()", "    b(); c();\r\n}", False),
    ],
)
def test_delete(snippet: str, left: str, drops: bool) -> None:
    text = source(CODE)
    deletion = rewrite.delete(text, at(text, snippet))
    assert left in applied(text, deletion.edit)
    assert deletion.drops_comment is drops


def test_delete_at_the_edges_of_a_file() -> None:
    text = source("a();\nb( // in\n);")
    deletion = rewrite.delete(text, at(text, "b( // in\n);"))
    assert applied(text, deletion.edit) == "a();" and deletion.drops_comment
    bom = source("\ufeffa();\nb();")
    assert applied(bom, rewrite.delete(bom, at(bom, "a();")).edit) == "\ufeffb();"


@pytest.mark.parametrize(
    ("chain", "result"),
    [
        ("k(a).grid(g)", "k(a).grid(g).opts(o)"),
        (
            "unsafe { k(a) }\n        .generics(v)\n        .grid(\n            g,\n        )",
            "unsafe { k(a) }\n        .generics(v)\n        .grid(\n            g,\n        )\n        .opts(o)",
        ),
        ("k(\n        a,\n    )", "k(\n        a,\n    ).opts(o)"),
        ("k(a)?", "k(a)?.opts(o)"),
        ("k", "k.opts(o)"),
        ("&k", "(&k).opts(o)"),
        ("a + b", "(a + b).opts(o)"),
    ],
)
def test_append_call(chain: str, result: str) -> None:
    for newline in ("\n", "\r\n"):
        text = source(f"fn f() {{\n    let op = {chain};\n}}\n".replace("\n", newline))
        let = next(node for node in parse(text).walk() if isinstance(node, syntax.Assign))
        assert let.value is not None
        edited = applied(text, *rewrite.append_call(text, let.value, ".opts(o)"))
        assert edited == f"fn f() {{\n    let op = {result};\n}}\n".replace("\n", newline)
