"""Suppression comments in both languages: what they cover, and that a mistake in one silences nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.engine.suppressions import Suppressions, read_suppressions
from cutile_lint.findings import Finding
from cutile_lint.sources import Place, Source, Span

KNOWN = {"CTL101": "CTL101", "fill-in-kernel-fn": "CTL101", "CTL102": "CTL102"}


def read(text: str | bytes, name: str = "op.py") -> Suppressions:
    data = text.encode() if isinstance(text, str) else text
    return read_suppressions(Source(Path("/tree", name), data), KNOWN.get)


def finding(source: Source, at: str, statement: str | None = None, code: str = "CTL101") -> Finding:
    def place(text: str) -> Place:
        start = source.data.index(text.encode())
        return Place(source, Span(start, start + len(text.encode())))

    return Finding(place(at), "said", code=code, statement=place(statement) if statement else None)


def silenced(text: str | bytes, at: str, statement: str | None = None, name: str = "op.py", code: str = "CTL101") -> bool:
    result = read(text, name)
    return result.silences(finding(result.source, at, statement, code))


CALL = "out = zeros(\n    n,\n    device=d,\n)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{CALL}\n", False),
        (f"{CALL}  # cutile-lint: ignore[CTL101]\n", True),
        (CALL.replace("zeros(", "zeros(  # cutile-lint: ignore[CTL101] reason"), True),
        (f"# cutile-lint: ignore[CTL101] the kernel adds into it\n{CALL}\n", True),
        (f"# cutile-lint: ignore[fill-in-kernel-fn]\n{CALL}\n", True),
        (f"# cutile-lint: ignore[CTL102, CTL101]\n{CALL}\n", True),
        (f"# cutile-lint:ignore[ CTL101 ]\n{CALL}\n", True),
        (f"# cutile-lint: ignore[CTL101]\n# about the buffer\n{CALL}\n", True),
        (f"# about the buffer\n# cutile-lint: ignore[CTL101]\n{CALL}\n", True),
        (f"x = 1  # type: ignore # cutile-lint: ignore[CTL101]\n{CALL}\n", False),
        (f"# cutile-lint: ignore[CTL101]\n\n{CALL}\n", False),
        (f"# cutile-lint: ignore[CTL102]\n{CALL}\n", False),
        (f"{CALL}\n# cutile-lint: ignore[CTL101]\n", False),
        (f"s = '# cutile-lint: ignore[CTL101]'; {CALL}\n", False),
        (CALL.replace("n,", "n,  # cutile-lint: ignore[CTL101]"), False),
    ],
)
@pytest.mark.parametrize("encode", ["lf", "crlf", "bom"])
def test_a_comment_covers_its_statement_in_python(text: str, expected: bool, encode: str) -> None:
    text = f"import a\n\n{text}"
    statement = CALL
    if encode == "crlf":
        text, statement = text.replace("\n", "\r\n"), CALL.replace("\n", "\r\n")
    # a comment inside the statement is part of it
    body = text[text.index("out =") : text.index("\n)") + 2]
    assert silenced(("\ufeff" if encode == "bom" else "") + text, "zeros", body or statement) is expected


def test_the_row_of_the_finding_counts_without_a_statement() -> None:
    text = "def f():\n    a(\n        zeros(),  # cutile-lint: ignore[CTL101]\n    )\n"
    assert silenced(text, "zeros()", "a(\n        zeros(),  # cutile-lint: ignore[CTL101]\n    )")
    assert silenced(text, "zeros()")


def test_a_comment_of_its_own_covers_no_statement_that_ends_below_it() -> None:
    text = "x = f(\n    zeros(),\n    # cutile-lint: ignore[CTL101]\n)\n"
    assert not silenced(text, "zeros()", text.rstrip())


def test_a_finding_in_a_cdef_string_is_suppressed_at_its_assignment() -> None:
    cdef = 'CDEF = """\nint32_t f(int32_t a);\n"""'
    assert silenced(f"{cdef}  # cutile-lint: ignore[CTL101]\n", "int32_t a", cdef)
    assert silenced(f"# cutile-lint: ignore[CTL101]\n{cdef}\n", "int32_t a", cdef)
    inside = 'CDEF = """\nint32_t f(int32_t a);  # cutile-lint: ignore[CTL101]\n"""'
    assert not silenced(inside, "int32_t a", inside)


