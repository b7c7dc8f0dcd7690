"""Where ``add-ignore`` puts its comments: the row that silences, in a place where the language takes a comment."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.engine.suppressions import read_suppressions
from cutile_lint.findings import Finding, Fix
from cutile_lint.fixes.apply import apply
from cutile_lint.fixes.suppress import plan
from cutile_lint.sources import Place, Source, Span


def finding(source: Source, at: str, statement: str = "", code: str = "CTL101") -> Finding:
    def place(text: str) -> Place:
        start = source.data.index(text.encode())
        return Place(source, Span(start, start + len(text.encode())))

    return Finding(place(at), "said", code=code, statement=place(statement) if statement else None)


def added(name: str, text: str, *asked: tuple[str, ...], reason: str = "") -> str:
    """The text with the comments for findings given as (place, statement, code); every one of them is then silenced."""
    source = Source(Path("/tree", name), text.encode())
    made = plan([finding(source, *parts) for parts in asked], reason)
    assert not made.refused
    after = apply([Fix("", (edit,)) for edit in made.edits], {source.path: source.data})[source.path]
    fresh = Source(source.path, after)
    silencers = read_suppressions(fresh, lambda code: code)
    for at, statement, *code in asked:
        whole = statement if statement and statement.encode() in after else at
        assert silencers.silences(finding(fresh, at, whole, *code)), (at, after.decode())
    return after.decode()


CDEF = 'CDEF = """\nint32_t f(int a,\n  int occupancy);  # not a comment\n"""'


@pytest.mark.parametrize(
    ("text", "at", "statement", "expected"),
    [
        ("x = zeros(1)", "zeros(1)", "", "x = zeros(1)  # cutile-lint: ignore[CTL101]"),
        ("x = zeros(1)  # é\r\n", "zeros(1)", "", "x = zeros(1)  # é  # cutile-lint: ignore[CTL101]\r\n"),
        ("\ufeffx = zeros(1)\n", "zeros", "", "\ufeffx = zeros(1)  # cutile-lint: ignore[CTL101]\n"),
        (f"{CDEF}\n", "int occupancy", CDEF, f"{CDEF}  # cutile-lint: ignore[CTL101]\n"),
        (
            f"\t{'a' * 90} = zeros(1)\n".replace("\t", "if 1:\n\t"),
            "zeros",
            "",
            f"if 1:\n\t# cutile-lint: ignore[CTL101]\n\t{'a' * 90} = zeros(1)\n",
        ),
        ("x = 1 + \\\n  zeros(2) + \\\n  3\n", "zeros", "x = 1 + \\\n  zeros(2) + \\\n  3",
         "x = 1 + \\\n  zeros(2) + \\\n  3  # cutile-lint: ignore[CTL101]\n"),
        ("x = zeros('''a\n''')\n", "zeros", "x = zeros('''a\n''')", "x = zeros('''a\n''')  # cutile-lint: ignore[CTL101]\n"),
        ("x = zeros(1)   \t\n", "zeros", "", "x = zeros(1)  # cutile-lint: ignore[CTL101]\n"),
    ],
)  # fmt: skip
def test_python(text: str, at: str, statement: str, expected: str) -> None:
    assert added("a.py", text, (at, statement)) == expected


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("let x = f(1);\n", "f(1)", "let x = f(1); // cutile-lint: ignore[CTL101]\n"),
        ("f(1); /* é */\n", "f(1)", "f(1); /* é */ // cutile-lint: ignore[CTL101]\n"),
        ('f(1, "a\n b");\n', "f(1", '// cutile-lint: ignore[CTL101]\nf(1, "a\n b");\n'),
        ("macro_rules! m {\n    ($E:ty) => {{\n        f(1)\n    }};\n}\n", "f(1)",
         "macro_rules! m {\n    ($E:ty) => {{\n        f(1) // cutile-lint: ignore[CTL101]\n    }};\n}\n"),
        ("f(1) /* a\n b */;\n", "f(1)", "// cutile-lint: ignore[CTL101]\nf(1) /* a\n b */;\n"),
    ],
)  # fmt: skip
def test_rust(text: str, at: str, expected: str) -> None:
    assert added("a.rs", text, (at, "")) == expected


def test_one_comment_names_all_codes_of_a_row_and_grows_an_existing_one() -> None:
    text = "x = zeros(ones(1))\n"
    assert (
        added("a.py", text, ("zeros", "", "CTL102"), ("ones", "", "CTL101"), reason="for now")
        == "x = zeros(ones(1))  # cutile-lint: ignore[CTL101, CTL102] for now\n"
    )
    text = "x = zeros(1)  # cutile-lint: ignore[CTL102] why\n"
    assert added("a.py", text, ("zeros", "", "CTL101")) == "x = zeros(1)  # cutile-lint: ignore[CTL102, CTL101] why\n"
    text = "# cutile-lint: ignore[CTL102]\nx = zeros(1)\n"
    assert added("a.py", text, ("zeros", "", "CTL101")) == "# cutile-lint: ignore[CTL102, CTL101]\nx = zeros(1)\n"


def test_where_no_comment_silences_nothing_is_written() -> None:
    manifest = Source(Path("/tree/Cargo.toml"), b'cutile = "0.1"\n')
    string = Source(Path("/tree/a.py"), b'x = """\nzeros\n"""\n')
    made = plan([finding(manifest, "cutile"), finding(string, "zeros")])
    assert made.edits == [] and len(made.refused) == 2
