from __future__ import annotations

import ast
import random
import sys
import sysconfig
import warnings
from pathlib import Path

import pytest

from cutile_lint.frontends import syntax as s
from cutile_lint.frontends.python import MAX_BYTES, expressions, parse, statements
from cutile_lint.frontends.python.expressions import MAX_DEPTH
from cutile_lint.sources import Source, Span
from tests.frontends.python.corpus import STATEMENTS
from tests.frontends.python.spans import dump, source, wrong_spans

VARIANTS = {
    "lf": STATEMENTS.encode(),
    "crlf": STATEMENTS.replace("\n", "\r\n").encode(),
    "cr": STATEMENTS.replace("\n", "\r").encode(),
    "mixed": STATEMENTS.replace("\n", "\r\n", 30).encode(),
    "bom": b"\xef\xbb\xbf" + STATEMENTS.encode(),
    "bom crlf": b"\xef\xbb\xbf" + STATEMENTS.replace("\n", "\r\n").encode(),
    "bom code": b"\xef\xbb\xbf" + "é = f(ü.ß, f'{a.b}')\r\ng()".encode(),
}


def read(text: str | bytes) -> s.Module:
    module = parse(source(text))
    assert not module.faults and not module.refused
    return module


def value(text: str) -> s.Expr:
    statement = read(text).body[0]
    assert isinstance(statement, s.ExprStmt)
    return statement.value


def at(module: s.Module, span: Span | None) -> str:
    assert span is not None
    return module.source.slice(span)


# ── places ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_span_is_exact(variant: str) -> None:
    assert list(wrong_spans(read(VARIANTS[variant]))) == []


@pytest.mark.parametrize("name", ["bisect.py", "textwrap.py", "dis.py"])
def test_every_span_is_exact_in_the_standard_library(name: str) -> None:
    path = Path(sysconfig.get_path("stdlib")) / name
    assert list(wrong_spans(parse(Source(path, path.read_bytes())))) == []


@pytest.mark.parametrize("variant", ["crlf", "cr", "mixed", "bom", "bom crlf"])
def test_line_endings_do_not_change_the_tree(variant: str) -> None:
    module, plain = read(VARIANTS[variant]), read(VARIANTS["lf"])
    texts = {node.id for node in module.walk() if isinstance(node, s.Name)}
    assert texts == {node.id for node in plain.walk() if isinstance(node, s.Name)}
    assert [type(node) for node in module.walk()] == [type(node) for node in plain.walk()]


def test_names_arguments_and_decorators_have_their_own_places() -> None:
    module = read("@first\n@second(1)\ndef größe(a: int = 3, *, b=(4)): return (a . ñame # (\n )(1)\n")
    definition = module.body[0]
    assert isinstance(definition, s.FunctionDef)
    function = definition.function
    assert at(module, definition.span).startswith("@first")
    assert at(module, function.span).startswith("def größe")
    assert at(module, function.name_span) == "größe"
    assert [at(module, item.span) for item in function.decorators] == ["first", "second(1)"]
    assert [at(module, item.annotation_span) for item in function.params if item.annotation] == ["int"]
    leave = function.body[0]
    assert isinstance(leave, s.Return) and isinstance(leave.value, s.Call) and isinstance(leave.value.func, s.Attr)
    assert at(module, leave.value.args_span) == "(1)"
    assert at(module, leave.value.func.name_span) == "ñame"


def test_a_normalised_name_keeps_its_place() -> None:
    module = read("x.ﬁeld + 1")
    attribute = next(node for node in module.walk() if isinstance(node, s.Attr))
    assert attribute.name == "field" and at(module, attribute.name_span) == "ﬁeld"


def test_clauses_arms_and_items_start_at_their_keyword() -> None:
    module = read("[(forth) for (x) in y if z]\nmatch a:\n  case (1): pass\nwith (b) as c: pass\n")
    places = [at(module, node.span) for node in module.walk() if isinstance(node, (s.Clause, s.Arm, s.WithItem))]
    assert places == ["for (x) in y if z", "case (1): pass", "b) as c"]


# ── nodes ──────────────────────────────────────────────────────────────────


def test_calls_keep_arguments_in_source_order() -> None:
    call = value("f(1, k=2, *a, **b)")
    assert isinstance(call, s.Call)
    assert [(item.name, item.spread) for item in call.args] == [(None, ""), ("k", ""), (None, "*"), (None, "**")]


def test_a_chained_comparison_is_an_and() -> None:
    chain = value("0 < a <= b not in c")
    assert isinstance(chain, s.Logic) and chain.op == "and"
    assert [item.op for item in chain.items if isinstance(item, s.Compare)] == ["<", "<=", "not in"]


def test_adjacent_strings_are_one_constant() -> None:
    constant = value("'a' \"b\" '''c'''")
    assert isinstance(constant, s.Const) and constant.value == "abc"


def test_parameters_have_kinds_and_defaults() -> None:
    function = next(read("def f(a, /, b: int = 1, *c, d, e=2, **g) -> str: ...").functions())
    assert [(item.name, item.kind) for item in function.params] == [
        ("a", "positional_only"), ("b", "positional"), ("c", "*"), ("d", "keyword"), ("e", "keyword"), ("g", "**"),
    ]  # fmt: skip
    assert [item.name for item in function.params if item.default is not None] == ["b", "e"]
    assert function.params[1].annotation == "int" and function.returns == "str"


