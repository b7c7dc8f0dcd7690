from __future__ import annotations

import io
import tokenize

import pytest

from cutile_lint.frontends.python import comments
from tests.frontends.python.corpus import STATEMENTS
from tests.frontends.python.spans import source


def texts(text: str | bytes) -> list[str]:
    return [item.text for item in comments(source(text))]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_the_tokenizer_finds_the_same(newline: str, bom: str) -> None:
    tokens = tokenize.generate_tokens(io.StringIO(STATEMENTS).readline)
    wanted = [(*item.start, item.string) for item in tokens if item.type == tokenize.COMMENT]
    read = source(bom + STATEMENTS.replace("\n", newline))
    found = [(row, column - 1, item.text) for item in comments(read) for row, column in [read.position(item.span.start)]]
    assert found == wanted
    assert all(read.slice(item.span) == item.text for item in comments(read))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = '#no' # yes", ["# yes"]),
        ("x = '\\'#no' # é", ["# é"]),
        ("x = r'\\' # no'  # yes", ["# yes"]),
        ('"""a\n# no "" \\"""\n""" # yes', ["# yes"]),
        ("x = '' # one\ny = '''''' # two", ["# one", "# two"]),
        ("x = 'a\\\r\n# no' # yes", ["# yes"]),
        ("f'{a:#x} {b!r:#>{w}}' # yes", ["# yes"]),
        ("f'{a[\"#\"]} {{#' # yes", ["# yes"]),
        ("rf'\\{a}#' # yes", ["# yes"]),
        ("f'\\N{DASH}#' # yes", ["# yes"]),
        ("f'{a['#']}' # yes", ["# yes"]),  # Python 3.12
        ("f'{a # in\n}' # yes", ["# in", "# yes"]),  # Python 3.12
        ("#", ["#"]),
        ("", []),
        ("# last\r\n", ["# last"]),
    ],
)
def test_strings_do_not_count(text: str, wanted: list[str]) -> None:
    assert texts(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = 'open # no\n# yes", ["# yes"]),
        ("def f(: # one\n  ] # two", ["# one", "# two"]),
        ("f'{a # no\n# yes", ["# yes"]),
        ("# yes\n'''open\n# no", ["# yes"]),
        ("\tif a:\n  b # yes\n c # too", ["# yes", "# too"]),
    ],
)
def test_broken_files_give_what_can_be_read(text: str, wanted: list[str]) -> None:
    assert texts(text) == wanted
