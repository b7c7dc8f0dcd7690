"""Where a call may be moved to: before the function that it stands in, if names and control flow allow that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.frontends.python.layout import block_of
from cutile_lint.records import dataclass
from cutile_lint.unit.linking.python_names import functions_around, own_bindings
from cutile_lint.unit.timed.region import TimedWork

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(frozen=True, slots=True)
class Site:
    """Where the work stands: the function that runs it, that function's owner, and the owner's statement to put it before."""

    module: syntax.Module
    function: syntax.Function
    owner: syntax.Function
    anchor: syntax.Stmt
    statement: syntax.Stmt


def site_of(unit: KernelUnit, found: TimedWork) -> Site | None:
    """The function with the work is nested in a function outside of the timed region, and the work is reached once in each run of it."""
    inside = found.first.inside
    if not inside or inside[-1].frame.function is None:
        return None
    stop = inside[-1]
    function, statement = stop.frame.function, stop.statement
    module = unit.program.module(found.place.source.path)
    if module is None or function is None or statement is None or function.is_generator or function.is_async:
        return None
    owner = _owner(module, function)
    timed = {id(other.frame.function) for occurrence in found.occurrences for other in occurrence.inside}
    if owner is None or id(owner) in timed or not any(item is statement for item in function.body):
        return None
    if not isinstance(statement, (syntax.Assign, syntax.ExprStmt, syntax.Return)):
        return None
    anchor = _statement_of(owner, function)
    return Site(module, function, owner, anchor, statement) if anchor is not None else None


def exits_before(site: Site, found: TimedWork) -> list[syntax.Stmt]:
    """The statements that may keep a run from coming to the work though it comes to the new place."""
    before = site.function.body[: next(at for at, item in enumerate(site.function.body) if item is site.statement)]
    tuning = found.first.tuning
    stops = [
        stop
        for stop in (tuning.event.stack if tuning is not None else ())
        if stop.frame.function is site.owner and stop.statement is not None
    ]
    block = block_of(site.module, site.anchor)
    if not stops or block is None:
        return [site.anchor]  # made by a factory, or run somewhere else: not known
    tuned = stops[-1].statement
    between: list[syntax.Stmt] = []
    for item in block.body[block.index :]:
        if tuned is not None and item.span.covers(tuned.span):
            while item is not tuned and isinstance(item, (syntax.With, syntax.Try)) and tuned is not None:
                inner = next((part for part in item.body if part.span.covers(tuned.span)), None)
                if inner is None:
                    break
                item = inner
            return [*_leaving(before), *_leaving(between), *([item] if item is not tuned else [])]
        if item is not site.anchor:
            between.append(item)
    return [site.anchor]


def _leaving(statements: list[syntax.Stmt]) -> list[syntax.Stmt]:
    """Those with a ``return``, ``raise`` or ``assert`` (inner functions aside)."""
    return [
        item
        for item in statements
        if any(isinstance(node, (syntax.Return, syntax.Raise, syntax.Assert)) for node in _own_nodes(item))
    ]


def _own_nodes(statement: syntax.Stmt) -> Iterator[syntax.Node]:
    if isinstance(statement, (syntax.FunctionDef, syntax.ClassDef)):
        return
    stack: list[syntax.Node] = [statement]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for child in node.children() if not isinstance(child, (syntax.Function, syntax.Lambda))]


def mention(statement: syntax.Stmt, call: syntax.Call) -> bool:
    """A guard names what the call uses (``if bias is None: return``): the call may not be possible without it."""
    wanted = {node.id for node in call.walk() if isinstance(node, syntax.Name)} - {"torch"}
    tests = [node.test for node in _own_nodes(statement) if isinstance(node, (syntax.If, syntax.Assert))]
    return any(isinstance(node, syntax.Name) and node.id in wanted for test in tests for node in test.walk())


def _owner(module: syntax.Module, function: syntax.Function) -> syntax.Function | None:
    return next(reversed(functions_around(module, function)), None)


@syntax.remembered
def _statement_of(owner: syntax.Function, function: syntax.Function) -> syntax.Stmt | None:
    """The innermost statement of ``owner`` around the definition of ``function``."""
    found: syntax.Stmt | None = None
    for node in owner.walk():
        if (
            isinstance(node, syntax.Stmt)
            and node.span.covers(function.span)
            and not any(part is node for part in function.walk())
        ):
            found = node
    return found


def free_of_locals(site: Site, call: syntax.Call) -> bool:
    """All names in the call mean at the new place what they mean at the old one."""
    if any(isinstance(node, (syntax.Lambda, syntax.Comprehension, syntax.Yield, syntax.Walrus)) for node in call.walk()):
        return False
    names = {node.id for node in call.walk() if isinstance(node, syntax.Name)}
    own = {name for _, name in own_bindings(site.function)}
    if names & own:
        return False
    for node, name in own_bindings(site.owner):
        if name in names and node.span.end > site.anchor.span.start and not isinstance(node, syntax.Param):
            if not node.span.covers(site.anchor.span) or not isinstance(node, (syntax.FunctionDef, syntax.For, syntax.With)):
                return False
    return not any(isinstance(node, syntax.Scope) and set(node.names) & names for node in site.owner.walk())
