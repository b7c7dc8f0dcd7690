"""The reader of plain TOML against ``tomllib``: the same value, or none at all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutile_lint.plain_toml import plain_toml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
KEYS = st.sampled_from(["a", "b", "a.b", "b.a", "a.b.c", '"a"', "'b' . c", '"a.b"', "1", "a-b_c"])
SCALARS = st.sampled_from(
    [
        '"x"',
        "'y'",
        '""',
        "''",
        '"""m"""',
        '"a\\"b"',
        "true",
        "false",
        "0",
        "-1",
        "+7",
        "01",
        "1_000",
        "1.5",
        "1979-05-27",
        "x",
        "inf",
    ]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: "[\n  " + ",  # why\n  ".join(items) + ",\n]"),
        st.lists(st.tuples(KEYS, inner), max_size=3).map(
            lambda pairs: "{ " + ", ".join(f"{key} = {value}" for key, value in pairs) + " }"
        ),
    ),
    max_leaves=6,
)
LINES = st.one_of(
    st.tuples(KEYS, VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    KEYS.map(lambda key: f"[{key}]"),
    KEYS.map(lambda key: f"[[{key}]]"),
    st.sampled_from(
        ["", "# a comment", "\t# another", "a = 1 # behind", "a = 1 b = 2", "= 1", "a =", "[a", "# \x01", "a = {b = 1,}"]
    ),
)


def agrees(text: str) -> bool:
    """Whether the text was read as plain; it must then be what ``tomllib`` makes of it, in the same order."""
    plain = plain_toml(text)
    if plain is not None:
        assert repr(plain) == repr(tomllib.loads(text))
    return plain is not None


@settings(max_examples=400, deadline=None)
@given(st.lists(LINES, max_size=8))
def test_it_reads_what_tomllib_reads_or_nothing(lines: list[str]) -> None:
    agrees("\n".join(lines))


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab01\"'[]{}=,.# \n\t\r-_+x", max_size=40))
def test_no_text_is_read_otherwise(text: str) -> None:
    agrees(text)


@pytest.mark.parametrize("manifest", sorted(ROOT.glob("rules/bases/**/Cargo.toml")), ids=lambda path: path.parts[-3])
def test_usual_manifests_are_plain(manifest: Path) -> None:
    assert agrees(manifest.read_text())


def test_every_part_that_is_read() -> None:
    assert agrees(
        '[package]\nname = "k"  # why\nedition.workspace = true\nversion.workspace = true\n\n'
        "[dependencies]\ncutile = { version = '=0.2.0', features = [\"a\", 'b'], path = \"..\" }\n"
        "[target.'cfg(unix)'.dependencies]\nlibc = '0.2'\n[profile.release]\nopt-level = 3\nlto = false\n[profile]\n"
        '[workspace]\nmembers = [\n  # all\n  "a",\n]\n'
    )


@pytest.mark.parametrize(
    "text", ["[[bin]]\nname = 'a'\n", "a = 1\na = 2\n", "a = '''\nb'''\n", "a = 1\r\n", "a = 1e5\n", "[a]\n[a]\n"]
)
def test_the_rest_is_left_to_tomllib(text: str) -> None:
    assert plain_toml(text) is None
