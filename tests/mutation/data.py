"""Other ways to write the same JSON, TOML and Tile IR."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from cutile_lint.engine.cases import Tree

from .python import Rewrite
from .sources import Span

_QUOTED = re.compile(r"(?m)^[^'\n]*$")
_STRING = re.compile(r'"([^"\\\n]*)"')
_INLINE = re.compile(r"^([\w-]+)\s*=\s*\{([^{}\[\]\n]*)\}[ \t]*$")


def _of(suffix: str, change: Callable[[str], str]) -> Rewrite:
    def rewrite(tree: Tree, places: Sequence[Span]) -> Tree | None:
        new = {path: change(text) for path, text in tree.items() if path.endswith(suffix) and text.strip()}
        return {**tree, **new} if any(text != tree[path] for path, text in new.items()) else None

    return rewrite


def _json(made: Callable[[Any], str]) -> Callable[[str], str]:
    def change(text: str) -> str:
        try:
            return made(json.loads(text))
        except ValueError:  # a case of a file that is none
            return text

    return change


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(item) for key, item in reversed(value.items())}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def tables(text: str) -> str:
    """``name = {…}`` among the dependencies becomes ``[dependencies.name]`` at the end."""
    section, kept, moved = "", [], []
    for line in text.split("\n"):
        if line.startswith("["):
            section = line.strip().strip("[]")
        found = _INLINE.match(line)
        if found and section.endswith("dependencies"):
            keys = [part.strip() for part in found[2].split(",") if part.strip()]
            moved.append("\n".join([f"[{section}.{found[1]}]", *keys]))
        else:
            kept.append(line)
    return "\n".join(kept) + "".join(f"\n{table}\n" for table in moved)


def remarks(mark: str) -> Callable[[str], str]:
    """A comment and a blank line before each line that begins a new thing."""
    return lambda text: re.sub(r"(?m)^(?=[\w\[%])", f"\n{mark} a remark\n", text)


DATA: dict[str, Rewrite] = {
    "json-compact": _of(".json", _json(lambda value: json.dumps(value, separators=(",", ":")))),
    "json-indented": _of(".json", _json(lambda value: json.dumps(value, indent=4) + "\n")),
    "json-reordered": _of(".json", _json(lambda value: json.dumps(_reversed(value), indent=1))),
    "toml-quotes": _of(".toml", lambda text: _QUOTED.sub(lambda line: _STRING.sub(r"'\1'", line[0]), text)),
    "toml-remarks": _of(".toml", remarks("#")),
    "toml-tables": _of(".toml", tables),
    "mlir-remarks": _of(".mlir", lambda text: re.sub(r"(?m)\n(?=[ \t]*[%}\w])", "\n\n  // a remark\n", text)),
    "mlir-names": _of(".mlir", lambda text: re.sub(r"%(?=\w)", "%v_", text)),
    "mlir-wide": _of(".mlir", lambda text: re.sub(r"\n[ \t]*", "\n\t\t ", text)),
}
