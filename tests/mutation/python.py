"""The rewrites of Python, on trees of files."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Callable, Sequence

from cutile_lint.engine.cases import Tree

from . import python_moves, python_names, python_shapes
from .python_file import PythonFile
from .python_places import EXPRESSIONS, Disguise, Site
from .python_statements import STATEMENTS
from .sources import Span

#: (tree, places of what is to be hidden) → the tree with it hidden; None: not here
Rewrite = Callable[[Tree, Sequence[Span]], "Tree | None"]


def read(text: str) -> PythonFile | None:
    """None for texts whose layout these rewrites do not keep."""
    if "\r" in text or "\t" in text or text.startswith("\ufeff"):
        return None
    try:
        return PythonFile(text)
    except (SyntaxError, ValueError):
        return None


def _files(tree: Tree) -> list[tuple[str, PythonFile]]:
    chosen = [path for path in tree if path.endswith(".py") and not path.endswith("__init__.py")]
    return [(path, file) for path in chosen if (file := read(tree[path])) is not None]


def whole(change: Callable[[PythonFile], str | None]) -> Rewrite:
    def rewrite(tree: Tree, places: Sequence[Span]) -> Tree | None:
        new = {path: text for path, file in _files(tree) if (text := change(file)) is not None and text != file.text}
        return {**tree, **new} if new else None

    return rewrite


def split(tree: Tree, places: Sequence[Span]) -> Tree | None:
    new: Tree = {}
    for path, file in _files(tree):
        folder, _, name = path.rpartition("/")
        if not _in_package(tree, path):
            continue
        module = f"_{name.removesuffix('.py').strip('_')}_parts"
        parts = python_moves.split_module(file, module)
        if parts is not None:
            new[path] = parts[0]
            new[f"{folder}/{module}.py" if folder else f"{module}.py"] = parts[1]
    return {**tree, **new} if new else None


def _in_package(tree: Tree, path: str) -> bool:
    folder = path.rpartition("/")[0]
    return (f"{folder}/__init__.py" if folder else "__init__.py") in tree


def disguised(disguise: Disguise, *, statements: bool) -> Rewrite:
    """The disguise at the places; without places, at some calls of each file."""

    def rewrite(tree: Tree, places: Sequence[Span]) -> Tree | None:
        new: Tree = {}
        count = 0
        for path, file in _files(tree):
            nodes = _at(file, [place for place in places if place[0] == path]) if places else _some(file, statements)
            edits, taken = [], []
            for node in nodes:
                part = file.statement(node) if statements else node
                span = file.span(part)
                if any(span[0] < end and start < span[1] for start, end in taken):
                    continue
                site = Site(file, node, count, in_package=_in_package(tree, path))
                made = disguise(site)
                if not made or any(item is None for item in made):
                    continue
                count += 1
                taken.append(span)
                edits += made
                folder = path.rpartition("/")[0]
                new |= {f"{folder}/{name}.py" if folder else f"{name}.py": text for name, text in site.added.items()}
            if edits:
                new[path] = file.edited(edits)
        return {**tree, **new} if new else None

    return rewrite


def _at(file: PythonFile, places: Sequence[Span]) -> list[ast.expr]:
    """The smallest expression around each place; for a place that is a statement, the first expression in it."""
    found = []
    for _, start, end in places:
        around = [(item, file.span(item)) for item in _expressions(file)]
        inside = sorted((e - s, s, item.col_offset, item) for item, (s, e) in around if s <= start and end <= e)
        if inside:
            found.append(inside[0][-1])
            continue
        under = [item for item, (s, e) in around if start <= s and e <= end]
        found += under[:1]
    return list(dict.fromkeys(found))


def _expressions(file: PythonFile) -> list[ast.expr]:
    """Expressions that may stand elsewhere: read, not inside a formatted string, not part of a decorator, signature or pattern."""
    found = []
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.expr) or isinstance(node, (ast.Starred, ast.Slice)):
            continue
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            continue
        above = list(file.above(node))
        kinds = (ast.JoinedStr, ast.pattern, ast.arguments, ast.arg)
        if any(isinstance(item, kinds) for item in above) or _is_outside(node, above):
            continue
        if any(isinstance(item, (ast.Yield, ast.Await, ast.NamedExpr)) for item in ast.walk(node)):
            continue
        found.append(node)
    return found


def _is_outside(node: ast.AST, above: list[ast.AST]) -> bool:
    child = node
    for item in above:
        if isinstance(item, (ast.FunctionDef, ast.ClassDef)) and child not in item.body:
            return True
        if isinstance(item, ast.ClassDef) or (isinstance(item, ast.AnnAssign) and child is item.annotation):
            return True
        if isinstance(item, (ast.FunctionDef, ast.Lambda)):
            break
        child = item
    return False


def _some(file: PythonFile, statements: bool, most: int = 4) -> list[ast.expr]:
    """Some calls inside of functions."""
    calls = [node for node in _expressions(file) if isinstance(node, ast.Call) and file.enclosing(node)]
    calls.sort(key=lambda node: zlib.crc32(f"{node.lineno}{statements}{file.of(node)}".encode()))
    return calls[:most]


PYTHON: dict[str, Rewrite] = {
    **{f"py-{name}": disguised(function, statements=False) for name, function in EXPRESSIONS.items()},
    **{f"py-{name}": disguised(function, statements=True) for name, function in STATEMENTS.items()},
    **{f"py-{name}": whole(function) for name, function in python_moves.TUNED.items()},
    "py-split-module": split,
}
for _module, _names in (
    (python_names, "rename_locals rename_functions alias_imports import_modules import_in_functions import_in_try name_numbers"),
    (python_shapes, "unparsed narrow reverse_keywords pass_by_keyword wrap_bodies decorate inline_functions reorder_functions"),
    (python_shapes, "swap_statements unrelated_code invert_ifs conditional_statements"),
    (python_moves, "into_a_class lift_nested"),
):
    PYTHON |= {f"py-{name.replace('_', '-')}": whole(getattr(_module, name)) for name in _names.split()}
