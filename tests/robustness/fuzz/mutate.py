"""Inputs made from examples: bytes, tokens and lines changed, moved, repeated; and texts that nest or go on without an end.

Input ``number`` of ``seed`` is always the same: a failure is repeated by these two numbers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from cutile_lint.records import dataclass
from tests.robustness.fuzz.nesting import monster
from tests.robustness.fuzz.targets import LANGUAGES, Seed, cdef_of, seeds

_TOKEN = re.compile(rb"\w+|\s+|\"[^\"\n]*\"|'[^'\n]*'|[^\w\s]")
#: what any parser may stumble over
_ODD = (
    b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\x0c", b"\x1b[2J", b"\xe2\x80\xa8", b"\xf0\x9f\x98\x80", b"\xcc\x81",
    b"\\", b"\\\n", b'"', b"'", b'"""', b"'''", b"`", b"#", b"//", b"/*", b"*/", b"$", b"$x", b"@", b"%", b"^", b"!", b"?", b"~",
    b"(", b")", b"[", b"]", b"{", b"}", b"<", b">", b";", b":", b",", b".", b"..", b"...", b"=", b"==", b"=>", b"->", b"::", b"&", b"|",
    b"9" * 400, b"1e999", b"-1", b"0x", b"0", b"1_000", b"a" * 3000, b"\xce\xb1",
)  # fmt: skip
_WORDS = {
    "python": b"def class return yield await async lambda if elif else for while break continue try except finally raise with as"
    b" import from global nonlocal del assert pass match case None True False self *args **kwargs := @property torch"
    b" autotune_launch f'{x}' functools.partial getattr setattr super() torch.zeros _ __class__ type[T] # cutile-lint: ignore[",
    "rust": b"fn let mut match if else while loop for in return break continue unsafe extern pub mod use impl struct enum trait"
    b" where macro_rules! r#\" \"# b' 'a dyn move async await ref const static type crate self Self $($x:expr),* $(;)? #[cfg]"
    b" #![x] vec![ format!( println!( ..= |x| || ? as i32 unwrap() // cutile-lint: ignore[",
    "mlir": b"cuda_tile.module entry for if else yield continue loop reduce load_view_tko store_view_tko tile<4x8xf32> ptr<f32>"
    b" tensor_view<?xf32> partition_view< : -> %0 %arg0 ^bb0 @main dense< loc( #map attributes { i32 } affine_map<",
    "json": b'null true false NaN -Infinity 1e400 "configs" "variants" "backend" "occupancy" [] {} "" "\\ud800" "\\u0000" : ,',
    "toml": b"[package] [[bin]] [dependencies] cutile version = true false 1979-05-27 inf nan ''' \"\"\" { } a.b.c . workspace ^0.2",
    "cdef": b"int32_t uint64_t const void * struct typedef union enum extern \"C\" (* ... #define int long char , ; ( ) [ ] { } restrict",
    "config": b"select ignore exclude extend per-file-ignores severity rule-paths cache-dir baseline ** * ? [!a] / \\ { } true [tool.cutile-lint]",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Input:
    """``text`` stands in place of the seed's file; ``part`` is what of it was made (a cdef text inside of its wrapper)."""

    number: int
    seed: Seed
    text: bytes
    part: bytes
    made_by: str


def make(seed: int, number: int, languages: tuple[str, ...] = LANGUAGES) -> Input:
    """The input of a number. Languages take turns."""
    chance = random.Random(f"{seed}/{number}")
    language = languages[number % len(languages)]
    origin = chance.choice(seeds()[language])
    start, end = cdef_of(origin.data) if language == "cdef" else (0, len(origin.data))
    part = origin.data[start:end]
    if chance.random() < 0.12:
        made_by, text = monster(language, part, chance)
    else:
        names, text = [], part
        for _ in range(chance.choice((1, 1, 2, 4, 12))):
            change = chance.choice(_CHANGES)
            names.append(change.__name__)
            text = change(text, language, chance)[: 1 << 20]
        made_by = "+".join(dict.fromkeys(names))
    return Input(number, origin, origin.data[:start] + text + origin.data[end:], text, made_by)


Change = Callable[[bytes, str, random.Random], bytes]


def flip_bytes(text: bytes, language: str, chance: random.Random) -> bytes:
    changed = bytearray(text)
    for _ in range(chance.choice((1, 1, 3, 30))):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def drop(text: bytes, language: str, chance: random.Random) -> bytes:
    start, end = _range(text, chance)
    return text[:start] + text[end:]


def repeat(text: bytes, language: str, chance: random.Random) -> bytes:
    start, end = _range(text, chance)
    return text[:end] + text[start:end] * chance.choice((1, 1, 2, 10, 50)) + text[end:]


def move(text: bytes, language: str, chance: random.Random) -> bytes:
    start, end = _range(text, chance)
    rest = text[:start] + text[end:]
    at = chance.randint(0, len(rest))
    return rest[:at] + text[start:end] + rest[at:]


def cut_short(text: bytes, language: str, chance: random.Random) -> bytes:
    return text[: chance.randint(0, len(text))]


def insert_odd(text: bytes, language: str, chance: random.Random) -> bytes:
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice(_ODD) * chance.choice((1, 1, 1, 2, 5)) + text[at:]


def insert_word(text: bytes, language: str, chance: random.Random) -> bytes:
    at = chance.choice([found.start() for found in _TOKEN.finditer(text)] or [0])
    return text[:at] + b" " + chance.choice(_WORDS[language].split(b" ")) + b" " + text[at:]


def swap_tokens(text: bytes, language: str, chance: random.Random) -> bytes:
    tokens = _TOKEN.findall(text)
    for _ in range(chance.choice((1, 2, 8))):
        if len(tokens) > 1:
            one, other = chance.randrange(len(tokens)), chance.randrange(len(tokens))
            tokens[one], tokens[other] = tokens[other], tokens[one]
    return b"".join(tokens)


def rename_token(text: bytes, language: str, chance: random.Random) -> bytes:
    """All places of one word become another word of the text: names meet that had nothing to do with each other."""
    words = sorted(set(re.findall(rb"\b[A-Za-z_]\w*", text)))
    if len(words) < 2:
        return text
    old, new = chance.sample(words, 2)
    return re.sub(rb"\b" + old + rb"\b", lambda found: new, text)


def shuffle_lines(text: bytes, language: str, chance: random.Random) -> bytes:
    lines = text.split(b"\n")
    start = chance.randrange(len(lines))
    part = lines[start : start + chance.choice((2, 5, 20))]
    chance.shuffle(part)
    return b"\n".join(lines[:start] + part + lines[start + len(part) :])


def splice(text: bytes, language: str, chance: random.Random) -> bytes:
    """Some of another seed, of any language, in the middle."""
    other = chance.choice(seeds()[chance.choice(LANGUAGES)]).data
    start, end = _range(other, chance)
    at = chance.randint(0, len(text))
    return text[:at] + other[start:end] + text[at:]


def change_line_ends(text: bytes, language: str, chance: random.Random) -> bytes:
    return text.replace(b"\n", chance.choice((b"\r", b"\r\n", b"\n\r", b"", b"\n\n", b"\x0c\n")))


def _range(text: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randint(0, len(text))
    return start, min(len(text), start + chance.choice((1, 3, 10, 50, 400)))


_CHANGES: tuple[Change, ...] = (
    flip_bytes, drop, drop, repeat, move, cut_short, insert_odd, insert_odd, insert_word, insert_word, swap_tokens, swap_tokens,
    rename_token, rename_token, shuffle_lines, splice, change_line_ends,
)  # fmt: skip
