"""Which statement and which function a place stands in."""

from __future__ import annotations

from cutile_lint.frontends import syntax
from cutile_lint.sources import Place
from cutile_lint.unit.machine.trace import Event, Stop


def stop_of(event: Event, place: Place) -> Stop | None:
    """The innermost stop of an event's stack whose function has the place."""
    for stop in reversed(event.stack):
        function = stop.frame.function
        if function is not None and stop.frame.source.path == place.source.path and function.span.covers(place.span):
            return stop
    return None


def level_of(event: Event, place: Place) -> int:
    """The stack level whose function has the place; the innermost when none has it."""
    stop = stop_of(event, place)
    return event.stack.index(stop) if stop is not None else len(event.stack) - 1


def function_of(event: Event, place: Place) -> str:
    """Name of the function on an event's stack that a place stands in; "" when none has it."""
    stop = stop_of(event, place)
    return stop.frame.name if stop is not None else ""


def statement_of(event: Event, place: Place) -> Place | None:
    """The innermost statement around a place in a function on an event's stack."""
    stop = stop_of(event, place)
    if stop is None or stop.frame.function is None:
        return None
    found = statement_in(stop.frame.function, place)
    return Place(place.source, found.span) if found is not None else None


def statement_in(root: syntax.Node, place: Place) -> syntax.Stmt | None:
    """The innermost statement below ``root`` that covers a place (one that is a function's own definition excepted)."""
    found: syntax.Stmt | None = None
    stack = list(root.children())
    while stack:
        node = stack.pop()
        if node.span.covers(place.span):
            if isinstance(node, syntax.Stmt) and not isinstance(node, (syntax.FunctionDef, syntax.ClassDef)):
                found = node
            stack = list(node.children())
    return found
