"""What the first segment of a Rust path means by the file's ``use`` items."""

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
