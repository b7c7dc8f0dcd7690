"""Rewrites of a whole Python file that change names and imports, not what is done."""

from __future__ import annotations

import ast
import re

from .python_file import FUNCTIONS, Edit, PythonFile, bound_names, locals_of, own, parameters, read_names

IMPORTS = (ast.Import, ast.ImportFrom)


def binder(file: PythonFile, node: ast.Name) -> ast.AST | None:
    """The function, lambda or comprehension that binds a name; None for the module."""
    for scope in file.enclosing(node):
        if node.id in locals_of(scope):
            return scope
    return None


def rename_locals(file: PythonFile) -> str:
    """Locals of all functions, and parameters of those that nobody outside of the module calls."""
    keywords = {item.arg for node in ast.walk(file.tree) if isinstance(node, ast.Call) for item in node.keywords}
    renamed: dict[ast.AST, set[str]] = {}
    edits: list[Edit] = []
    for scope in ast.walk(file.tree):
        if not isinstance(scope, (*FUNCTIONS, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)):
            continue
        names = locals_of(scope) - file.in_strings
        held = [parameters(scope)] if isinstance(scope, FUNCTIONS) else []
        private = isinstance(scope, ast.Lambda) or bool(file.enclosing(scope)) or getattr(scope, "name", "_").startswith("_")
        method = bool(file.enclosing(scope)) and isinstance(file.enclosing(scope)[0], ast.ClassDef)
        for arg in (arg for args in held for arg in args):
            if not private or method or arg.arg in keywords:
                names.discard(arg.arg)
        if not isinstance(scope, ast.Lambda):
            kept = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
            names -= {name for node in own(scope) if isinstance(node, kept) for name in _named_by(node)}
            inner = [node for node in ast.walk(scope) if isinstance(node, (ast.Nonlocal, ast.Global))]
            names -= {name for node in inner for name in node.names}
        renamed[scope] = names
        for arg in (arg for args in held for arg in args if arg.arg in names):
            start = file.span(arg)[0]
            edits.append((start, start + len(arg.arg.encode()), new_name(arg.arg)))
    strings = {node for string in ast.walk(file.tree) if isinstance(string, ast.JoinedStr) for node in ast.walk(string)}
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Name) and node not in strings:
            scope = binder(file, node)
            if scope is not None and node.id in renamed.get(scope, ()):
                edits.append((*file.span(node), new_name(node.id)))
    return file.edited(edits)


def new_name(name: str) -> str:
    return f"{name}_val"


def _named_by(node: ast.AST) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    return bound_names(node) if isinstance(node, IMPORTS) else [node.name] if node.name else []


def _module_imports(file: PythonFile) -> list[ast.stmt]:
    return [
        item
        for item in file.tree.body
        if isinstance(item, IMPORTS)
        and getattr(item, "module", "") != "__future__"
        and all(alias.name != "*" for alias in item.names)
    ]


def _uses(file: PythonFile, name: str) -> list[ast.Name]:
    found = [node for node in ast.walk(file.tree) if isinstance(node, ast.Name) and node.id == name]
    return [node for node in found if binder(file, node) is None]


