"""Text on a terminal: nothing in it moves the cursor, and its width in columns is known."""

from __future__ import annotations

import unicodedata

TAB = 4


def clean(text: str) -> str:
    """One line without anything that a terminal would act on: control and direction characters are shown as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(shown(char)[0] for char in text)


def shown(char: str) -> tuple[str, int]:
    """A character as it is printed (tabs aside) and the columns that it takes."""
    if " " <= char <= "~":
        return char, 1
    category = unicodedata.category(char)
    if category in ("Cc", "Zl", "Zp", "Cs") or (category == "Cf" and char not in "\u200c\u200d\u00ad"):
        code = ord(char)
        escaped = f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
        return escaped, len(escaped)
    if category in ("Mn", "Me", "Cf"):
        return char, 0
    return char, 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cells(line: str) -> list[tuple[str, int]]:
    """The line's code points as printed and their widths; tabs become blanks up to the next stop."""
    out: list[tuple[str, int]] = []
    column = 0
    for char in line:
        if char == "\t":
            width = TAB - column % TAB
            out.append((" " * width, width))
        else:
            text, width = shown(char)
            out.append((text, width))
        column += out[-1][1]
    return out


def width(text: str) -> int:
    """Columns that a printed text takes."""
    return len(text) if text.isascii() else sum(shown(char)[1] for char in text)


def wrap(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of at most ``columns``, broken at blanks; ``first`` and ``rest`` begin them. A longer word gets a line of its own."""
    lines: list[str] = []
    line, empty = first, True
    for word in text.split():
        if not empty and width(line) + 1 + width(word) > columns:
            lines.append(line)
            line, empty = rest, True
        line += word if empty else f" {word}"
        empty = False
    return [*lines, line]
