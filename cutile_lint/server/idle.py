"""Statements of a Python function that do nothing: what one has typed so far of a line, before it says anything."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cutile_lint.frontends import syntax

#: a function that mentions one of these may read any name
_READS_ALL = frozenset(("locals", "vars", "eval", "exec", "inspect"))


def idle_statements(function: syntax.Function) -> frozenset[int]:
    """The statements (by identity) in a function, its blocks and the functions in it that can be left out without a difference.

    These are constants, names that are only read, and names that get a number or text and that nothing else mentions. (A rule that
    looks at what is written in the function is asked again: what does nothing when it runs may keep a name in use.)
    """
    about = {id(one): name for one in _statements(function.body) if (name := _name_of(one)) is not None}
    if not any(about.values()):
        return frozenset(about)
    read = set(_words(function.body, about)) | {param.name for param in function.params}
    free = read.isdisjoint(_READS_ALL)
    return frozenset(one for one, name in about.items() if not name or (free and name not in read))


def _statements(body: list[syntax.Stmt]) -> Iterator[syntax.Stmt]:
    """The statements below, but those of classes, where a name that is given a value is an attribute."""
    stack: list[syntax.Node] = [*body]
    while stack:
        node = stack.pop()
        if isinstance(node, syntax.Stmt):
            yield node
        if not isinstance(node, syntax.ClassDef):
            stack += node.children()


def _name_of(statement: syntax.Stmt) -> str | None:
    """The name that a statement gives a number or text, where that is all it does; "" for a constant, or a name that is read."""
    if isinstance(statement, syntax.ExprStmt):
        return "" if isinstance(statement.value, (syntax.Const, syntax.Name)) else None
    if isinstance(statement, syntax.Assign) and not statement.op and isinstance(statement.value, syntax.Const):
        if len(statement.targets) == 1 and isinstance(statement.targets[0], syntax.Name) and not statement.annotation:
            return statement.targets[0].id
    return None


def _words(body: list[syntax.Stmt], without: Collection[int]) -> Iterator[str]:
    """Everything in statements that may be a name."""
    stack: list[object] = [*body]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, syntax.Node) and not isinstance(item, syntax.Const) and id(item) not in without:
            stack += [getattr(item, name) for name in item.FIELDS]
        elif isinstance(item, (list, tuple)):
            stack += item
