"""Work that does not run on every call: once-only guards, cache misses, switches that are off by default, paths that raise."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.frontends import syntax
from cutile_lint.sources import Source, Span
from cutile_lint.unit.flows.lasting import asks_elsewhere, asks_once, changes, never_set, outlives, waits_for_ever
from cutile_lint.unit.flows.switches import off_by_default
from cutile_lint.unit.machine.python import is_cached
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Known, Literal, Record, Term, Value, subterms
from cutile_lint.unit.runs import Run

_MISSES = frozenset(["KeyError", "AttributeError", "LookupError", "NameError"])


def seldom(run: Run, event: Event) -> bool:
    """The event does not happen on every ordinary call."""
    return (
        _in_cached_helper(event)
        or _ends_in_raise(run, event)
        or waits_for_ever(run, event)
        or any(_guards(run, event, literal) for literal in event.path)
        or any(_kept_by_object(run, event, at) or _kept_outside(event, at) for at in range(len(event.stack)))
    )


def _in_cached_helper(event: Event) -> bool:
    return any(stop.frame.closure is not None and is_cached(stop.frame.closure) for stop in event.stack)


def _ends_in_raise(run: Run, event: Event) -> bool:
    """Each path from the event on comes to a ``raise`` that no handler around it catches."""
    taken = {literal.key() for literal in event.path}
    return any(all(literal.key() in taken for literal in other.path) for other in run.raises if other.order > event.order)


def _guards(run: Run, event: Event, literal: Literal) -> bool:
    if off_by_default(run, literal) or asks_once(run, literal) or never_set(run, literal) or asks_elsewhere(run, literal):
        return True
    return any(_updates(literal, other) or _changes(run, literal, other) for other in _writes(run, event))


def _changes(run: Run, literal: Literal, write: Event) -> bool:
    return any(not _leaves(literal, asked, written) for asked, written in changes(run, literal, write))


def _writes(run: Run, event: Event) -> Iterator[Event]:
    """State that is written on paths which the event shares."""
    from cutile_lint.unit.machine.paths import contradictory

    for other in run.writes:
        if not contradictory(event.path, other.path):
            yield other


def _updates(literal: Literal, write: Event) -> bool:
    """The write changes what the literal tests."""
    test = literal.test
    if isinstance(test, Term) and test.op == "raised":
        missed = any(isinstance(term, Term) and term.name.rsplit(".", 1)[-1] in _MISSES for term in subterms(test))
        return (
            missed and write.kind in ("global", "setitem", "setattr") and literal.key() in {other.key() for other in write.path}
        )
    states = [term for term in subterms(test) if isinstance(term, Term) and term.op == "global"]
    if write.kind == "global":
        return any(term.name == write.name and not _leaves(literal, term, write.value) for term in states)
    name = write.name
    if write.name == "setattr" and write.arguments is not None and len(write.arguments.positional) > 1:
        given = write.arguments.positional[1]
        name = str(given.value) if isinstance(given, Known) else ""
    if write.kind == "setattr" or write.name == "setattr":
        named = [term for term in states if term.name.endswith(f".{name}")]
        return any(not _leaves(literal, term, write.value) for term in named) or _asks_for(test, name)
    keys = {term.key() for term in states}
    return write.target is not None and any(
        isinstance(term, Term) and term.op == "global" and term.key() in keys for term in subterms(write.target)
    )


def _leaves(literal: Literal, state: Term, written: Value | None) -> bool:
    """The literal holds for what is written as well: the next call comes here again."""
    if not isinstance(written, Known):
        return False
    test, holds = literal.test, literal.holds
    while isinstance(test, Term) and test.op == "not":
        test, holds = test.args[0], not holds
    if test.key() == state.key():
        return bool(written.value) is holds
    if isinstance(test, Term) and test.op == "compare" and test.name in ("is", "==", "is not", "!=") and len(test.args) == 2:
        sides = [side for side in test.args if side.key() != state.key()]
        if len(sides) == 1 and isinstance(sides[0], Known):
            return ((sides[0].value == written.value) is (test.name in ("is", "=="))) is holds
    return False


def _asks_for(test: Value, name: str) -> bool:
    """``hasattr(f, "name")``, ``getattr(f, "name", …)``."""
    return any(
        isinstance(term, Term)
        and term.op == "call"
        and term.name in ("hasattr", "getattr")
        and len(term.args) > 1
        and isinstance(term.args[1], Known)
        and term.args[1].value == name
        for term in subterms(test)
    )


# ── state of an object that outlives the call ──


def _kept_by_object(run: Run, event: Event, at: int) -> bool:
    """``if not self.done: …; self.done = True`` in a method of an object that is made once (the machine has decided the test)."""
    stop = event.stack[at]
    function = stop.frame.function
    if function is None or stop.statement is None or not function.params:
        return False
    holder = function.params[0].name
    for guard in _ifs_around(function, stop.statement):
        tested = {node.name for node in _walk(guard.test) if isinstance(node, syntax.Attr) and _is_name(node.base, holder)}
        for name in tested:
            if any(_sets(node, holder, name) for part in guard.body for node in _walk(part)) and _outlives(run, name):
                return True
    return False


def _kept_outside(event: Event, at: int) -> bool:
    """``if not STATE.done: …; STATE.done = True`` where ``STATE`` is no local of the function and not made by this call."""
    stop = event.stack[at]
    function = stop.frame.function
    if function is None or stop.statement is None:
        return False
    guards = _ifs_around(function, stop.statement)
    if not guards:
        return False
    scopes, writes = _scopes_and_writes(function)
    outer = {name for node in scopes for name in node.names}
    if any(node.kind == "nonlocal" for node in scopes) and _made_in_call(event, function):
        return False
    bound = {param.name for param in function.params} | {
        target.id for node in writes for target in node.targets if isinstance(target, syntax.Name)
    }
    for guard in guards:
        tested = {
            stop.source.slice(node.span)
            for node in _walk(guard.test)
            if isinstance(node, (syntax.Attr, syntax.Index, syntax.Name))
            and (root := _root(node)) is not None
            and (root in outer if isinstance(node, syntax.Name) else root not in bound - outer)
        }
        before = [node for node in writes if node.span.end <= guard.span.start]
        within = [
            node
            for node in writes
            if any(part.span.covers(node.span) for part in guard.body) and not _keeps_open(stop.source, guard.test, node)
        ]
        if (tested & _targets(stop.source, within)) - _targets(stop.source, before):
            return True
    return False


def _keeps_open(source: Source, test: syntax.Expr, write: syntax.Assign) -> bool:
    """``if done: …; done = True``, ``if not done: …; done = False``: after the write the test is still true."""
    holds = True
    while isinstance(test, syntax.Unary) and test.op == "not":
        test, holds = test.operand, not holds
    return (
        isinstance(write.value, syntax.Const)
        and bool(write.value.value) is holds
        and source.slice(test.span) in _targets(source, [write])
    )


def _targets(source: Source, writes: list[syntax.Assign]) -> set[str]:
    return {source.slice(target.span) for node in writes for target in node.targets}


def _root(node: syntax.Node) -> str | None:
    while isinstance(node, (syntax.Attr, syntax.Index)):
        node = node.base
    return node.id if isinstance(node, syntax.Name) else None


def _made_in_call(event: Event, function: syntax.Function) -> bool:
    """A function that is being run has made the inner one: its variables start anew with each call."""
    return any(
        stop.frame.function is not None and stop.frame.function is not function and stop.frame.function.span.covers(function.span)
        for stop in event.stack
    )


@syntax.remembered
def _scopes_and_writes(function: syntax.Function) -> tuple[list[syntax.Scope], list[syntax.Assign]]:
    """A function's own ``global``, ``nonlocal`` and assignments, without those of functions inside."""
    scopes: list[syntax.Scope] = []
    writes: list[syntax.Assign] = []
    stack: list[syntax.Node] = [*function.body]
    while stack:
        node = stack.pop()
        if isinstance(node, syntax.Scope):
            scopes.append(node)
        elif isinstance(node, syntax.Assign):
            writes.append(node)
        if not isinstance(node, syntax.Function):
            stack.extend(node.children())
    return scopes, writes


