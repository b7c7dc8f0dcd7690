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
    "in a module": ("own", f"mod exports {{\nuse super::*;\n{NAMED}}}\n"),
    "behind other words": (
        "own",
        NAMED.replace("($name:ident)", "($abi:literal; $name:ident)").replace("export!(", 'export ! ( /* ; */ "C"; '),
    ),
    "with types of the crate": ("crate", CALLED),
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
    if where in ("shared", "crate"):
        shared = written(f"{MADE}\npub(crate) use entry_point;\n")
        (root / "ffi_util.rs").write_text(
            shared.replace("TensorDesc", "$crate::ffi_util::TensorDesc") if where == "crate" else shared
        )
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


@pytest.mark.parametrize(
    "other",
    [
        'thread_local! {\n    static LAST: RefCell<&str> = RefCell::new("cutile_none");\n}\n',
        "bitflags! {\n    struct Flags: u32 { const cutile_fast = 1; }\n}\n",
        "/* with:\nexport!(cutile_scale_residual) */\n",
        "cutile_assert!(cutile_core::VERSION);\nregister!(cutile_scale_residual);\n",
        'const HELP: &str = "\nexport!(cutile_scale_residual);\n";\n',
    ],
)
@pytest.mark.parametrize("file", ["ffi_util.rs", "kernel.rs", "notes.rs"])
def test_a_macro_that_makes_no_export_names_none(tmp_path: Path, file: str, other: str) -> None:
    root = tmp_path / "op"
    shutil.copytree(ROOT / "examples" / "faulty" / "skill" / "scale_residual", root)
    path = root / file
    path.write_text(other + (path.read_text() if path.exists() else ""))
    assert codes(root) == codes(ROOT / "examples" / "faulty" / "skill" / "scale_residual")


@pytest.mark.parametrize("times", [2, 8])
def test_a_macro_that_invokes_itself_comes_to_an_end(tmp_path: Path, times: int) -> None:
    root = project(tmp_path, "clean", "named")
    ffi = root / "ffi.rs"
    ffi.write_text(
        ffi.read_text()
        + "macro_rules! more {\n($($x:tt)*) => {\n" + "more!($($x)*);\n" * times + "fn q() {}\n};\n}\nmore!(a b);\n"
    )  # fmt: skip
    assert not codes(root)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # a symbol that is put together, and one that is nobody's
        ("#[unsafe(no_mangle)]", '#[unsafe(export_name = concat!("cutile_scale_", stringify!($name)))]'),
        ("#[unsafe(no_mangle)]", '#[unsafe(export_name = env!("SYMBOL"))]'),
    ],
)
def test_a_symbol_that_is_put_together_is_not_guessed(tmp_path: Path, old: str, new: str) -> None:
    root = project(tmp_path, "clean", "named")
    ffi = root / "ffi.rs"
    ffi.write_text(ffi.read_text().replace(old, new).replace("export!(cutile_scale_residual)", "export!(residual)"))
    assert not codes(root)


def test_parameters_that_are_any_tokens_are_not_known(tmp_path: Path) -> None:
    root = project(tmp_path, "clean", "its body as it is")
    ffi = root / "ffi.rs"
    text = ffi.read_text().replace("$($p:ident : $t:ty),* $(,)?", "$($given:tt)*").replace("$($p: $t),*", "$($given)*")
    ffi.write_text(text)
    assert "$($given)*" in text and not codes(root)


def test_the_file_that_invokes_the_macro_is_one_of_the_export(tmp_path: Path) -> None:
    root = project(tmp_path, "clean", "by a macro of another file")
    ffi = root / "ffi.rs"
    ffi.write_text(ffi.read_text().replace("let n = out.dim(0);", "let n = block.checked_add(1).unwrap();"))
    assert codes(root)["CTL509"]


def test_a_macro_that_is_not_understood_says_nothing(tmp_path: Path) -> None:
    root = project(tmp_path, "clean", "named")
    ffi = root / "ffi.rs"
    text = ffi.read_text()
    ffi.write_text(text.replace("($name:ident) =>", "($($name:ident)+) =>"))  # a name per round, outside of a repetition
    assert not codes(root)
    ffi.write_text(text.replace("export!(cutile_scale_residual);", "export!(cutile_scale_residual, 3);"))  # fits no arm
    assert not codes(root)
