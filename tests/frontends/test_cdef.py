"""C declarations of a cdef text: the plain shape and pycparser's reading agree, faults have a place, places lie in the Python literal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cutile_lint.frontends import cdef
from cutile_lint.sources import Place, Source, Span

PLAIN = """
int32_t cutile_gemm(
    const TensorDesc* c, const TensorDesc *a,
    int32_t bm, float alpha, uint64_t raw_stream);
"""


def shown(text: str) -> list[tuple[str, str, list[tuple[str, str]]]]:
    found = cdef.parse(text)
    assert found.fault is None
    return [(one.name, one.returns, [(param.name, param.type) for param in one.params]) for one in found.functions]


def test_the_plain_shape() -> None:
    params = [
        ("c", "const TensorDesc *"),
        ("a", "const TensorDesc *"),
        ("bm", "int32_t"),
        ("alpha", "float"),
        ("raw_stream", "uint64_t"),
    ]
    assert shown(PLAIN) == [("cutile_gemm", "int32_t", params)]


def test_both_readers_agree() -> None:
    text = PLAIN + "\nvoid cutile_reset(void);\nunsigned long long cutile_size(const char* name);"
    plain = cdef.parse(text)
    parsed = cdef._parsed(text)
    assert parsed.fault is None
    assert [one.name for one in parsed.functions] == [one.name for one in plain.functions]
    for one, other in zip(plain.functions, parsed.functions, strict=True):
        assert one.returns == other.returns
        assert [(param.name, param.type, param.name_span) for param in one.params] == [
            (param.name, param.type, param.name_span) for param in other.params
        ]


def test_the_plain_shape_needs_no_parser() -> None:
    code = f"import sys; from cutile_lint.frontends import cdef; cdef.parse({PLAIN!r}); assert 'pycparser' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_comments_defines_and_several_declarations() -> None:
    text = "/* one, two; */\n#define N 5\nint f(int32_t a /* the a */, // b)\n      int32_t b);\nint g();"
    assert shown(text) == [("f", "int", [("a", "int32_t"), ("b", "int32_t")]), ("g", "int", [])]


def test_what_only_the_parser_reads() -> None:
    text = "typedef struct { int64_t n; } Extra;\nint f(const Extra* e, int32_t sizes[4], int (*done)(int), double);"
    assert shown(text) == [("f", "int", [("e", "const Extra *"), ("sizes", "int32_t *"), ("done", "function *"), ("", "double")])]


def test_a_name_made_by_typedef_is_the_type_it_stands_for() -> None:
    text = (
        "typedef TensorDesc td; typedef const td* desc_t; typedef int32_t rc_t; typedef struct { int n; } Extra; typedef Extra *extra_t;\n"
        "typedef enum { FINE, WRONG = -1 } code_t;\nrc_t f(desc_t x, const td *y, const desc_t *z, extra_t e, const extra_t c, code_t d);"
    )
    assert shown(text) == [
        (
            "f",
            "int32_t",
            [
                ("x", "const TensorDesc *"),
                ("y", "const TensorDesc *"),
                ("z", "const TensorDesc **"),
                ("e", "Extra *"),
                ("c", "Extra *"),
                ("d", "enum"),
            ],
        )
    ]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("int32_t f(int32_t a, int32_t b", None),
        ("int32_t f(int32_t a;", ";"),
        ("int32_t f(foo_t a);", "a"),
        ("garbage", None),
        ("int f(int a,);", None),
        ("(" * 20_000, None),
        ("int f(int é);", None),
    ],
)
def test_a_fault_is_told_and_has_a_place(text: str, at: str | None) -> None:
    found = cdef.parse(text)
    assert found.functions == []
    assert found.fault is not None
    assert found.fault.message
    assert found.fault.message[0] not in " :"
    assert 0 <= found.fault.span.start <= found.fault.span.end <= len(text)
    if at is not None:
        assert text[found.fault.span.start : found.fault.span.end] == at


def test_no_text_declares_nothing() -> None:
    assert cdef.parse("").functions == []
    assert cdef.parse("  \n").fault is None


def place_of_second(literal: str, value: str, before: str = "CDEF = ") -> str:
    data = (before + literal).encode()
    source = Source(Path("w.py"), data)
    start = len(before.encode())
    place = Place(source, Span(start, len(data)))
    param = cdef.parse(value).functions[0].params[1]
    return cdef.text_place(place, value, param.span).text


def test_places_inside_the_literal() -> None:
    text = "/* größe */ int f(int a,\n    int b);"
    assert place_of_second(f'"""{text}"""', text) == "int b"
    assert place_of_second(f"'''{text}'''".replace("\n", "\r\n"), text) == "int b"


@pytest.mark.parametrize(
    "literal", [r'"int f(int a,\n int b);"', '"int f(int a,"\n"\\n int b);"', 'f"""int f(int a,\n int b);"""']
)
def test_a_literal_that_is_not_the_text_is_the_place(literal: str) -> None:
    assert place_of_second(literal, "int f(int a,\n int b);") == literal


def test_a_parameter_without_a_type_is_a_fault() -> None:
    found = cdef.parse("int f(int a);\nint g(b);")
    assert not found.functions and found.fault is not None
    assert found.fault.message == "parameter `b` has no type"
    assert (found.fault.span.start, found.fault.span.end) == (20, 21)
