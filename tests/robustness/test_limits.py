"""Files of an op that are too much for a parser: the run goes on, says so (CTL903 or a syntax error), and stays small."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.sources import Source
from cutile_lint.sources.ignore import Patterns
from tests.robustness.fuzz.targets import READERS
from tests.robustness.project import make_project, tight_leash

WRAPPER, FFI, KERNEL = "row_scale.py", "ffi.rs", "kernel.rs"
#: what stands at the end of which file of the op; and whether the file is said to be left out
TOO_MUCH = {
    "a line of 10 MB": (WRAPPER, b"x = '" + b"a" * 10_000_000 + b"'\n", True),
    "a line of 10 MB in Rust": (FFI, b"// " + b"a" * 10_000_000, True),
    "50,000 functions": (WRAPPER, b"".join(b"def f%d(): pass\n" % number for number in range(50_000)), True),
    "50,000 functions in Rust": (KERNEL, b"".join(b"fn f%d() {}\n" % number for number in range(50_000)), True),
    "parentheses": (WRAPPER, b"x = " + b"(" * 40_000 + b")" * 40_000, True),
    "unary operators": (WRAPPER, b"x = " + b"-" * 40_000 + b"1\n", True),
    "a binary chain": (WRAPPER, b"x = 1" + b" + 1" * 40_000 + b"\n", True),
    "attributes": (WRAPPER, b"x = x" + b".a" * 40_000 + b"\n", True),
    "elif": (WRAPPER, b"if x: y\n" + b"elif x: y\n" * 5_000, True),
    "blocks": (WRAPPER, b"".join(b" " * level + b"if x:\n" for level in range(400)), True),
    "blocks in Rust": (FFI, b"fn f() {" + b"{" * 40_000 + b"}" * 40_000 + b"}", True),
    "macros": (FFI, b"fn f() {" + b"m!(" * 5_000 + b"1" + b")" * 5_000 + b"}", True),
    "unary operators in Rust": (FFI, b"fn f() { " + b"!" * 40_000 + b"x }", True),
    "a binary chain in Rust": (FFI, b"fn f() { x" + b" + x" * 40_000 + b" }", True),
    "methods": (FFI, b"fn f() { x" + b".a()" * 20_000 + b" }", True),
    "no Rust": (FFI, b"a:b " * 50_000, True),
    "open f-strings": (WRAPPER, b"# cutile-lint:\n" + b"f'{f\"{" * 5_000, True),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_the_run_goes_on(name: str, tmp_path: Path) -> None:
    file, more, said = TOO_MUCH[name]
    project = make_project(tmp_path)
    path = project.named(file)
    path.write_bytes(path.read_bytes() + b"\n" + more)
    done = project.lint("--no-cache", "--output-format", "concise", ".")
    assert done.returncode in (0, 1)
    told = [line for line in done.stdout.splitlines() if path.name in line and ("CTL903" in line or "CTL900" in line)]
    assert bool(told) == said, done.stdout


#: texts that an expression or a parser went over again and again
SLOW = {
    "cdef": (b"typedef " * 20_000, b"int x" + b"[1]" * 30_000 + b";", b"/* " * 60_000, b"int a = " + b"(" * 5_000),
    "toml": (b"a." * 100_000 + b"a = 1", b"[" + b"a." * 100_000 + b"a]", b"a = " + b"[" * 50_000),
    "mlir": (b'\\"' * 300_000, b" : tile<f32>" * 50_000, b"x " * 400_000, b"^a(" * 100_000),
    "json": (b"[" * 100_000, b"[" + b"1," * 1_500_000 + b"1]", b'{"a":' * 50_000),
    "rust": (b'\\"' * 100_000, b'r#"' * 30_000, b"x.y.z\n" * 30_000, b"macro_rules! m { () => {" + b'$x \\"' * 15_000 + b"} }"),
    "python": (b"f'{f\"{" * 10_000, b"\"\\\n'\\\n" * 10_000, b"f'''{x:{y:'" * 5_000, b"#" * 1_000_000, b"\\N{" * 20_000),
}


@pytest.mark.parametrize("language", SLOW)
def test_nothing_is_gone_over_without_end(language: str) -> None:
    from cutile_lint.engine.suppressions import read_suppressions

    for text in SLOW[language]:
        source = Source(Path("/p/a.rs" if language == "rust" else "/p/a.py"), b"# cutile-lint: ignore\n" + text)
        READERS[language](Source(source.path, text))
        if language in ("python", "rust"):
            read_suppressions(source, {}.get)


def test_patterns_are_matched_without_going_back() -> None:
    patterns = Patterns(["*a" * 40 + "*b", "x/" + "*a*" * 30 + "c/**", "**/a/" * 30 + "b"])
    for path in ("a" * 250, "x/" + "a" * 250, "a/" * 100 + "c"):
        assert not patterns.match(path)
    assert Patterns(["*a*b*.py"]).match("xaybz.py") and Patterns(["src/*a*/b"]).match("src/xay/b")


#: one line of the wrapper, and how often it stands there: a value that doubles with each is not written out
DOUBLING = {
    "x = x + x": 40,
    "x = torch.add(x, x)": 600,
    "n = (n, n)": 40,
    "n = n if x.numel() > n else n * 2": 40,
    "if n > 3: n = n + 1": 60,
    "if known(): x = x.contiguous()": 60,
    "n = (lambda a: a + n)(n)": 60,
    "m = m and (m or x)": 60,
}


@pytest.mark.parametrize("line", DOUBLING)
def test_values_that_double(line: str, tmp_path: Path) -> None:
    project = make_project(tmp_path)
    path = project.named(WRAPPER)
    text = path.read_text()
    start = "    m, n = x.shape\n"
    assert text.count(start) == 1
    path.write_text(text.replace(start, start + f"    {line}\n" * DOUBLING[line]))
    assert project.lint("--no-cache", ".").returncode in (0, 1)


START, TRIAL = "    m, n = x.shape\n", "        y = torch.empty_like(x)\n"
BODY, EXPORT = ") {\n        let x_shape", "-> i32 {\n"
#: (file, behind which text of it, how it begins, what is repeated there, how often): each grew with the square of the times, or worse
REPEATED = {
    "texts": (WRAPPER, START, "x = 'ab'", "x = x + x", 40),
    "texts in a text": (WRAPPER, START, "x = 'ab'", "x = f'{x}{x}'", 40),
    "texts replaced": (WRAPPER, START, "x = 'aa'", "x = x.replace('a', x)", 40),
    "texts joined": (WRAPPER, START, "x = 'ab'", "x = ''.join([x, x])", 40),
    "a wide field": (WRAPPER, START, "x = 3", "x = '%1000000000d' % x", 1),
    "a width that is given": (WRAPPER, START, "x = 3", "x = '{:{}}'.format(x, 1000000000)", 1),
    "numbers as digits": (WRAPPER, START, "x = 3", "x = int(str(x) * 2)", 40),
    "items spread": (WRAPPER, START, "", "x = (*x, x)", 40),
    "lists enumerated": (WRAPPER, START, "x = []", "x = list(enumerate(x)) + [1]", 60),
    "lists reversed": (WRAPPER, START, "x = []", "x = list(reversed(x)) + [1]", 60),
    "a list in itself": (WRAPPER, START, "x = []", "x.append(x)", 100),
    "a list in its items": (WRAPPER, START, "x = []", "x.append([x])", 100),
    "dicts in dicts": (WRAPPER, START, "x = {}", "y = {}; y['a'] = x; x = y", 2000),
    "keywords spread": (WRAPPER, START, "x = {}", "print(**x); x['a%d'] = 1", 3000),
    "dicts under conditions": (WRAPPER, START, "x = {}", "if kwargs['a%d']: x = {**x, %d: 1}", 2000),
    "comparisons": (WRAPPER, START, "", "x = x < n < x", 3000),
    "sums": (WRAPPER, START, "", "x = 'a' + x", 3000),
    "choices": (WRAPPER, START, "", "x = x and scale(x) or n", 3000),
    "ways out": (WRAPPER, START, "", "for i in x: return i", 3000),
    "fills in the timed region": (WRAPPER, TRIAL, "", "    z = torch.zeros_like(x)", 500),
    "conversions in the timed region": (WRAPPER, TRIAL, "", "    z = x.float() + 1", 300),
    "copies": (WRAPPER, START, "", "z = x.clone()", 500),
    "a borrowed variable of the same name": (KERNEL, BODY, "", "let x = &mut x;", 3),
    "declarations": (KERNEL, BODY, "", "let x = if x { x } else { y };", 3000),
    "returns": (KERNEL, BODY, "", "if x == %d { return 1; }", 3000),
    "structs": (FFI, EXPORT, "", "let x = S { a: x, b: x };", 2000),
    "arms": (FFI, EXPORT, "", "let x = match x { Ok(x) => x, Err(e) => return 3 };", 2000),
}


@pytest.mark.parametrize("name", REPEATED)
def test_what_is_repeated_costs_its_share(name: str, tmp_path: Path) -> None:
    file, behind, first, piece, times = REPEATED[name]
    project = make_project(tmp_path, fault=False)
    path = project.named(file)
    text = path.read_text()
    assert text.count(behind) == 1
    at = text.index(behind) + (behind.index("\n") + 1)
    lines = [first, *(piece.replace("%d", str(number)) for number in range(times))]
    path.write_text(text[:at] + "".join(f"    {line}\n" for line in lines if line) + text[at:])
    assert project.lint("--no-cache", ".", leash=tight_leash).returncode in (0, 1)


def test_rows_of_suppressions(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    path = project.named(WRAPPER)
    path.write_text(path.read_text() + "".join(f"# cutile-lint: ignore[CTL{number}] x\n" for number in range(13_000)))
    assert project.lint("--no-cache", ".", leash=tight_leash).returncode == 1


def test_a_module_that_is_too_large_to_follow(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    path = project.named(WRAPPER)
    path.write_text(path.read_text() + "".join(f"\nx = x if y{number} else [x, x]" for number in range(5000)) + "\n")
    done = project.lint("--no-cache", "--output-format", "concise", ".")
    assert "CTL903" in done.stdout and "this module was not analysed to its end" in done.stdout, done.stdout


def test_a_function_that_is_too_large_to_follow(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    path = project.named(KERNEL)
    text = path.read_text()
    at = text.index(BODY) + BODY.index("\n") + 1
    path.write_text(text[:at] + "match x { 1 => x = 2, 2 => x = y, _ => y = x }\n" * 3000 + text[at:])
    done = project.lint("--no-cache", "--output-format", "concise", ".", leash=tight_leash)
    assert "`row_scale_kernel` was not analysed to its end" in done.stdout, done.stdout


#: blanks, blank lines and words without an end cost no tokens; what looks for something among them goes over them once
EMPTY = {
    "blank lines": (WRAPPER, b"\n" * 70_000),
    "blanks": (WRAPPER, b"x = 1" + b" " * 1_000_000 + b"\n"),
    "a word": (WRAPPER, b"x = '" + b"_d" * 400_000 + b"'\n"),
    "words in a comment": (WRAPPER, b"# " + b"import tol " * 100_000 + b"\n"),
    "words in a comment of Rust": (FFI, b"// " + b"use options " * 100_000),
    "a repetition and blanks": (FFI, b"macro_rules! m { ($($x:expr),*) => { f($($x)" + b" " * 500_000 + b",*) } }"),
}


@pytest.mark.parametrize("name", EMPTY)
def test_what_is_nearly_nothing_costs_nearly_nothing(name: str, tmp_path: Path) -> None:
    file, more = EMPTY[name]
    project = make_project(tmp_path)
    path = project.named(file)
    path.write_bytes(path.read_bytes() + b"\n" + more)
    assert project.lint("--no-cache", ".").returncode in (0, 1)
