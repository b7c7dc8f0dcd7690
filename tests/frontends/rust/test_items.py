"""Items: the exports, entries and modules of a crate."""

from __future__ import annotations

import pytest

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust.attributes import settings
from tests.frontends.rust.reading import module, show

EXPORT = """
use core::ffi::c_void;
use crate::ffi_util::{self, TensorDesc as Desc, rc::*};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_scale(
    // out and in
    out: *const Desc,
    mut block: i32,
    (lo, hi): (i32, i32),
    _: u64,
) -> i32 {
    0
}
"""


def _function(text: str) -> syntax.Function:
    return next(iter(module(text).functions()))


def test_an_export() -> None:
    read = module(EXPORT)
    function = next(read.functions())
    assert (function.name, function.abi, function.returns, function.is_public) == ("cutile_scale", "C", "i32", True)
    assert [(attribute.path, attribute.bare, attribute.text) for attribute in function.attributes] == [
        ("unsafe", False, "no_mangle")
    ]
    assert [(param.name, param.annotation) for param in function.params] == [
        ("out", "*const Desc"),
        ("block", "i32"),
        ("", "(i32, i32)"),
        ("_", "u64"),
    ]
    first = function.params[0]
    assert first.annotation_span is not None and read.source.slice(first.annotation_span) == "*const Desc"
    assert function.name_span is not None and read.source.slice(function.name_span) == "cutile_scale"
    pattern = function.params[2].pattern
    assert pattern is not None and show(pattern) == "[lo, hi]"


def test_imports_are_flat() -> None:
    names = [name for statement in module(EXPORT).body if isinstance(statement, syntax.Import) for name in statement.names]
    assert [(name.module, name.name, name.alias) for name in names] == [
        ("core::ffi", "c_void", "c_void"),
        ("crate", "ffi_util", "ffi_util"),
        ("crate::ffi_util", "TensorDesc", "Desc"),
        ("crate::ffi_util::rc", "*", "*"),
    ]


def test_entry_settings_are_nested() -> None:
    function = _function(
        "#[cutile::entry(print_ir = false, optimization_hints = (sm_100 = (occupancy = 1, num_cta_in_cga = 2,),), "
        'dump_mlir_dir = "a,b", preconditions = [x > 0, y], unchecked_accesses)]\n'
        "fn entry<'a, E: ElementType, const BM: i32>(x: &'a Tensor<E, { [-1, -1] }>) where E: Copy {}"
    )
    (attribute,) = function.attributes
    assert attribute.path == "cutile::entry" and not attribute.bare
    assert attribute.settings == {
        "print_ir": False,
        "optimization_hints": {"sm_100": {"occupancy": 1, "num_cta_in_cga": 2}},
        "dump_mlir_dir": "a,b",
        "preconditions": "[x > 0, y]",
        "unchecked_accesses": True,
    }
    assert [(generic.name, generic.kind, generic.bound) for generic in function.generics] == [
        ("'a", "lifetime", ""),
        ("E", "type", "ElementType + Copy"),
        ("BM", "const", "i32"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("a = -1", {"a": -1}),
        ("a = 8i32, b = ()", {"a": 8, "b": {}}),
        ("a = (1, 2)", {"a": "(1, 2)"}),
        ("a = 1.5 // no, = (\n, b", {"a": "1.5", "b": True}),
        ("= , )", {"": ""}),
        ("a = (b = (c", {"a": {"b": "(c"}}),
    ],
)
def test_settings_of_any_text(text: str, expected: dict[str, object]) -> None:
    assert settings(text) == expected


def test_bare_entry() -> None:
    (attribute,) = _function("#[cutile::entry]\nfn entry() {}").attributes
    assert attribute.bare and attribute.settings == {}


def test_modules_and_includes() -> None:
    outer, inline = module('#[path = "../ffi_util.rs"]\nmod ffi_util;\n\nmod scale { include!("../scale/ffi.rs"); }\n').body
    assert isinstance(outer, syntax.ModuleDef) and (outer.name, outer.body, outer.path) == ("ffi_util", None, "../ffi_util.rs")
    assert isinstance(inline, syntax.ModuleDef) and inline.body is not None
    assert [show(statement) for statement in inline.body] == ["include!('../scale/ffi.rs');"]


def test_types_and_methods() -> None:
    read = module(
        "pub const MAX: usize = 5; static mut N: i32 = 0; type Id = u64;\n"
        "#[repr(C)] pub struct Desc { pub ptr: u64, /* extents */ pub shape: [i64; MAX] }\n"
        "struct Pair(pub i32, u8); enum Kind { A = 1, B(i32) }\n"
        "impl Clone for Desc<i32> { fn dim(&self, i: usize) -> i32 { self.shape[i] as i32 } }\n"
        "trait Shape { const R: i32; fn rank(&self) -> i32; }\n"
        'extern "C" { fn launch(x: i32) -> i32; }\n'
    )
    assert not read.faults
    constants = [node for node in read.body if isinstance(node, syntax.Assign)]
    assert [show(node) for node in constants] == ["let MAX = 5", "let N = 0", "let Id = u64"]
    desc, pair, kind, clone, shape, foreign = (node for node in read.body if isinstance(node, syntax.ClassDef))
    assert (desc.kind, desc.name, [attribute.text for attribute in desc.attributes]) == ("struct", "Desc", ["C"])
    fields = [node for node in desc.body if isinstance(node, syntax.Assign)]
    assert [(show(node.targets), node.annotation) for node in fields] == [("[ptr]", "u64"), ("[shape]", "[i64; MAX]")]
    assert [show(node) for node in pair.body] == ["let 0 = -", "let 1 = -"]
    assert [show(node) for node in kind.body] == ["let A = 1", "let B = -"]
    assert (clone.kind, clone.name, show(clone.bases)) == ("impl", "Desc", "[Clone]")
    assert (shape.kind, [show(node) for node in shape.body]) == ("trait", ["let R = -", "fn rank"])
    assert (foreign.kind, foreign.name) == ("extern", "C")
    method = next(node for node in clone.walk() if isinstance(node, syntax.Function))
    assert [(param.name, param.annotation) for param in method.params] == [("self", "&self"), ("i", "usize")]
