"""State that outlives the call: objects made when a module was loaded, ``globals()``, the environment; and guards that ask for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeGuard

from cutile_lint.frontends import syntax
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.flows.fold import Folder
from cutile_lint.unit.linking.names import last_name
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.python import CACHES
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Known, Literal, Term, Value, subterms
from cutile_lint.unit.runs import Run

_CACHE = regex(r"cache|memo|tuned", re.IGNORECASE)


def outlives(program: Program, place: Place | None) -> bool:
    """What was made at the place is there for more than one call: it stands in no function, or in one that keeps its result."""
    module = program.module(place.source.path) if place is not None else None
    if module is None or place is None:
        return False
    in_function, nodes = False, list[syntax.Node](module.body)
    while (around := next((node for node in nodes if node.span.covers(place.span)), None)) is not None:
        if isinstance(around, syntax.Function):
            in_function = True
            if _is_cached(around):
                return True
        nodes = list(around.children())
    return not in_function


def _is_cached(function: syntax.Function) -> bool:
    names = (last_name(node.func if isinstance(node, syntax.Call) else node) for node in function.decorators)
    return any(CACHES.search(name) for name in names)


def asks_once(run: Run, literal: Literal) -> bool:
    """To ask changes the state, and after that the literal is false: ``next(_ONCE, None)``, ``_LOCK.acquire(blocking=False)``."""
    for term in subterms(literal.test):
        later = _later(run, term) if isinstance(term, Term) and _is_lasting(run, _holder(term)) else []
        if later and all(
            Folder(lambda asked, term=term, one=one: one if asked is term else None).holds((literal,)) is False for one in later
        ):  # type: ignore[misc]
            return True
    return False


def _later(run: Run, asked: Term) -> list[Known]:
    """What the question gives from the second time on; nothing when that is not known."""
    if asked.op == "method" and asked.name == "acquire":
        released = any(
            event.kind == "call" and event.name == "release" and _is_same(event.target, asked.args[0])
            for event in run.trace.events
        )
        return [] if released else [Known(False)]
    if asked.op == "call" and asked.name == "next":
        if isinstance(asked.args[0], Term) and asked.args[0].name == "itertools.count":
            return [Known(1), Known(7)]
        return [one for one in asked.args[1:2] if isinstance(one, Known)]
    return []


def never_set(run: Run, literal: Literal) -> bool:
    """The literal needs a ``threading.Event`` to be set, and neither the call nor the loading of its module sets it."""
    for term in subterms(literal.test):
        if not isinstance(term, Term) or term.op != "method" or term.name not in ("is_set", "wait"):
            continue
        holder = term.args[0]
        if _is_event(holder) and not _is_set_somewhere(run, holder):
            if Folder(lambda asked, term=term: Known(False) if asked is term else None).holds((literal,)) is False:  # type: ignore[misc]
                return True
    return False


def waits_for_ever(run: Run, event: Event) -> bool:
    """A function that the event happens in has waited (``_GO.wait()``) for a ``threading.Event`` that is never set."""
    frames = {id(stop.frame) for stop in event.stack}
    taken = {literal.key() for literal in event.path}
    return any(
        one.kind == "call"
        and one.name == "wait"
        and one.arguments is not None
        and not (one.arguments.positional or one.arguments.keywords or one.loops)
        and id(one.stop.frame) in frames
        and all(literal.key() in taken for literal in one.path)
        and _is_event(one.target)
        and not _is_set_somewhere(run, one.target)
        for one in run.trace.events[: event.order]
    )


def _is_event(value: Value | None) -> TypeGuard[Term]:
    return isinstance(value, Term) and value.op == "call" and value.name.endswith(("threading.Event", "multiprocessing.Event"))


def _is_set_somewhere(run: Run, event: Term) -> bool:
    """The run sets the event, or a statement does that stands in no function of the module that made it."""
    if any(one.kind == "call" and one.name == "set" and _is_same(one.target, event) for one in run.trace.events):
        return True
    module = run.program.module(event.place.source.path) if event.place is not None else None
    nodes: list[syntax.Node] = list(module.body) if module is not None else []
    while nodes:
        node = nodes.pop()
        if isinstance(node, syntax.Call) and isinstance(node.func, syntax.Attr) and node.func.name == "set":
            return True
        if not isinstance(node, syntax.Function):
            nodes.extend(node.children())
    return False


def asks_elsewhere(run: Run, literal: Literal) -> bool:
    """Something is missing in a cache that another module fills, as the tuner does with its own."""
    for term in subterms(literal.test):
        if isinstance(term, Term) and _fills_itself(run, term):
            empty = [part for part in subterms(literal.test) if isinstance(part, Term) and _looks_into(part, term)]
            answers = {id(part): Known(None) if part.op == "method" else Known(part.name == "not in") for part in empty}
            if empty and Folder(lambda asked, answers=answers: answers.get(id(asked))).holds((literal,)) is True:  # type: ignore[misc]
                return True
    return False


def _fills_itself(run: Run, term: Term) -> bool:
    own = term.place is not None and term.place.source is run.source
    return bool(_CACHE.search(term.name.rsplit(".", 1)[-1])) and (term.op == "external" or (term.op == "global" and not own))


def _looks_into(asked: Term, cache: Term) -> bool:
    if asked.op == "method":
        return asked.name == "get" and len(asked.args) == 2 and asked.args[0].key() == cache.key()
    return asked.op == "compare" and asked.name in ("in", "not in") and asked.args[1].key() == cache.key()


def changes(run: Run, literal: Literal, write: Event) -> Iterator[tuple[Term, Value | None]]:
    """The questions of a literal about lasting state that an event changes, each with what it is changed to.

    What others write as well (the environment, ``globals()``) must be changed behind the literal.
    """
    if write.name == "acquire":  # asked and changed at once
        return
    asked = [term for term in subterms(literal.test) if isinstance(term, Term) and _is_same(write.target, _holder(term))]
    for term in [term for term in asked if _holder(term) is not term] or asked:
        if not _is_lasting(run, _holder(term)):
            continue
        if _is_shared(_holder(term)) and literal.key() not in {other.key() for other in write.path}:
            continue
        if write.kind != "setattr" or (term.op == "attr" and term.name == write.name):
            yield term, _written(write)


def _written(write: Event) -> Value | None:
    """What a question gives after the write; None when that is not known."""
    given = write.arguments.positional if write.arguments is not None else []
    if write.kind in ("setitem", "setattr"):
        return write.value
    if write.kind == "call" and write.name in ("set", "clear"):
        return given[0] if given else Known(write.name == "set")
    return None


def _holder(asked: Term) -> Value:
    """What is asked: ``_READY`` of ``_READY.is_set()``; the value itself where it is asked as a whole."""
    if asked.name.startswith("os.environ."):
        return Term("external", "os.environ")
    if asked.op == "compare" and asked.name in ("in", "not in"):
        return asked.args[1]
    return (
        asked.args[0]
        if asked.args and (asked.op in ("method", "index", "attr") or asked.name in ("next", "len", "bool"))
        else asked
    )


def _is_same(one: Value | None, other: Value) -> bool:
    if isinstance(one, Term) and isinstance(other, Term) and _is_shared(one) and _is_shared(other):
        return one.name == other.name  # each `globals()` is the same dict
    return one is not None and one.key() == other.key()


def _is_shared(value: Value) -> bool:
    return isinstance(value, Term) and (value.name == "os.environ" or (value.op == "call" and value.name == "globals"))


def _is_lasting(run: Run, value: Value) -> bool:
    if _is_shared(value):
        return True
    made = not isinstance(value, Term) or value.op == "call"
    return made and not isinstance(value, Known) and outlives(run.program, value.place)
