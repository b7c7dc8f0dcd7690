"""Texts that nest deeply, go on in chains or repeat without an end, inside what an op's file needs to be looked at closely."""
# ruff: noqa: E501

from __future__ import annotations

import random

#: (what stands before, in the middle and behind each level)
_PAIRS: dict[str, tuple[tuple[bytes, bytes, bytes], ...]] = {
    "python": (
        (b"(", b"x", b")"), (b"[", b"", b"]"), (b"{", b"", b"}"), (b"f(", b"x", b")"), (b"x[", b"0", b"]"), (b"{1: ", b"2", b"}"),
        (b"lambda: ", b"0", b""), (b"not ", b"x", b""), (b"-", b"x", b""), (b"~", b"x", b""), (b"await ", b"x", b""), (b"*", b"x", b""),
        (b"x if y else ", b"z", b""), (b"(yield ", b"x", b")"), (b"f'{", b"x", b"}'"), (b"x(y=", b"1", b")"), (b"(x := ", b"1", b")"),
        (b"[x for x in ", b"y", b"]"), (b"x if (", b"y", b") else z"), (b"functools.partial(", b"f", b", 1)"), (b"(lambda x: ", b"x", b")(1)"),
    ),
    "rust": (
        (b"(", b"x", b")"), (b"[", b"x", b"]"), (b"{", b"x", b"}"), (b"f(", b"x", b")"), (b"!", b"x", b""), (b"-", b"x", b""),
        (b"&", b"x", b""), (b"*", b"x", b""), (b"|y| ", b"x", b""), (b"if x { ", b"y", b"} else { z }"), (b"vec![", b"1", b"]"),
        (b"m!(", b"1", b")"), (b"unsafe { ", b"x", b" }"), (b"match x { _ => ", b"y", b" }"), (b"Some(", b"x", b")"), (b"return ", b"x", b""),
        (b"loop { ", b"x", b" }"), (b"x as Vec<", b"i32", b">"), (b"Box<", b"i32", b">"), (b"/*", b"", b"*/"), (b"$(", b"$x", b")*"),
        (b"break ", b"x", b""), (b"{ let x = ", b"1", b"; x }"), (b"x[", b"0", b"]"), (b"S { x: ", b"1", b" }"), (b"x..", b"y", b""),
    ),
    "mlir": (
        (b"{", b"", b"}"), (b"(", b"", b")"), (b"<", b"f32", b">"), (b"[", b"1", b"]"), (b"for %i in (%a to %b, step %c) : tile<i32> {\n", b"", b"}\n"),
        (b"tile<", b"f32", b">"), (b"dense<[", b"1", b"]>"), (b"if %c {\n", b"", b"} else {\n}\n"), (b"loc(", b"x", b")"),
    ),
    "json": ((b"[", b"1", b"]"), (b'{"a": ', b"1", b"}"), (b'{"configs": [', b"", b"]}"), (b'[{"variants": ', b"[]", b"}]")),
    "toml": ((b"x = [", b"1", b"]"), (b"[", b"1", b"]"), (b"{a = ", b"1", b"}"), (b"a.", b"a", b""), (b"[[", b"x", b"]]")),
    "cdef": (
        (b"(", b"x", b")"), (b"struct {", b"int x;", b"} y;"), (b"int (*f)(", b"int", b");"), (b"*", b"x", b""), (b"[", b"1", b"]"),
        (b"typedef ", b"int", b""), (b"const ", b"int", b""), (b"/*", b"", b"*/"), (b"int x = ", b"1", b" + "), (b"-", b"1", b""), (b"sizeof(", b"int", b")"),
    ),
    "config": ((b"[", b"1", b"]"), (b"{a = ", b"1", b"}"), (b"a.", b"a", b"")),
}  # fmt: skip
#: (repeated piece, ``%d`` becomes a number)
_CHAINS: dict[str, tuple[bytes, ...]] = {
    "python": (
        b" + x", b" and x", b" < x", b".a", b"[0]", b"()", b".a(1)", b", x", b"; x = 1", b" if x else y", b"\nx = %d", b"\nx = x + x",
        b"\ndef f%d(): pass", b"\nclass A%d: pass", b"\nif x: y", b"\nelif x: y", b"\nimport a%d", b"\n@f", b"\nx%d = torch.zeros(1)",
        b" = x", b" 'a'", b"\nfor i in x: y", b"\nwith x as y: z", b"\ntry: x\nexcept: y", b"\nwhile x: x += 1", b" f'{x}'", b"\n# cutile-lint: ignore[CTL%d] x",
        b"\nx = x if x else [x, x]", b"\nx = (x, x)", b"\nx = f(x, x)",
    ),
    "rust": (
        b" + x", b" && x", b" == x", b".a", b"[0]", b"()", b".a(1)", b", x", b"; x", b"\nlet x = %d;", b"\nfn f%d() {}", b"\nstruct A%d;",
        b" else if x { y }", b"\nuse a%d;", b"\n#[a]", b"::a", b"?", b" as i32", b"\nmod m%d {}", b" | x", b" => x", b"..", b"\nm!(%d);",
        b"\nmacro_rules! m%d { () => {} }", b"\nconst X%d: i32 = 1;", b"\nimpl A%d {}", b"\n// cutile-lint: ignore[CTL%d] x", b"\n/* a */", b"\nlet x = (x, x);",
        b"\nlet x = if x { x } else { x };", b"\nmatch x { 1 => x, _ => y }",
    ),
    "mlir": (b", i32", b"\n%%%d = constant <i32: 1> : tile<i32>", b"\n// a", b"x4", b" : tile<f32>", b" -> i32", b"\n}", b"\n{", b" #a", b"\nentry @f%d() {}", b" <"),
    "json": (b", 1", b', "a": %d', b' {"a": 1},', b"1", b"e", b"\\u0041", b" ", b"\n", b"]", b"\xc3\xa4"),
    "toml": (b"\na%d = 1", b"\n[a%d]", b"\n[[a]]", b", 1", b"\n", b" ", b".a", b"1", b'"', b"\n[a.%d]", b"\na.b.c%d = 1", b"#", b"\xc3\xa4"),
    "cdef": (
        b"\nint f%d(int a);", b", int a%d", b"typedef ", b" a", b"*", b" *", b"\t", b"/*", b"#define x\n", b"int ", b"const ", b"struct s%d { int x; };",
        b"int32_t f(const void* a, int32_t b);", b"(", b"[1]", b"\n", b" + 1",
    ),
    "config": (b'\n"a%d" = ["ALL"]', b"\nx%d = 1", b'"**/", ', b"*a", b"**/", b"[!", b"?", b"\\", b"{"),
}  # fmt: skip
_TIMES = (20, 90, 150, 250, 600, 1500, 5000, 20_000)
#: a text above is cut there; what is larger is tried whole by the tests of limits
MOST = 400_000


