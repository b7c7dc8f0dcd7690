"""What the first segment of a Rust path means by the file's ``use`` and ``type`` items."""

from __future__ import annotations

from cutile_lint.frontends import syntax


def rust_names(module: syntax.Module) -> dict[str, str]:
    """Full path by alias, of all imports in a file."""
    found: dict[str, str] = {}
    for node in module.walk():
        if isinstance(node, syntax.Import):
            for name in node.names:
                if name.name is not None and name.name != "*":
                    found[name.alias] = f"{name.module}::{name.name}" if name.name != "self" else name.module
    return found


def renamed(module: syntax.Module) -> dict[str, str]:
    """Own name by alias, for what a file calls otherwise than its definition: ``use m::Device as Gpu``, ``type Gpu = m::Device``.

    A name with two meanings in one file has none here.
    """
    data = module.source.data
    found: dict[str, set[str]] = {}
    if b" as " in data or b"type " in data:
        for node in module.walk():
            for alias, path in _aliases(node):
                own = path.rsplit("::", 1)[-1]
                if own != alias and own not in ("self", "*"):
                    found.setdefault(alias, set()).add(own)
    return {alias: names.pop() for alias, names in found.items() if len(names) == 1}


def _aliases(node: syntax.Node) -> list[tuple[str, str]]:
    if isinstance(node, syntax.Import):
        return [(name.alias, name.name if name.name != "self" else name.module) for name in node.names if name.name]
    if isinstance(node, syntax.Assign) and node.annotation == "type" and isinstance(node.value, syntax.Name):
        target = node.targets[0] if node.targets else None
        path = node.value.id.split("<", 1)[0].strip()
        if isinstance(target, syntax.Name) and path.replace("::", "").replace("_", "").isalnum():
            return [(target.id, path)]
    return []
