"""Disguises of the Python statement around an expression: other statements around it, or a function of its own."""

from __future__ import annotations

import ast

from .python_file import Edit, bound_names
from .python_places import Disguise, Site


def _wrapped(site: Site, head: str, tail: str = "", extra: str = "") -> list[Edit] | None:
    """The statement as the body of another one."""
    file, statement = site.file, site.statement
    begun = file.own_line(statement)
    strings = [node for node in ast.walk(statement) if isinstance(node, (ast.Constant, ast.JoinedStr))]
    if begun is None or any(node.lineno != node.end_lineno for node in strings) or isinstance(statement, ast.FunctionDef):
        return None
    start, indent = begun
    end = file.span(statement)[1]
    if file.data[end : file.data.find(b"\n", end)].strip().startswith(b";"):
        return None
    lines = file.data[start:end].decode().split("\n")
    body = "\n".join(f"    {line}" if line.strip() else line for line in lines)
    text = f"{indent}{head}\n{body}" + (f"\n{indent}{tail}" if tail else "") + (f"\n{indent}    {extra}" if extra else "")
    return [(start, end, text)]


def _leaves(statement: ast.stmt) -> bool:
    return any(isinstance(node, (ast.Break, ast.Continue)) for node in ast.walk(statement))


def under_if_true(site: Site) -> list[Edit] | None:
    return _wrapped(site, "if True:")


def in_try(site: Site) -> list[Edit] | None:
    return _wrapped(site, "try:", "finally:", "pass")


def in_with(site: Site) -> list[Edit] | None:
    edits = _wrapped(site, "with _contextlib.nullcontext():")
    return edits and [site.imported("import contextlib as _contextlib"), *edits]


def in_match(site: Site) -> list[Edit] | None:
    edits = _wrapped(site, "    case _:")
    if edits is None:
        return None
    start, end, text = edits[0]
    indent = text[: len(text) - len(text.lstrip(" "))][4:]
    lines = text.split("\n")
    return [
        (start, end, "\n".join([f"{indent}match 0:", lines[0], *(f"    {line}" if line.strip() else line for line in lines[1:])]))
    ]


def in_a_loop(site: Site) -> list[Edit] | None:
    return None if _leaves(site.statement) else _wrapped(site, "for _ in range(1):")


def extracted_statement(site: Site) -> list[Edit] | None:
    """A function of the module that does the statement and returns what it binds."""
    file, statement = site.file, site.statement
    scopes = file.enclosing(statement)
    refused = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.Global, ast.Nonlocal, ast.FunctionDef, ast.Delete)
    if not scopes or not isinstance(scopes[0], ast.FunctionDef) or any(isinstance(n, refused) for n in ast.walk(statement)):
        return None
    begun = file.own_line(statement)
    strings = [node for node in ast.walk(statement) if isinstance(node, (ast.Constant, ast.JoinedStr))]
    if begun is None or any(node.lineno != node.end_lineno for node in strings):
        return None
    start, indent = begun
    end = file.span(statement)[1]
    bound, taken = bound_names(statement), file.free(statement)
    simple = isinstance(statement, (ast.Assign, ast.AnnAssign))
    earlier = [item for item in scopes[0].body if file.span(item)[1] <= start]
    known = {arg.arg for arg in scopes[0].args.args} | {name for item in earlier for name in bound_names(item)}
    if not simple:
        if any(name not in known for name in bound):
            return None
        taken = list(dict.fromkeys([*taken, *bound]))
    lines = [line[len(indent) :] for line in file.data[start:end].decode().split("\n")]
    body = "\n".join(f"    {line}" if line.strip() else line for line in lines)
    names, args = ", ".join(bound), ", ".join(taken)
    text = f"def {site.name}({args}):\n{body}\n" + (f"    return {names}\n" if bound else "") + "\n\n"
    return [site.at_top(text), (start, end, f"{indent}{f'{names} = ' if bound else ''}{site.name}({args})")]


STATEMENTS: dict[str, Disguise] = {
    function.__name__.replace("_", "-"): function
    for function in (under_if_true, in_try, in_with, in_match, in_a_loop, extracted_statement)
}
