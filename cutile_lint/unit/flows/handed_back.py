"""Which arguments of a helper's call come back as its result, perhaps converted: through ``cfg`` a helper reads, ``value`` it hands back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cutile_lint.frontends import syntax
from cutile_lint.unit.linking.program import Program

_MAX_IMPORTS = 4


def handed_back(call: syntax.Call, function: syntax.Function) -> list[syntax.Arg]:
    """The call's arguments that the function's result is made of."""
    names = names_handed_back(function)
    places = [param.name for param in function.params if param.kind in ("positional", "positional_only", "*")]
    return [
        arg for at, arg in enumerate(call.args) if arg.spread or (arg.name or (places[at] if at < len(places) else "")) in names
    ]


def helper_named(name: str, importer: Path, around: list[syntax.Function], program: Program) -> syntax.Function | None:
    """The project's function that a name means in a module, or inside of functions there (``around``, inner ones first)."""
    for outer in around:
        if (found := _defined(outer.body, name)) is not None:
            return found
    path: Path | None = importer
    for _ in range(_MAX_IMPORTS):
        module = program.module(path) if path is not None else None
        if module is None or path is None:
            return None
        if (found := _defined(module.body, name)) is not None:
            return found
        imported = _imported(module, name)
        if imported is None:
            return None
        path, name = program.resolve(path, imported[0].module, imported[1]), imported[0].name or ""
    return None


def _defined(body: list[syntax.Stmt], name: str) -> syntax.Function | None:
    return next((one.function for one in body if isinstance(one, syntax.FunctionDef) and one.function.name == name), None)


def _imported(module: syntax.Module, name: str) -> tuple[syntax.ImportName, int] | None:
    imports = [one for one in module.body if isinstance(one, syntax.Import)]
    return next(((found, one.level) for one in imports for found in one.names if found.alias == name and found.name), None)


def names_handed_back(function: syntax.Function) -> set[str]:
    """Names that a function's results, and the locals in them, are made of: not those that are only read from or tested."""
    found: set[str] = set()
    pending = [name for node in function.walk() if isinstance(node, syntax.Return) for name in _names(node.value)]
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        for node in function.walk():
            if isinstance(node, (syntax.Assign, syntax.Walrus)):
                targets = node.targets if isinstance(node, syntax.Assign) else [node.target]
                if any(isinstance(part, syntax.Name) and part.id == name for target in targets for part in target.walk()):
                    pending += _names(node.value)
    return found


def _names(value: syntax.Expr | None) -> Iterator[str]:
    if isinstance(value, syntax.Name):
        yield value.id
    elif isinstance(value, syntax.Cond):
        yield from _names(value.then)
        yield from _names(value.orelse)
    elif isinstance(value, syntax.Call):
        reads = isinstance(value.func, syntax.Name) and value.func.id == "getattr"
        for arg in value.args[1:] if reads else value.args:
            yield from _names(arg.value)
    elif value is not None and not isinstance(value, (syntax.Attr, syntax.Index, syntax.Compare)):
        for part in value.children():
            if isinstance(part, syntax.Expr):
                yield from _names(part)
