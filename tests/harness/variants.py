"""Ways to write the same file: a fix must do the same in each. Used by the fix harness."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Callable

from cutile_lint.engine.cases import Tree

ROCKET = "🚀 stays"


def _sources(tree: Tree, change: Callable[[str, str], str]) -> Tree:
    """``change(path, text)`` of every Python and Rust file."""
    return {path: change(path, text) if path.endswith((".py", ".rs")) else text for path, text in tree.items()}


def crlf(tree: Tree) -> Tree:
    return _sources(tree, lambda path, text: text.replace("\n", "\r\n"))


def bom(tree: Tree) -> Tree:
    return _sources(tree, lambda path, text: "\ufeff" + text if text else text)


def no_final_newline(tree: Tree) -> Tree:
    return _sources(tree, lambda path, text: text.rstrip("\n"))


def tabs(tree: Tree) -> Tree:
    return _sources(tree, lambda path, text: _with_tabs(text) if path.endswith(".py") else text)


def emoji(tree: Tree) -> Tree:
    """A comment and a string beyond ASCII above everything else that a fix may touch."""
    return _sources(tree, lambda path, text: _with_emoji(path, text) if text else text)


VARIANTS: dict[str, Callable[[Tree], Tree]] = {
    "crlf": crlf,
    "bom": bom,
    "tabs": tabs,
    "emoji": emoji,
    "no-final-newline": no_final_newline,
}


def _with_tabs(text: str) -> str:
    """Four leading blanks become a tab, not inside strings of several lines."""
    inside = {
        row
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        for row in range(token.start[0] + 1, token.end[0] + 1)
    }
    lines = []
    for row, line in enumerate(text.splitlines(keepends=True), 1):
        body = line.lstrip(" ")
        width = len(line) - len(body)
        lines.append(line if row in inside else "\t" * (width // 4) + " " * (width % 4) + body)
    return "".join(lines)


def _with_emoji(path: str, text: str) -> str:
    if path.endswith(".rs"):
        return f"// {ROCKET}\n{text}" if not text.startswith("//!") else text.replace("\n", f" {ROCKET}\n", 1)
    lines = text.splitlines(keepends=True)
    imports = [row for row, line in enumerate(lines) if line.startswith(("import ", "from ")) and "(" not in line]
    if imports:
        lines.insert(imports[-1] + 1, f'_ROCKET = "{ROCKET}"\n')
    return f"# {ROCKET}\n" + "".join(lines)


def comments(path: str, text: str) -> list[str]:
    """The comments of a file, in order."""
    text = text.removeprefix("\ufeff")
    if path.endswith(".py"):
        return [token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT]
    return [line[line.index("//") :].strip() for line in text.splitlines() if "//" in line] if path.endswith(".rs") else []
