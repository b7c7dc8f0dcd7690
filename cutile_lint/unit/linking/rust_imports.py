"""What the first segment of a Rust path means by the file's ``use`` and ``type`` items."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.frontends import syntax
from cutile_lint.regex import regex

_RENAMES = regex(rb"\b(?:as|type)\b")


def rust_names(module: syntax.Module) -> dict[str, str]:
    """Full path by alias, of all imports in a file."""
    found: dict[str, str] = {}
    for node in module.nodes(syntax.Import):
        for name in node.names:
            if name.name is not None and name.name != "*":
                found[name.alias] = f"{name.module}::{name.name}" if name.name != "self" else name.module
    return found


def included(node: syntax.Node) -> Iterator[str]:
    """The file names that are written in the ``include!`` of a part of a file."""
    for part in node.walk():
        if isinstance(part, syntax.Call) and part.macro and isinstance(part.func, syntax.Name):
            name = part.args[0].value if part.args and part.func.last.rstrip("!") == "include" else None
            if isinstance(name, syntax.Const) and isinstance(name.value, str):
                yield name.value


def renamed(module: syntax.Module) -> dict[str, str]:
    """Own name by alias, for what a file calls otherwise than its definition: ``use m::Device as Gpu``, ``type Gpu = m::Device``.

    A name with two meanings in one file has none here.
    """
    found: dict[str, set[str]] = {}
    if module.source.matches(_RENAMES):
        for node in module.nodes(syntax.Import, syntax.Assign):
            for alias, path in _aliases(node):
                own = path.rsplit("::", 1)[-1]
                if own != alias and own not in ("self", "*"):
                    found.setdefault(alias, set()).add(own)
    return {alias: names.pop() for alias, names in found.items() if len(names) == 1}


def imported(module: syntax.Module) -> dict[str, str]:
    """Path by name, of what a file imports; a name with two meanings in one file has none here."""
    found: dict[str, set[str]] = {}
    for node in module.nodes(syntax.Import):
        for name in node.names:
            if name.name and name.name != "*":
                path = name.module if name.name == "self" else f"{name.module}::{name.name}" if name.module else name.name
                found.setdefault(name.alias if name.alias != "self" else path.rsplit("::", 1)[-1], set()).add(path)
    return {alias: paths.pop() for alias, paths in found.items() if len(paths) == 1}


def is_path(text: str) -> bool:
    """``cutile::tile_kernel::CompileOptions``: names alone, no generics, references or arrays."""
    return text.replace("::", "").replace("_", "").isalnum()


def _aliases(node: syntax.Import | syntax.Assign) -> list[tuple[str, str]]:
    if isinstance(node, syntax.Import):
        return [(name.alias, name.name if name.name != "self" else name.module) for name in node.names if name.name]
    if node.annotation == "type" and node.name and isinstance(node.value, syntax.Name):
        path = node.value.id.split("<", 1)[0].strip()
        return [(node.name, path)] if is_path(path) else []
    return []
