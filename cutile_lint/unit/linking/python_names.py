"""Where names are bound and mentioned in a piece of Python, without running it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cutile_lint.frontends import syntax
from cutile_lint.sources.nested import Nested


def bindings(root: syntax.Module | syntax.Function, name: str) -> list[syntax.Node]:
    """The nodes that give ``name`` a value anywhere below ``root``, nested functions included, in source order."""
    return sorted((node for node, bound in _bound(nodes_naming(root, name)) if bound == name), key=lambda node: node.span.start)


@syntax.remembered
def own_bindings(function: syntax.Function) -> list[tuple[syntax.Node, str]]:
    """(node, name) for each binding in the function's own scope: parameters, and what its body binds outside of inner functions."""
    others = (other for other in function.walk() if isinstance(other, syntax.Function) and other is not function)
    inner = Nested((other.span.start, other.span.end, other) for other in others)
    found = []
    for node, name in _bound(function.walk()):
        owner = inner.around(node.span.start, node.span.end)
        if owner is None or (isinstance(node, syntax.FunctionDef) and node.function is owner):
            found.append((node, name))
    return found


def bound_in(function: syntax.Function) -> set[str]:
    """Names that get a value in a function or in one inside of it; its own parameters only where they get another."""
    return {name for node, name in _bound(function.walk()) if node not in function.params}


def mentions(root: syntax.Module | syntax.Function, name: str) -> int:
    """How often ``name`` is read below ``root``: as a name, or as an attribute."""
    nodes = list(nodes_naming(root, name))
    targets = {id(part) for node in nodes if isinstance(node, syntax.Assign) and not node.op for part in _names(node.targets)}
    count = 0
    for node in nodes:
        if isinstance(node, syntax.Name) and node.id == name and id(node) not in targets:
            count += 1
        elif isinstance(node, syntax.Attr) and node.name == name:
            count += 1
    return count


def occurs(root: syntax.Module | syntax.Function, name: str, outside: syntax.Function | None = None) -> bool:
    """``name`` stands below ``root`` as a name, parameter, import or ``global``; not counting what is below ``outside``."""
    nodes = list(nodes_naming(root, name))
    for node in nodes:
        if outside is not None and outside.span.covers(node.span):
            continue
        if isinstance(node, syntax.Name) and node.id == name:
            return True
        if isinstance(node, syntax.Scope) and name in node.names:
            return True
    return any(bound == name and not (outside is not None and outside.span.covers(node.span)) for node, bound in _bound(nodes))


def nodes_naming(root: syntax.Module | syntax.Function, name: str) -> Iterator[syntax.Node]:
    """The nodes below ``root``; of a module, those in statements whose text says the name."""
    if isinstance(root, syntax.Function):
        yield from root.walk()
        return
    word = name.encode()
    if not root.source.tells(bytes.count, word):
        return
    for statement in root.body:
        text = root.source.raw[statement.span.start : statement.span.end]
        if word in text or not text.isascii():  # Python knows other spellings of letters
            yield from statement.walk()


def functions_around(module: syntax.Module, function: syntax.Function) -> list[syntax.Function]:
    """The functions that a function is nested in, outermost first."""
    below = (node for top in module.body if top.span.covers(function.span) for node in top.walk())
    functions = [node for node in below if isinstance(node, syntax.Function) and node is not function]
    return [other for other in functions if other.span.covers(function.span)]


def _bound(nodes: Iterable[syntax.Node]) -> Iterator[tuple[syntax.Node, str]]:
    for node in nodes:
        if isinstance(node, syntax.Function):
            for param in node.params:
                yield param, param.name
        elif isinstance(node, syntax.FunctionDef):
            yield node, node.function.name
        elif isinstance(node, syntax.ClassDef):
            yield node, node.name
        elif isinstance(node, syntax.Assign):
            for part in _names(node.targets):
                yield node, part.id
        elif isinstance(node, syntax.For):
            for part in _names([node.target]):
                yield node, part.id
        elif isinstance(node, syntax.Clause):
            for part in _names([node.target]):
                yield node, part.id
        elif isinstance(node, syntax.Walrus):
            for part in _names([node.target]):
                yield node, part.id
        elif isinstance(node, syntax.Delete):
            for part in _names(list(node.targets)):
                yield node, part.id
        elif isinstance(node, syntax.WithItem) and node.target is not None:
            for part in _names([node.target]):
                yield node, part.id
        elif isinstance(node, syntax.Handler) and node.name:
            yield node, node.name
        elif isinstance(node, syntax.Pattern) and node.kind in ("capture", "rest") and node.name:
            yield node, node.name
        elif isinstance(node, syntax.ImportName):
            yield node, node.alias


def _names(targets: list[syntax.Expr]) -> Iterator[syntax.Name]:
    """The plain names in assignment targets (not those of ``a.b`` and ``a[i]``)."""
    for target in targets:
        if isinstance(target, syntax.Name):
            yield target
        elif isinstance(target, syntax.Sequence):
            yield from _names(target.items)
        elif isinstance(target, syntax.Unary):
            yield from _names([target.operand])