RUST = "fn f() {\n    macro_rules! m {\n        ($E:ty) => {{\n            let t = borrow(d);MARK\n        }};\n    }\n}\n"


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        (" // cutile-lint: ignore[CTL101] why", True),
        (" /* cutile-lint: ignore[CTL101] */", True),
        (" // cutile-lint: ignore[CTL102]", False),
        ("\n            // cutile-lint: ignore[CTL101]", False),
        (' let s = "// cutile-lint: ignore[CTL101]";', False),
    ],
)
def test_comments_in_macro_bodies_count(mark: str, expected: bool) -> None:
    assert silenced(RUST.replace("MARK", mark), "borrow(d)", "let t = borrow(d);", name="ffi.rs") is expected


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        ("# cutile-lint: ignore-file[CTL101]\n", "op.py", True),
        ("#!/usr/bin/env python\n# licence\n\n# cutile-lint: ignore-file[CTL101] generated\n", "op.py", True),
        ('"""What it is."""\n\n# cutile-lint: ignore-file[CTL101]\n', "op.py", True),
        ("import a\n# cutile-lint: ignore-file[CTL101]\n", "op.py", False),
        ("# cutile-lint: ignore-file[CTL102]\n", "op.py", False),
        ("//! crate docs\n#![allow(dead_code)]\n// cutile-lint: ignore-file[CTL101]\n", "ffi.rs", True),
        ("use a::b;\n// cutile-lint: ignore-file[CTL101]\n", "ffi.rs", False),
    ],
)
def test_ignore_file_stands_in_the_head(head: str, name: str, expected: bool) -> None:
    result = read(f"{head}\n\nzeros();\n", name)
    assert result.silences(finding(result.source, "zeros")) is expected
    if not expected and "CTL101" in head:
        assert [item.message for item in result.mistakes] == [
            "`ignore-file` must stand in the head of the file, before its first statement"
        ]


@pytest.mark.parametrize(
    ("comment", "place", "message"),
    [
        ("# cutile-lint: ignore", "# cutile-lint: ignore", "`ignore` names no code; write `ignore[CTL101]`"),
        ("# cutile-lint: ignore[]", "# cutile-lint: ignore[]", "`ignore` names no code; write `ignore[CTL101]`"),
        ("# cutile-lint: ignore[CTL101", "# cutile-lint: ignore[CTL101", "`ignore` names no code; write `ignore[CTL101]`"),
        ("# cutile-lint: ignroe[CTL101]", "# cutile-lint: ignroe[CTL101]", "`ignroe` is no directive"),
        ("# cutile-lint: ignore[CTL1O1]", "CTL1O1", "`CTL1O1` is no rule's code or name"),
        ("# cutile-lint: ignore[CTL10]", "CTL10", "`CTL10` is no rule's code or name"),
        ("# cutile-lint: ignore[ALL]", "ALL", "`ALL` is no rule's code or name"),
        ("# é cutile # cutile-lint: ignore[CTL102,  ctl101 ]", "ctl101", "`ctl101` is no rule's code or name"),
    ],
)
def test_a_mistake_silences_nothing_and_is_told_with_its_place(comment: str, place: str, message: str) -> None:
    result = read(f"x = zeros()  {comment}\n")
    assert not result.silences(finding(result.source, "zeros()"))
    (mistake,) = result.mistakes
    assert mistake.message.startswith(message)
    assert mistake.place.text == place


def test_used_codes_are_marked_and_the_reason_is_kept() -> None:
    result = read("x = zeros()  # cutile-lint: ignore[CTL101, CTL102]: the kernel adds into it\n")
    assert result.silences(finding(result.source, "zeros()"))
    (item,) = result.items
    assert (item.codes, item.used, item.reason) == (("CTL101", "CTL102"), {"CTL101"}, "the kernel adds into it")


def test_files_without_the_mark_are_not_read(monkeypatch) -> None:
    def fail(source: Source) -> None:
        raise AssertionError("read")

    monkeypatch.setattr("cutile_lint.frontends.python.comments", fail)
    assert read("x = 1  # plain\n").items == []


@pytest.mark.parametrize(
    "text", ["", "# cutile-lint: ignore[CTL101]", "\ufeff# cutile-lint: ignore[CTL101]", "(\n# cutile-lint: ignore[CTL101]"]
)
def test_short_and_broken_files_are_read(text: str) -> None:
    assert len(read(text).items) == bool(text)


def test_other_files_have_none() -> None:
    assert read('{"a": "# cutile-lint: ignore[CTL101]"}', "analysis.json").items == []