def _exported(file: PythonFile) -> set[str]:
    """Names that other files may ask this one for: strings in it."""
    return {node.value for node in ast.walk(file.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def alias_imports(file: PythonFile) -> str | None:
    """Every imported module and name under another name."""
    edits: list[Edit] = []
    for item in _module_imports(file):
        new = []
        for alias in item.names:
            name = alias.asname or alias.name
            if "." in name or name in file.in_strings or name in _exported(file) or not _uses(file, name):
                new.append(ast.unparse(alias))
                continue
            new.append(f"{alias.name} as {name}_alias")
            edits += [(*file.span(node), f"{name}_alias") for node in _uses(file, name)]
        head = f"from {'.' * item.level}{item.module or ''} import " if isinstance(item, ast.ImportFrom) else "import "
        edits.append((*file.span(item), head + ", ".join(new)))
    return file.edited(edits) if edits else None


def import_modules(file: PythonFile) -> str | None:
    """`from a.b import c` becomes `from a import b as b_mod` with `b_mod.c` where `c` was."""
    edits: list[Edit] = []
    for item in _module_imports(file):
        if not isinstance(item, ast.ImportFrom) or not item.module or item.level > 1 or any(a.asname for a in item.names):
            continue
        names = [alias.name for alias in item.names]
        if any(name in file.in_strings or name in _exported(file) for name in names):
            continue
        parent, _, module = item.module.rpartition(".")
        if not parent and not item.level:
            statement = f"import {module} as {module}_mod"
        else:
            statement = f"from {'.' * item.level}{parent} import {module} as {module}_mod"
        edits.append((*file.span(item), statement))
        edits += [(*file.span(node), f"{module}_mod.{name}") for name in names for node in _uses(file, name)]
    return file.edited(edits) if edits else None


def import_in_functions(file: PythonFile) -> str | None:
    """What a function uses of the module's imports is imported in the function too."""
    edits: list[Edit] = []
    for function in file.tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        wanted = [name for statement in function.body for name in read_names(statement)]
        bound = locals_of(function)
        holders = [file.globals[n] for n in dict.fromkeys(wanted) if n in file.globals and n not in bound]
        statements = [ast.unparse(item) for item in dict.fromkeys(holders) if item in _module_imports(file)]
        begun = file.own_line(function.body[0])
        if statements and begun and not isinstance(function.body[0], ast.Expr):
            edits.append((begun[0], begun[0], "".join(f"{begun[1]}{text}\n" for text in statements)))
    return file.edited(edits) if edits else None


def import_in_try(file: PythonFile) -> str | None:
    """Imports that tell what is missing."""
    edits: list[Edit] = []
    for item in _module_imports(file):
        text = ast.unparse(item)
        start, end = file.span(item)
        edits.append(
            (start, end, f"try:\n    {text}\nexcept ImportError as error:\n    raise RuntimeError('missing') from error")
        )
    return file.edited(edits) if edits else None


def name_numbers(file: PythonFile) -> str | None:
    """Numbers of function bodies become constants of the module."""
    edits: list[Edit] = []
    numbers: dict[int, str] = {}
    annotations = {sub for node in ast.walk(file.tree) for a in _annotations(node) for sub in ast.walk(a)}
    strings = {node for string in ast.walk(file.tree) if isinstance(string, ast.JoinedStr) for node in ast.walk(string)}
    for node in ast.walk(file.tree):
        plain = isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1
        if plain and file.enclosing(node) and node not in annotations and node not in strings:
            if any(isinstance(item, (ast.match_case,)) for item in file.above(node)):
                continue
            name = numbers.setdefault(node.value, f"_NUMBER_{node.value}")
            edits.append((*file.span(node), name))
    place = file.after_imports()
    text = "".join(f"{name} = {value}\n" for value, name in numbers.items())
    return file.edited([(place, place, text), *edits]) if edits else None


def _annotations(node: ast.AST) -> list[ast.AST]:
    found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    return [item for item in found if isinstance(item, ast.AST)]


def rename_functions(file: PythonFile) -> str | None:
    """Private functions of the module, and nested ones, get other names."""
    edits: list[Edit] = []
    for function in file.functions():
        name, scopes = function.name, file.enclosing(function)
        if (
            (not scopes and not name.startswith("_"))
            or name.startswith("__")
            or name in file.in_strings
            or name in _exported(file)
        ):
            continue
        if scopes and not isinstance(scopes[0], ast.FunctionDef):
            continue
        if [other.name for other in file.functions()].count(name) > 1 or len(re.findall(rf"\b{name}\s*=[^=]", file.text)) > 0:
            continue
        head = file.data.index(f"def {name}".encode(), file.span(function)[0])
        edits.append((head + 4, head + 4 + len(name.encode()), f"{name}_fn"))
        uses = [node for node in ast.walk(file.tree) if isinstance(node, ast.Name) and node.id == name]
        edits += [(*file.span(node), f"{name}_fn") for node in uses]
    return file.edited(edits) if edits else None
