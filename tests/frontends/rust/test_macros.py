"""Code inside macros: bodies of ``macro_rules!`` and arguments of invocations, in place."""

from __future__ import annotations

import pytest

from cutile_lint.frontends import syntax
from tests.frontends.rust.reading import body, calls, macro, module, show, text_of, value

FIRST_GENERATION = """
pub unsafe extern "C" fn cutile_scale(out: *const TensorDesc, tile: i32, ctas: i32) -> i32 {
    let out_d = unsafe { &*out };
    // größer
    macro_rules! dispatch {
        ($E:ty) => {{
            let out_t = unsafe { borrow_tensor::<$E>(out_d) };
            let mut opts = CompileOptions::default();
            if ctas > 0 {
                opts = opts.num_cta_in_cga(ctas);
            }
            let op = unsafe { scale_kernel(&*out_t, 2) }
                .generics(vec![dty.to_string(), tile.to_string()])
                .compile_options(opts);
            match op.sync_on(&stream) {
                Ok(_) => 0,
                Err(e) => {
                    eprintln!("scale {} failed: {e:?}", tile);
                    -3
                }
            }
        }};
    }
    match dty { "f32" => dispatch!(f32), _ => -2 }
}
"""


def test_a_dispatch_macro_inside_an_export() -> None:
    read = module(FIRST_GENERATION)
    assert not read.faults
    definition = next(node for node in read.walk() if isinstance(node, syntax.MacroDef))
    (arm,) = definition.arms
    assert (definition.name, definition.exported, arm.block) == ("dispatch", False, True)
    assert [(one.name, one.fragment, one.repeated) for one in arm.variables] == [("$E", "ty", False)]
    assert [show(statement) for statement in arm.body] == [
        "let out_t = block([], borrow_tensor::<$E>(out_d))",
        "let opts = CompileOptions::default()",
        "if (ctas > 0) [opts = opts.num_cta_in_cga(ctas)] []",
        "let op = block([], scale_kernel((& (* out_t)), 2))"
        ".generics(vec!(dty.to_string(), tile.to_string())).compile_options(opts)",
        "result match(op.sync_on((& stream)), [Ok[_] => [result 0], "
        "Err[e] => [eprintln!('scale {} failed: {e:?}', tile);, result (- 3)]])",
    ]


def test_places_inside_macros_are_those_of_the_file() -> None:
    read = module(FIRST_GENERATION.replace("\n", "\r\n"))
    found = calls(read)
    assert text_of(read, found["borrow_tensor"]) == "borrow_tensor::<$E>(out_d)"
    assert text_of(read, found["tile.to_string"]) == "tile.to_string()"
    assert text_of(read, found["dispatch!"]) == "dispatch!(f32)"
    assert text_of(read, found["eprintln!"].args[1]) == "tile"
    options = found["opts.num_cta_in_cga"].func
    assert isinstance(options, syntax.Attr) and read.source.slice(options.name_span) == "num_cta_in_cga"
    for node in read.walk():
        assert 0 <= node.span.start <= node.span.end <= len(read.source.data)


def test_statements_and_values_of_helper_macros() -> None:
    setup = macro(
        "#[macro_export]\nmacro_rules! m { ($dev:ident, $id:expr) => { if ($id) < 0 { return $crate::rc::BAD; }"
        " let $dev = match Device::new(($id) as usize) { Ok(d) => d, Err(_) => return $crate::rc::BAD }; }; }"
    )
    assert setup.exported and not setup.arms[0].block
    assert [show(statement) for statement in setup.arms[0].body] == [
        "if ($id < 0) [return $crate::rc::BAD] []",
        "let $dev = match(Device::new(($id as usize)), [Ok[d] => [result d], Err[_] => [return $crate::rc::BAD]])",
    ]
    several = macro("macro_rules! m { () => { 1 }; ($a:literal) => ( $a + 1 ); [$a:expr; $b:expr] => [ f($a, $b) ]; }")
    assert [show(arm.body) for arm in several.arms] == ["[result 1]", "[result ($a + 1)]", "[result f($a, $b)]"]