def test_only_a_yield_of_its_own_makes_a_generator() -> None:
    text = "def a():\n  yield\ndef b():\n  def c(): yield 1\n  lambda: (yield)\nasync def d(x=1): await (yield)\n"
    assert {item.name: item.is_generator for item in read(text).functions() if item.name} == {
        "a": True, "b": False, "c": True, "d": True,
    }  # fmt: skip


def test_imports_say_what_they_bind() -> None:
    body = read("import torch, a.b, a.b as c\nfrom . import n\nfrom ..m.k import n as o, p\nfrom q import *").body
    found = [(item.level, [(n.module, n.name, n.alias) for n in item.names]) for item in body if isinstance(item, s.Import)]
    assert found == [
        (0, [("torch", None, "torch"), ("a.b", None, ""), ("a.b", None, "c")]),
        (1, [("", "n", "n")]),
        (2, [("m.k", "n", "o"), ("m.k", "p", "p")]),
        (0, [("q", "*", "*")]),
    ]


def test_assignments() -> None:
    one, two, three, four = (item for item in read("a = b = 1\nc: int = 2\nd: str\ne @= 3").body if isinstance(item, s.Assign))
    assert len(one.targets) == 2 and not one.declares
    assert two.declares and two.annotation == "int" and two.value is not None
    assert three.declares and three.value is None
    assert four.op == "@"


def test_patterns() -> None:
    text = "match p:\n  case [1, *r] | None: pass\n  case P(x, y=_) as q: pass\n  case {'k': v, **m}: pass\n  case _ if g: pass"
    match = read(text).body[0]
    assert isinstance(match, s.Match)
    either, bound, mapping, wild = (arm.pattern for arm in match.arms)
    assert either.kind == "or" and [item.kind for item in either.items] == ["sequence", "value"]
    assert (bound.kind, bound.name, bound.items[0].kind, bound.items[0].name) == ("capture", "q", "constructor", "P")
    assert [name for name, _ in bound.items[0].fields] == ["y"]
    assert mapping.fields[0][0] == "'k'" and mapping.items[0].name == "m"
    assert wild.kind == "wildcard" and match.arms[3].guard is not None


def test_an_f_string_has_its_fields_in_order() -> None:
    text = "f'{{{a!r}}} \\N{EM DASH} {b[\"}\"]:>{width}}' rf'\\{c}' '{no}' f'''{\n d if e != f else {1: 2}[1]}{g=}'''"
    module = read(text)
    format = next(node for node in module.walk() if isinstance(node, s.Format))
    assert [at(module, item.span) for item in format.parts if not isinstance(item, s.Const)] == [
        "a", 'b["}"]', "c", "d if e != f else {1: 2}[1]", "g",
    ]  # fmt: skip
    assert list(wrong_spans(module)) == []


def test_docstrings_are_found() -> None:
    functions = read('def f():\n  "doc"\n  g()\ndef h(): f"no"').functions()
    assert [item.docstring for item in functions] == ["doc", ""]


NEW_SYNTAX = {
    (3, 11): ["try: pass\nexcept* A as e: pass", "a[*b]"],
    (3, 12): ["type X[T] = list[T]", "def f[T: int, *Ts, **P](a: T): pass", "class C[T]: pass", "f'{a['b']} {c # d\n}'"],
    (3, 14): ["t'{a!r:>3} é {b}'", "try: pass\nexcept A, B: pass"],
}


@pytest.mark.parametrize("text", [text for version, texts in NEW_SYNTAX.items() if sys.version_info >= version for text in texts])
def test_newer_syntax(text: str) -> None:
    module = read(text)
    assert module.body and list(wrong_spans(module)) == []


def test_every_node_type_of_this_python_is_known() -> None:
    def concrete(base: type) -> set[type]:
        # deprecated aliases of `Constant` and of subscripts are never made by the parser
        return {
            item
            for item in base.__subclasses__()
            if item.__module__ in ("ast", "_ast") and "deprecat" not in (item.__doc__ or "").lower()
        }

    parts = {ast.FormattedValue, getattr(ast, "Interpolation", ast.FormattedValue)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert concrete(ast.expr) - parts <= set(expressions._EXPRESSIONS)
        assert concrete(ast.stmt) <= set(statements._STATEMENTS)


# ── what does not parse ────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        ("é = f(ü b)\n", (1, 7), "invalid syntax"),
        ("\ufeffé = f(ü b)\n", (1, 7), "invalid syntax"),
        ("x = 1\r\ndef f(:\r\n", (2, 7), "invalid syntax"),
        ("x = (1\ny = 2\n", (1, 5), "never closed"),
        ("if a:\nb\n", (2, 1), "indented block"),
        ("x = 'abc\n", (1, 5), "unterminated string"),
        ("x = 1\ny = '\0'\n", (2, 6), "null bytes"),
        ("x = 1 +", (1, 8), "invalid syntax"),
        ("ü = 1; x = f'{a b}'\n", (1, 15), "f-string"),
    ],
)
def test_a_syntax_error_is_one_fault_at_its_place(text: str, place: tuple[int, int], part: str) -> None:
    module = parse(source(text))
    assert module.body == [] and module.refused == ""
    (fault,) = module.faults
    if not part.startswith("f-string") or sys.version_info < (3, 12):
        assert module.source.position(fault.span.start) == place and part in fault.message