def monster(language: str, text: bytes, chance: random.Random) -> tuple[str, bytes]:
    """(what was done, the text): something endless at a token of the text, alone, or at its end."""
    times = chance.choice(_TIMES)
    if chance.random() < 0.5:
        before, middle, behind = chance.choice(_PAIRS[language])
        if language == "python" and chance.random() < 0.2:
            made = b"".join(b" " * level + b"if x:\n" for level in range(min(times, 800)))
        else:
            times = min(times, MOST // (len(before) + len(behind)))
            made = before * times + middle + behind * (times if chance.random() < 0.85 else chance.randint(0, times))
        name = f"nest {before!r} * {times}"
    else:
        piece = chance.choice(_CHAINS[language])
        times = min(times, MOST // len(piece))
        made = b"".join(piece % number for number in range(times)) if b"%" in piece else piece * times
        name = f"chain {piece!r} * {times}"
    where = chance.random()
    if where < 0.2:
        return name, made
    if where < 0.45:
        lead = {"python": b"\nx = x", "rust": b"\nfn f() { x"}.get(language, b"\n")
        return name, text + lead + made + (b" }" if language == "rust" else b"") + b"\n"
    spaces = [at for at, byte in enumerate(text) if byte in b" \n(,"] or [0]
    at = chance.choice(spaces) + 1
    return name, text[:at] + made + text[at:]
