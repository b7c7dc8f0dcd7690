"""Expressions and patterns as the one tree has them."""

from __future__ import annotations

import pytest

from cutile_lint.frontends import syntax
from tests.frontends.rust.reading import body, module, show, text_of, value


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("8i32", "8i32"),
        ("0xff_u8", "255u8"),
        ("1_000", "1000"),
        ("0b1010", "10"),
        ("1.5e3f32", "1500.0f32"),
        ("2f64", "2.0f64"),
        ("'a'", "'a'"),
        ("b'a'", "97u8"),
        (r'"a\n\u{e9}"', r"'a\né'"),
        ('r#"a"b\\n"#', "'a\"b\\\\n'"),
        ('b"ab"', "b'ab'"),
        ("true", "True"),
        ("()", "tuple[]"),
        ("a::b::c", "a::b::c"),
        ("(((x)))", "x"),
        ("!a", "(not a)"),
        ("-1", "(- 1)"),
        ("&mut *x", "(&mut (* x))"),
        ("&*x", "(& (* x))"),
        ("a + b * c", "(a + (b * c))"),
        ("a + b + c", "((a + b) + c)"),
        ("a || b || c && d", "(a or b or (c and d))"),
        ("a <= b", "(a <= b)"),
        ("x as *mut c_void", "(x as *mut c_void)"),
        ("(0..n).step_by(g as usize)", "0..n.step_by((g as usize))"),
        ("..=n", "-..=n"),
        ("a[i]", "a[i]"),
        ("[1, 2]", "list[1, 2]"),
        ("[0; N]", "[0; N]"),
        ("(a, b,)", "tuple[a, b]"),
        ("f()?", "(? f())"),
        ("f().await", "(await f())"),
        ("block_id().0", "block_id().0"),
        ("assume_div_by::<_, 16>(p)", "assume_div_by::<_, 16>(p)"),
        ("f::<-1>(p)", "f::<-1>(p)"),
        ("x.cast::<u8>(1)", "x.cast::<u8>(1)"),
        ("Latency::<3>", "Latency::<3>"),
        ("None::<scope::TileBlock>", "None::<scope::TileBlock>"),
        ("Tensor::<E>::new(d.ptr)", "Tensor::<E>::new(d.ptr)"),
        ("S { a, b: 1, ..d }", "S{a: a, b: 1, ..: d}"),
        ("{ [BM, BK] }", "list[BM, BK]"),
        ("unsafe { f(x) }", "block([], f(x))"),
        ("{ let a = 1; a }", "block([let a = 1], a)"),
        ("if a { 1 } else if b { 2 } else { 3 }", "cond(a, 1, cond(b, 2, 3))"),
        ("if let Some(x) = y && z { x } else { 0 }", "cond(((y is Some[x]) and z), x, 0)"),
        ("match d { Ok(v) => v, Err(_) => return -4 }", "match(d, [Ok[v] => [result v], Err[_] => [return (- 4)]])"),
        (
            "match c { 0 | 1 if g => 4, 5..=7 => 1, -1 => 0, _ => 2 }",
            "match(c, [=0 | =1 if g => [result 4], =5..=7 => [result 1], =(- 1) => [result 0], _ => [result 2]])",
        ),
        (
            "match x { None => 0, rc::OK => 1, n @ 2.. => n, &P { a, b: (c, ..), .. } => c }",
            "match(x, [=None => [result 0], =rc::OK => [result 1], n@=2..- => [result n], "
            "P[..]{a: a, b: [c, ..]} => [result c]])",
        ),
        ("|a: i32, (b, c)| a + b", "fn(a, ) [tail (a + b)]"),
        ("move || { f(); 2 }", "fn() [f();, tail 2]"),
        ("x.unwrap_or_else(|| return)", "x.unwrap_or_else(fn() [return -])"),
        ("loop { break 1 }", "block([while True [break 1]], -)"),
        ("'o: loop { break 'o 1 }", "'o block([while True [break o 1]], -)"),
        ("async move { 1 }", "<async>"),
    ],
)
def test_expression(text: str, shown: str) -> None:
    assert show(value(text)) == shown