@pytest.mark.parametrize("text", ["", "\ufeff", "\n", "# only\r\n", "\f"])
def test_empty_files(text: str) -> None:
    assert read(text).body == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1\n" * (MAX_BYTES // 6 + 1), "bytes"),
        ("# coding: latin-1\nx = 1\n", "latin-1"),
        ("#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n", "cp1252"),
        ("\ufeff# coding: latin-1\n", "latin-1"),
    ],
)
def test_refused_files_say_why(text: str, reason: str) -> None:
    module = parse(source(text))
    assert module.body == [] and module.faults == [] and reason in module.refused


@pytest.mark.parametrize(
    "text", ["# coding: utf8\nx", "# -*- coding: UTF-8-unix -*-\nx", "# coding: ascii\nx", "x\n\n# coding: latin-1\n"]
)
def test_other_encoding_comments_are_fine(text: str) -> None:
    assert read(text).body


@pytest.mark.parametrize(
    "text",
    [
        "x = " + " + ".join("a" * 3000),
        "x = a" + ".b" * 3000,
        "x = a" + "()" * 900,
        "x = " + "-" * 5000 + "1",
        "x = " + "lambda: " * 2000 + "1",
        "x = " + "1 if a else " * 2500 + "2",
        "if a: b\n" + "elif a: b\n" * 1500,
        "x = " + "not " * 100_000 + "1",
    ],
)
def test_too_deep_trees_are_refused(text: str) -> None:
    module = parse(source(text))
    assert module.refused and module.body == [] and module.faults == []


@pytest.mark.parametrize(
    "text",
    [
        "x = " + " + ".join("a" * (MAX_DEPTH - 10)),
        "if a: b\n" + "elif a: b\n" * (MAX_DEPTH - 10),
        "x = " + "(" * 150 + "1" + ")" * 150,
        "x = " + "[" * 100 + "1" + "]" * 100,
    ],
)
def test_ordinary_depth_is_read(text: str) -> None:
    assert len(read(text).body) == 1


def test_warnings_of_the_linted_code_are_not_ours() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dump(value('"\\d"')) == dump(value(r'"\\d"'))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_tree_made_with_one_of_another_time_is_the_same(variant: str) -> None:
    data = VARIANTS[variant]
    before = parse(source(data))
    rows = [[before.source.position(offset)[0] for offset in statement.span] for statement in before.body]
    for at in range(0, len(data), 97):
        for text in (data[:at] + b" " + data[at:], data[:at] + b"\nx = 1\n" + data[at:], data[:at] + data[at + 1 :]):
            try:
                changed = source(text)
            except UnicodeDecodeError:
                continue
            after, anew = parse(changed, before), parse(changed)
            assert dump(after.body) == dump(anew.body) and len(after.faults) == len(anew.faults)
            assert [node.span for node in after.walk()] == [node.span for node in anew.walk()]
            if not after.faults and text[at - 1 : at + 1] != b"\r\n":  # a line ending of its own has become half of another
                above = [number for number, statement in enumerate(before.body) if statement.span.end < at]
                last = rows[above[-1]][0] if above else 0  # it may have gone on, and those on its line with it
                assert all(after.body[number] is before.body[number] for number in above if rows[number][1] < last)


#: what a text may get anywhere, whole statements and pieces that break it
PIECES = (
    b"x", b"\n", b"    ", b"(", b")", b"'", b'"""', b"#", b"\\", b"\\\n", b"; y = 2", b"@f\n", b"def g():\n    return 1\n", b"\t", b"\r",
    b"else:\n    z\n", b"\x0c", "é".encode(), b"f'{x}'", b"class A:\n    def f(self):\n        return self\n", b"import q\n", b"\xef\xbb\xbf",
)  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(4))
def test_a_tree_that_was_made_from_tree_to_tree_is_the_same(variant: str, seed: int) -> None:
    chance = random.Random(seed)
    data = VARIANTS[variant]
    known = parse(source(data))
    for _ in range(60):
        at = chance.randrange(len(data) + 1)
        if chance.random() < 0.5:
            at = data.rfind(b"\n", 0, at) + 1
        text = data[:at] + chance.choice((b"", *PIECES)) + data[at + chance.choice((0, 0, 0, 1, 7, 90)) :]
        try:
            changed = source(text)
        except UnicodeDecodeError:
            continue
        after, anew = parse(changed, known), parse(changed)
        assert dump(after.body) == dump(anew.body)
        assert [node.span for node in after.walk()] == [node.span for node in anew.walk()]
        assert [(one.span, one.message) for one in after.faults] == [(one.span, one.message) for one in anew.faults]
        if not after.faults and not after.refused:
            data, known = text, after
