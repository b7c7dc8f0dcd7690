"""Rust literals as values: numbers with their suffix, strings with their escapes resolved."""

from __future__ import annotations

import re

from cutile_lint.regex import regex

_SUFFIX = regex(r"(?P<digits>.*?)_*(?P<suffix>[iuf](?:8|16|32|64|128|size))?$", re.DOTALL)
_HEX_SUFFIX = regex(r"(?P<digits>.*?)_*(?P<suffix>[iu](?:8|16|32|64|128|size))?$", re.DOTALL)
_RAW = regex(r'(?P<prefix>[bc]?)r(?P<hashes>#*)"(?P<body>.*)"(?P=hashes)$', re.DOTALL)
_ESCAPE = regex(r"\\(?:u\{([0-9a-fA-F_]{1,8})\}|x([0-9a-fA-F]{2})|(\r?\n)\s*|(.))", re.DOTALL)
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


def number(text: str) -> tuple[int | float | str, str]:
    """(value, suffix) of an integer or float literal; the text itself as value when it is none."""
    based = text[:2].lower() in ("0x", "0o", "0b")
    parts = (_HEX_SUFFIX if based else _SUFFIX).match(text)
    if parts is None:
        return text, ""
    digits, suffix = parts["digits"].replace("_", ""), parts["suffix"] or ""
    try:
        if based:
            return int(digits, 0), suffix
        if suffix.startswith("f") or "." in digits or "e" in digits.lower():
            return float(digits), suffix
        return int(digits), suffix
    except (ValueError, OverflowError):
        return text, ""


def string(text: str) -> str | bytes:
    """The value of a string literal: bytes for ``b"…"``, else str."""
    raw = _RAW.match(text)
    if raw:
        return raw["body"].encode() if raw["prefix"] == "b" else raw["body"]
    start = text.find('"')
    body = text[start + 1 : -1]
    if "\\" in body:
        body = _ESCAPE.sub(_unescape, body)
    if text.startswith("b"):
        return body.encode("latin-1", "replace")
    return body


def character(text: str) -> tuple[str | int, str]:
    """(value, suffix): a char is a str of one character, ``b'a'`` is an int with suffix "u8"."""
    body = _ESCAPE.sub(_unescape, text[text.find("'") + 1 : -1])
    if text.startswith("b"):
        return (ord(body[0]) if body else 0), "u8"
    return body, ""


def _unescape(found: re.Match[str]) -> str:
    unicode, byte, continued, plain = found.groups()
    if unicode or byte:
        code = int((unicode or byte).replace("_", "") or "0", 16)
        return chr(code) if code < 0x110000 else "\ufffd"
    if continued:
        return ""
    return _PLAIN.get(plain, plain)