def test_a_path_with_generics_is_known_by_its_head() -> None:
    latency, token, method, trait = (
        value(text) for text in ("Latency::<3>", "None::<scope::TileBlock>", "Tensor::<E>::new", "<T as Trait>::f")
    )
    assert isinstance(latency, syntax.Name) and (latency.head, latency.last) == ("Latency", "Latency")
    assert isinstance(token, syntax.Name) and token.head == "None"
    assert isinstance(method, syntax.Name) and (method.head, method.last) == ("Tensor::new", "new")
    assert isinstance(trait, syntax.Name) and trait.head == "<T as Trait>::f"


def test_spans_are_bytes_of_the_file_and_transparent_parentheses_have_none() -> None:
    read = module("\ufeff// é\r\nfn f() -> i32 {\r\n\tlet é = (a.b)(c);\r\n\td\r\n}\r\n".encode())
    assert not read.faults
    call = next(node for node in read.walk() if isinstance(node, syntax.Call))
    assert text_of(read, call) == "(a.b)(c)"
    assert text_of(read, call.func) == "a.b"
    assert call.args_span is not None and read.source.slice(call.args_span) == "(c)"
    assert isinstance(call.func, syntax.Attr) and read.source.slice(call.func.name_span) == "b"
    assert read.source.position(call.span.start) == (3, 10)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("let mut a: i32 = 1;", ["let a = 1"]),
        ("let a;", ["let a = -"]),
        ("let (a, (b, _)) = t;", ["let tuple[a, tuple[b, _]] = t"]),
        ("let Some(x) = y else { return -1 };", ["let Some[x] = y else [return (- 1)]"]),
        ("let _ = x;", ["let _ = x"]),
        ("x += 1; a.b = c;", ["x += 1", "a.b = c"]),
        ("if a { f() } else if b { g(); } else { h() } 0", ["if a [f();] [if b [g();] [h();]]", "tail 0"]),
        ("while let Some(x) = it.next() { f(x); }", ["while (it.next() is Some[x]) [f(x);]"]),
        ("'l: for (i, x) in v { continue 'l; }", ["'l block([for tuple[i, x] in v [continue l]], -);"]),
        ("loop { break; } 1", ["while True [break -]", "tail 1"]),
        ("unsafe { f(); g() } 1", ["block([f();, g();], -);", "tail 1"]),
        (
            "match x { A => f(), _ => { if c { return 1; } } } 2",
            ["match x [=A => [result f()], _ => [if c [return 1] []]]", "tail 2"],
        ),
        ("match x { A => 1, _ => { f(); 2 } }", ["tail match(x, [=A => [result 1], _ => [f();, result 2]])"]),
        ("if a { 1 } else { f(); 2 }", ["tail cond(a, 1, block([f();], 2))"]),
        ("return 3", ["return 3"]),
        ("f(1 /* one */, // two\n 2)", ["tail f(1, 2)"]),
        (";;", []),
    ],
)
def test_statements(text: str, shown: list[str]) -> None:
    assert [show(statement) for statement in body(text)] == shown


def test_a_function_without_a_value_has_statements_to_its_end() -> None:
    shown = [show(statement) for statement in body("g(); if a { f() } else { unsafe { h() } }", returns="")]
    assert shown == ["g();", "if a [f();] [block([h();], -);]"]


def test_a_let_with_more_than_a_name_keeps_its_pattern() -> None:
    plain, pair = body("let mut a: Tile<E, { [B] }> = x; let (b, c) = y; 0")[:2]
    assert isinstance(plain, syntax.Assign) and isinstance(pair, syntax.Assign)
    assert (plain.annotation, plain.mutable, plain.pattern) == ("Tile<E, { [B] }>", True, None)
    assert pair.pattern is not None and pair.pattern.kind == "sequence"
