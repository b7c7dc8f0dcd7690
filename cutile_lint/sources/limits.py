"""Bounds that are looked up before a parser sees a text: each costs one pass in C, and keeps a file below 2 s and 500 MB.

A parser's work goes with the tokens of a text, not with its bytes: 2 MB of comments are nothing, 2 MB of ``-x;`` are 15 s.
"""

from __future__ import annotations

#: brackets, operators, quotes and line ends of a Python or Rust file; the largest of TileGym has 8,000, of cutile-rs 26,000
MAX_MARKS = 80_000
#: bytes of the longest name or word: expressions that look for one go over it again from each of its letters
MAX_WORD = 2_000
#: dots in one line of TOML: reading a key of so many parts is quadratic
MAX_DOTS = 2_000

_WORDS = bytes(byte for byte in range(256) if chr(byte).isalnum() or byte >= 128 or byte in b"_ \t\f")
_APART = bytes(byte if byte in _WORDS and byte not in b"\t\f" else 32 for byte in range(256))


def marks(data: bytes) -> int:
    """How many bytes are neither blanks nor parts of words: an upper bound, within a factor, for the tokens of a text."""
    return len(data.translate(None, _WORDS))


def too_many_marks(data: bytes, most: int = MAX_MARKS) -> str:
    """Why a text has too much in it to be parsed, as the reason of a refusal; "" when it has not."""
    if len(data) > most and marks(data) > most:
        return f"more than {most:,} brackets, operators and line ends"
    return ""


def too_long_words(data: bytes) -> str:
    """As :func:`too_many_marks`, for a word of more than :data:`MAX_WORD` bytes."""
    if len(data) > MAX_WORD and max(map(len, data.translate(_APART).split()), default=0) > MAX_WORD:
        return f"a word of more than {MAX_WORD:,} bytes"
    return ""


def toml_refusal(data: bytes, most_bytes: int) -> str:
    """Why a text is not handed to the reader of TOML; "" when it is."""
    if len(data) > most_bytes:
        return f"{len(data):,} bytes are more than the limit of {most_bytes:,}"
    if data.count(b".") > MAX_DOTS and any(line.count(b".") > MAX_DOTS for line in data.splitlines()):
        return f"more than {MAX_DOTS:,} dots in one line"
    return ""
