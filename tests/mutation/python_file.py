"""A Python file as bytes and tree, with what a rewrite must know: places, scopes, free names."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from functools import cached_property

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)
BUILTINS = frozenset(dir(builtins))
Edit = tuple[int, int, str]


def splice(data: bytes, edits: list[Edit]) -> bytes:
    """Raises ValueError for edits that overlap."""
    parts, done = [], 0
    for start, end, new in sorted(edits, key=lambda item: item[:2]):
        if start < done:
            raise ValueError("edits overlap")
        parts += [data[done:start], new.encode()]
        done = end
    return b"".join([*parts, data[done:]])


class PythonFile:
    """Raises SyntaxError for a text that does not parse."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.data = text.encode()
        self.tree = ast.parse(self.data)
        self.rows = [0]
        for line in self.data.splitlines(keepends=True):
            self.rows.append(self.rows[-1] + len(line))
        self.parent = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    # ── places ──

    def span(self, node: ast.AST) -> tuple[int, int]:
        start = min(
            [(node.lineno, node.col_offset), *((d.lineno, d.col_offset - 1) for d in getattr(node, "decorator_list", ()))]
        )
        return self.rows[start[0] - 1] + start[1], self.rows[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def edited(self, edits: list[Edit]) -> str:
        """The text with the edits made; of those at one place, the first comes first. Raises ValueError if two overlap."""
        return splice(self.data, edits).decode()

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parent:
            node = self.parent[node]
            yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        return node if isinstance(node, ast.stmt) else next(item for item in self.above(node) if isinstance(item, ast.stmt))

    def top(self, node: ast.AST) -> ast.stmt:
        """The statement of the module that holds a node."""
        return [item for item in (node, *self.above(node)) if isinstance(item, ast.stmt)][-1]

    def line_start(self, offset: int) -> int:
        return self.data.rfind(b"\n", 0, offset) + 1

    def own_line(self, statement: ast.stmt) -> tuple[int, str] | None:
        """Where a statement's line begins and its indentation; None if it shares the line, or is the `elif` of another."""
        start = self.span(statement)[0]
        begin = self.line_start(start)
        indent = self.data[begin:start].decode()
        return (begin, indent) if not indent.strip(" ") and not self.data[start:].startswith(b"elif") else None

    def after_imports(self) -> int:
        """Where the line behind the module's first imports begins."""
        place = 0
        for index, item in enumerate(self.tree.body):
            docstring = index == 0 and isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
            if not docstring and not isinstance(item, (ast.Import, ast.ImportFrom)):
                break
            place = self.rows[item.end_lineno]
        return place

    # ── scopes ──

    def functions(self) -> list[ast.FunctionDef]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]

    @cached_property
    def in_strings(self) -> set[str]:
        """Names inside formatted strings, whose places are not known."""
        inside = [node for string in ast.walk(self.tree) if isinstance(string, ast.JoinedStr) for node in ast.walk(string)]
        return {node.id for node in inside if isinstance(node, ast.Name)}

    @cached_property
    def globals(self) -> dict[str, ast.stmt]:
        """What the module binds, by name, with the statement that does it first."""
        found: dict[str, ast.stmt] = {}
        for item in self.tree.body:
            for name in bound_names(item):
                found.setdefault(name, item)
        return found

    def enclosing(self, node: ast.AST) -> list[ast.AST]:
        """The scopes around a node, the nearest first; a decorator or default is outside of its function."""
        found, child = [], node
        for item in self.above(node):
            inside = child is item.body if isinstance(item, ast.Lambda) else isinstance(item, SCOPES) and _is_in_body(item, child)
            if isinstance(item, COMPREHENSIONS) or inside:
                found.append(item)
            child = item
        return found

    def free(self, node: ast.AST) -> list[str]:
        """Names that a node reads and that functions, lambdas or comprehensions around it bind, in order of appearance."""
        outer = set().union(*(locals_of(scope) for scope in self.enclosing(node)), set())
        return [name for name in read_names(node) if name in outer]


def _is_in_body(scope: ast.AST, child: ast.AST) -> bool:
    body = getattr(scope, "body", ())
    return isinstance(body, list) and child in body


def parameters(function: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    args = function.args
    return [*args.posonlyargs, *args.args, *filter(None, [args.vararg]), *args.kwonlyargs, *filter(None, [args.kwarg])]


def own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, not those of the scopes in it."""
    queue = list(ast.iter_child_nodes(scope))
    while queue:
        node = queue.pop(0)
        yield node
        if not isinstance(node, SCOPES):
            queue[:0] = ast.iter_child_nodes(node)
        elif not isinstance(node, COMPREHENSIONS):
            queue[:0] = [*getattr(node, "decorator_list", ()), *_defaults(node)]
        else:
            queue.insert(0, node.generators[0].iter)


def _defaults(node: ast.AST) -> list[ast.expr]:
    args = getattr(node, "args", None)
    return [item for item in (*args.defaults, *args.kw_defaults) if item] if isinstance(args, ast.arguments) else []


def bound_names(node: ast.AST) -> list[str]:
    """What a statement or a scope's own nodes bind."""
    found = []
    for item in (node, *own(node)) if not isinstance(node, SCOPES) else (node,):
        if isinstance(item, ast.Name) and isinstance(item.ctx, (ast.Store, ast.Del)):
            found.append(item.id)
        elif isinstance(item, (ast.FunctionDef, ast.ClassDef)):
            found.append(item.name)
        elif isinstance(item, (ast.Import, ast.ImportFrom)):
            found += [alias.asname or alias.name.partition(".")[0] for alias in item.names]
        elif isinstance(item, ast.ExceptHandler) and item.name:
            found.append(item.name)
        elif isinstance(item, (ast.MatchAs, ast.MatchStar)) and item.name:
            found.append(item.name)
    return list(dict.fromkeys(found))


def locals_of(scope: ast.AST) -> set[str]:
    if isinstance(scope, COMPREHENSIONS):
        targets = [node for generator in scope.generators for node in ast.walk(generator.target)]
        return {node.id for node in targets if isinstance(node, ast.Name)}
    if isinstance(scope, ast.ClassDef):
        return set()
    found = {item.arg for item in parameters(scope)}
    if isinstance(scope, ast.Lambda):
        return found
    body = ast.Module(body=scope.body, type_ignores=[])
    outer = {name for node in own(scope) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    return (found | set(bound_names(body))) - outer


def read_names(node: ast.AST) -> list[str]:
    """Names that are read in a node and not bound by a lambda, function or comprehension inside of it."""
    found: list[str] = []

    def visit(item: ast.AST, hidden: frozenset[str]) -> None:
        if isinstance(item, ast.Name) and item.id not in hidden and isinstance(item.ctx, ast.Load):
            found.append(item.id)
        if isinstance(item, (*FUNCTIONS, *COMPREHENSIONS)):
            hidden = hidden | locals_of(item)
        for child in ast.iter_child_nodes(item):
            visit(child, hidden)

    visit(node, frozenset())
    return list(dict.fromkeys(found))


def needed_early(tree: ast.Module, besides: tuple[type[ast.stmt], ...] = ()) -> set[str]:
    """Names that are read while the module is imported; ``besides``: kinds of statements that are not looked at."""
    early = {name for item in tree.body if not isinstance(item, (ast.FunctionDef, *besides)) for name in read_names(item)}
    functions = [item for item in tree.body if isinstance(item, ast.FunctionDef)]
    return early | {name for item in functions for part in (*item.decorator_list, item.args) for name in read_names(part)}