def test_repetitions() -> None:
    descriptors = macro(
        "macro_rules! m { ($($p:ident),+ $(,)?) => {{ $( if $p.is_null() { return rc::NULL; } )+ unsafe { ($(&*$p),+) } }}; }"
    ).arms[0]
    assert [(one.name, one.repeated) for one in descriptors.variables] == [("$p", True)]
    assert [show(statement) for statement in descriptors.body] == [
        "$[if $p.is_null() [return rc::NULL] []]",
        "result block([], tuple[(*repeat (& (* $p)))])",
    ]
    by_type = macro(
        "macro_rules! m { ($d:expr, $f:ident, $($ty:ident),+) => { match $d { $( stringify!($ty) => $f!($ty), )+ _ => -2 } }; }"
    ).arms[0]
    assert [show(statement) for statement in by_type.body] == [
        "result match($d, [$=stringify!($ty) => [result $f!($ty)], _ => [result (- 2)]])"
    ]
    lists = macro("macro_rules! m { ($($a:expr),* $(; $b:expr)?) => { f(0, $($a),*, vec![$($a.len()),*]) }; }").arms[0]
    assert show(lists.body) == "[result f(0, (*repeat $a), vec!((*repeat $a.len())))]"
    total = macro("macro_rules! m { ($($a:expr),*) => { 0 $( + $a )* }; }").arms[0]
    assert show(total.body) == "[result (0 + (*repeat $a))]"
    chain = macro("macro_rules! m { ($($a:expr),*) => { new(0) $( .arg($a) )* .end() }; }").arms[0]
    assert show(chain.body) == "[result links(new(0), $().arg($a)).end()]"
    pairs = macro("macro_rules! m { ($($a:ident $b:expr),*) => { new(0) $( .$a().arg(1, $b) )* }; }").arms[0]
    assert show(pairs.body) == "[result links(new(0), $().$a().arg(1, $b))]"
    crossed = macro("macro_rules! m { ($($a:ident $($b:expr),*);*) => { new(0) $( .$a() $( .arg($b) )* )* .end() }; }").arms[0]
    assert show(crossed.body) == "[result <repetition>.end()]"
    nested = macro("macro_rules! m { ($($a:ident { $($b:expr),* });*) => { $( let $a = 1; $( f($b); )* )* }; }").arms[0]
    assert show(nested.body) == "[$[let $a = 1, $[f($b);]]]"


def test_fragments_that_are_no_identifier() -> None:
    arm = macro(
        "macro_rules! m { ($v:vis, $l:lifetime, $b:block, $s:stmt, $p:pat, $i:item) => {"
        " $v fn f<$l>(x: &$l u8) {} $i $s if x $b match y { $p => 1, _ => 2 } }; }"
    ).arms[0]
    assert [show(statement) for statement in arm.body] == [
        "fn f",
        "$i;",
        "$s;",
        "if x [$b;] []",
        "result match(y, [=$p => [result 1], _ => [result 2]])",
    ]


def test_a_macro_in_a_macro_keeps_its_own_variables() -> None:
    inner = macro("macro_rules! outer { ($a:expr) => { macro_rules! m { ($b:ty) => { f::<$b>($a) }; } m!(u8) }; }")
    assert [one.name for one in inner.arms[0].variables] == ["$b"]
    assert show(inner.arms[0].body) == "[result f::<$b>($a)]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("const_shape![BM, BK]", "const_shape!(BM, BK)"),
        ("const_array![0, 2, 1]", "const_array!(0, 2, 1)"),
        ("crate::compile_options!(occupancy, num_cta_in_cga)", "crate::compile_options!(occupancy, num_cta_in_cga)"),
        ("vec![dty.to_string(), // type\n bm.to_string(),]", "vec!(dty.to_string(), bm.to_string())"),
        ("vec![v; n]", "vec!([v; n])"),
        ("vec![]", "vec!()"),
        ("matches!(x, 0 | 1)", "(x is =0 | =1)"),
        ("matches!(f(a, b), Some(y) if y > 1,)", "(f(a, b) is Some[y] if (y > 1))"),
        ('format!("{a} {}", x, width = w)', "format!('{a} {}', x, width=w)"),
        ("m!(m!(m!(a + 1)))", "m!(m!(m!((a + 1))))"),
        ("m!(Vec<T>, a + 1, &'static str)", "m!(<type>, (a + 1), <type>)"),
        ("m!(#a, b)", "m!(<tokens>, b)"),
        ("m!(a => b, c)", "m!(<tokens>, c)"),
        ("m!(if)", "m!(<tokens>)"),
        ("m! { let a = f(); a }", "m!(block([let a = f()], a))"),
        ("m!({ f(); 1 })", "m!(block([f();], 1))"),
        ("m!(|x| x + 1)", "m!(fn(x) [tail (x + 1)])"),
        ("m!(true, 1u32, self.x)", "m!(True, 1u32, self.x)"),
        ("m!( // nothing\n )", "m!()"),
    ],
)
def test_arguments(text: str, shown: str) -> None:
    assert show(value(text)) == shown


def test_opaque_arguments_have_their_text() -> None:
    read = module("fn f() { m!( Vec<T> , #[x] 3 ); }")
    texts = [text_of(read, node) for node in read.walk() if isinstance(node, syntax.Opaque)]
    assert texts == ["Vec<T>"]


def test_invocations_in_item_position() -> None:
    read = module('include!("kernel.rs");\nthread_local! { static X: i32 = f(1) }\nm! { a b c }\n')
    assert not read.faults
    assert [show(statement) for statement in read.body] == [
        "include!('kernel.rs');",
        "thread_local!(block([let X = f(1)], -));",
        "m!(<tokens>);",
    ]


def test_macro_syntax_is_no_fault() -> None:
    read = module("macro_rules! m { ($($t:tt)*) => { $($t)* + ; let = ; @ $($t);+ }; () => {} }\nfn f() { m!(let = ; +); }")
    assert not read.faults
    assert [show(statement) for statement in read.body][-1] == "fn f"


def test_statement_macros() -> None:
    assert [show(statement) for statement in body("m!(a); m! { b } m!(c)")] == ["m!(a);", "m!(b);", "tail m!(c)"]