def _ifs_around(function: syntax.Function, statement: syntax.Stmt) -> tuple[syntax.If, ...]:
    """Innermost first."""
    return _ifs_by_statement(function).get(statement.span, ())


@syntax.remembered
def _ifs_by_statement(function: syntax.Function) -> dict[Span, tuple[syntax.If, ...]]:
    """The ``if`` statements in whose body each statement stands, which is known by its place."""
    found: dict[Span, tuple[syntax.If, ...]] = {}
    stack: list[tuple[syntax.Node, tuple[syntax.If, ...]]] = [(function, ())]
    while stack:
        node, around = stack.pop()
        if isinstance(node, syntax.Stmt):
            found.setdefault(node.span, around)
        body = {id(part) for part in node.body} if isinstance(node, syntax.If) else ()
        stack.extend((part, (node, *around) if id(part) in body else around) for part in node.children())  # type: ignore[misc]
    return found


def _sets(node: syntax.Node, holder: str, name: str) -> bool:
    return isinstance(node, syntax.Assign) and any(
        isinstance(target, syntax.Attr) and target.name == name and _is_name(target.base, holder) for target in node.targets
    )


def _outlives(run: Run, name: str) -> bool:
    """The object whose attribute is set was made at import time, or by a cached helper."""
    return any(
        write.kind == "setattr"
        and write.name == name
        and isinstance(write.target, Record)
        and outlives(run.program, write.target.place)
        for write in run.trace.events
    )


def _is_name(node: syntax.Node, name: str) -> bool:
    return isinstance(node, syntax.Name) and node.id == name


def _walk(node: syntax.Node) -> Iterator[syntax.Node]:
    stack = [node]
    while stack:
        item = stack.pop()
        yield item
        stack.extend(item.children())
