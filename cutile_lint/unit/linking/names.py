"""What a name in a Python module means by its imports, without running anything."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from cutile_lint.frontends import syntax


def fits(name: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns (``*`` stands for any text) is the name."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def imports_of(module: syntax.Module) -> dict[str, str]:
    """Dotted path by alias, for all imports of a module (nested ones too)."""
    found: dict[str, str] = {}
    for node in module.nodes(syntax.Import):
        for name in node.names:
            prefix = "." * node.level + name.module
            if name.name is None:
                found[name.alias] = name.module if name.alias != name.module.split(".")[0] else name.alias
            else:
                found[name.alias] = f"{prefix}.{name.name}" if prefix.strip(".") else f"{prefix}{name.name}"
    return found


def last_name(node: syntax.Expr) -> str:
    """``F.relu`` → ``relu``; "" for what is neither a name nor an attribute."""
    return node.id if isinstance(node, syntax.Name) else node.name if isinstance(node, syntax.Attr) else ""


def dotted(node: syntax.Expr, imports: dict[str, str]) -> str:
    """``F.relu`` → ``torch.nn.functional.relu``; "" for what is no dotted name."""
    if isinstance(node, syntax.Name):
        return imports.get(node.id, node.id)
    if isinstance(node, syntax.Attr):
        base = dotted(node.base, imports)
        return f"{base}.{node.name}" if base else ""
    return ""
