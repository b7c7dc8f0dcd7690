"""Attributes of ctypes functions that are misspelt: ctypes takes any attribute and ignores those it does not know."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.frontends import syntax
from cutile_lint.sources import Place

_MEANT = {
    **dict.fromkeys(["argtype", "arg_types", "argstypes", "args_types", "argtyps", "argtpyes", "argypes", "arg_type", "argumenttypes"], "argtypes"),
    **dict.fromkeys(["restypes", "res_type", "res_types", "resttype", "rettype", "ret_type", "restyp", "returntype", "rtype", "restpye"], "restype"),
}  # fmt: skip


def misspelt_attributes(module: syntax.Module) -> Iterator[tuple[Place, str, str]]:
    """(place, what is written, what is meant) for each assignment to such an attribute of an object that is no local class."""
    if not _uses_ctypes(module):
        return
    for node in module.walk():
        targets: list[syntax.Expr] = list(node.targets) if isinstance(node, syntax.Assign) else []
        for target in targets:
            for part in target.items if isinstance(target, syntax.Sequence) else [target]:
                if (
                    isinstance(part, syntax.Attr)
                    and part.name in _MEANT
                    and not (isinstance(part.base, syntax.Name) and part.base.id in ("self", "cls"))
                ):
                    yield Place(module.source, part.name_span), part.name, _MEANT[part.name]
        if (
            isinstance(node, syntax.Call)
            and isinstance(node.func, syntax.Name)
            and node.func.id == "setattr"
            and len(node.args) == 3
        ):
            name = node.args[1].value
            name = name.value if isinstance(name, syntax.Walrus) else name
            if isinstance(name, syntax.Const) and name.value in _MEANT:
                yield Place(module.source, name.span), str(name.value), _MEANT[str(name.value)]


def _uses_ctypes(module: syntax.Module) -> bool:
    return any(name.module.split(".")[0] == "ctypes" for node in module.nodes(syntax.Import) for name in node.names)
