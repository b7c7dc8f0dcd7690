"""Exports that a macro makes: the same findings as where they are written out."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

import cutile_lint
from cutile_lint.config import Settings
from cutile_lint.server.links import links_of_op
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit.linking.loading import load

ROOT = Path(__file__).resolve().parents[2]
SYMBOL = "cutile_scale_residual"

#: what becomes of the export's text and its parameters; "own": in ffi.rs in its place, "shared": in the file of the crate's helpers
NAMED = "macro_rules! export {\n($name:ident) => {\nEXPORT_AS_NAME\n};\n}\n\nexport!(cutile_scale_residual);\n"
WHOLE = "macro_rules! export {\n($item:item) => { $item };\n}\n\nexport! {\nEXPORT\n}\n"
MADE = """macro_rules! entry_point {
    ($($name:ident => $inner:path),+ $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(PARAMS) -> i32 {
                unsafe { $inner(ARGUMENTS) }
            }
        )+
    };
}
"""
CALLED = "entry_point!(cutile_scale_residual => run, cutile_other => other);\n\nPLAIN\nunsafe fn other(PARAMS) -> i32 { -1 }\n"
NESTED = 'macro_rules! outer {\n($name:ident, $abi:literal) => { export!($name); };\n}\n\nouter!(cutile_scale_residual, "C");\n'
GUARD = """macro_rules! ffi_export {
    ($(#[$meta:meta])* fn $name:ident($($p:ident : $t:ty),* $(,)?) -> i32 $body:block) => {
        $(#[$meta])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($p: $t),*) -> i32 {
            AROUND
        }
    };
}
"""
CAUGHT = "match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| $body)) { Ok(code) => code, Err(_) => -9 }"
GIVEN = "ffi_export! {\nAS_FN\n}\n"
FORMS = {
    "its body in a guard": ("own", GUARD.replace("AROUND", CAUGHT) + GIVEN),
    "its body by a macro of another file": ("guard", GIVEN),
    "its body as it is": ("own", GUARD.replace("AROUND", "unsafe $body") + GIVEN),
    "named": ("own", NAMED),
    "whole": ("own", WHOLE),
    "one of several": ("own", MADE + CALLED),
    "by a macro of another file": ("shared", CALLED),
    "by a macro in a macro": ("own", NAMED.replace("export!(cutile_scale_residual);\n", NESTED)),
}


def project(tmp_path: Path, kind: str, form: str) -> Path:
    """The example with its export in another form."""
    root = tmp_path / "op"
    shutil.copytree(ROOT / "examples" / kind / "skill" / "scale_residual", root)
    text = (root / "ffi.rs").read_text()
    start = text.index("#[unsafe(no_mangle)]")
    export = text[start:].rstrip()
    params = re.search(rf"fn {SYMBOL}\((.*?)\) -> i32", export, re.DOTALL)
    assert params is not None and export.endswith("\n}")
    listed = re.sub(r"//[^\n]*", "", params[1]).strip()
    where, template = FORMS[form]
    made = {
        "EXPORT_AS_NAME": export.replace(f"fn {SYMBOL}", "fn $name"),
        "EXPORT": export,
        "PARAMS": listed,
        "ARGUMENTS": ", ".join(re.findall(r"(\w+)\s*:", listed)),
        "AS_FN": export.replace('#[unsafe(no_mangle)]\npub unsafe extern "C" ', ""),
        "PLAIN": export.replace("#[unsafe(no_mangle)]\n", "").replace(f'pub unsafe extern "C" fn {SYMBOL}', "unsafe fn run"),
    }

    def written(text: str) -> str:
        return re.sub("|".join(made), lambda match: made[match[0]], text)

    (root / "ffi.rs").write_text(text[:start] + written(template))
    if where == "guard":
        (root / "ffi_util.rs").write_text(f"#[macro_export]\n{GUARD.replace('AROUND', CAUGHT)}")
    if where == "shared":
        (root / "ffi_util.rs").write_text(written(f"{MADE}\npub(crate) use entry_point;\n"))
    return root


def codes(root: Path) -> Counter[str]:
    return Counter(finding.code for finding in cutile_lint.check([root]))


@pytest.mark.parametrize("form", FORMS)
def test_the_same_is_found_in_an_export_that_a_macro_makes(tmp_path: Path, form: str) -> None:
    found = codes(project(tmp_path, "faulty", form))
    assert found == codes(ROOT / "examples" / "faulty" / "skill" / "scale_residual")
    assert found["CTL202"] == 1  # of the Rust side


@pytest.mark.parametrize("form", FORMS)
def test_a_clean_op_stays_clean(tmp_path: Path, form: str) -> None:
    root = project(tmp_path, "clean", form)
    assert not codes(root)
    wrapper = root / "wrapper.py"
    wrapper.write_text(wrapper.read_text().replace("        _BLOCK,\n", ""))
    assert codes(root)["CTL502"]  # an argument less than the export takes
    wrapper.write_text(wrapper.read_text().replace(" int32_t block,", ""))
    assert codes(root)["CTL501"]  # which the cdef does not know either


def test_an_export_is_where_its_name_is_written(tmp_path: Path) -> None:
    root = project(tmp_path, "clean", "one of several")
    [unit] = load(Workspace(), [root / "wrapper.py"], Settings())
    ffi = (root / "ffi.rs").read_text()
    places = {export.symbol: (export.place.path.name, export.place.span.start) for export in unit.exports.values()}
    export = next(thing for thing in links_of_op(unit).things if thing.name == SYMBOL)
    assert {(place.path.name, place.text) for place in export.places("export", "call")} == {
        ("ffi.rs", SYMBOL),
        ("wrapper.py", SYMBOL),
    }
    assert places == {symbol: ("ffi.rs", ffi.index(f"{symbol} =>")) for symbol in (SYMBOL, "cutile_other")}


@pytest.mark.parametrize(
    ("around", "found"),
    [
        ("$body", True),
        ("{ unsafe $body }", True),
        ("std::panic::catch_unwind(|| $body).unwrap_or(-9)", False),
        ("::std::panic::catch_unwind(AssertUnwindSafe(move || { $body })).unwrap_or_else(|_| -9)", False),
        ("crate::guard(|| $body)", False),  # whatever that does
    ],
)
def test_a_panic_in_the_body_of_an_invocation(tmp_path: Path, around: str, found: bool) -> None:
    root = project(tmp_path, "clean", "its body as it is")
    ffi = root / "ffi.rs"
    text = (
        ffi.read_text().replace("unsafe $body", around).replace("let n = out.dim(0);", "let n = block.checked_add(1).unwrap();")
    )
    ffi.write_text(text)
    assert bool(codes(root)["CTL509"]) is found


def test_a_macro_that_is_not_understood_says_nothing(tmp_path: Path) -> None:
    root = project(tmp_path, "clean", "named")
    ffi = root / "ffi.rs"
    text = ffi.read_text()
    ffi.write_text(text.replace("($name:ident) =>", "($($name:ident)+) =>"))  # a name per round, outside of a repetition
    assert not codes(root)
    ffi.write_text(text.replace("export!(cutile_scale_residual);", "export!(cutile_scale_residual, 3);"))  # fits no arm
    assert not codes(root)
