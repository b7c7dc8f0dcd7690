"""What a test compares: the values of a result, so that a difference fails the test."""

from __future__ import annotations

from cutile_lint.frontends import syntax
from cutile_lint.regex import regex
from cutile_lint.unit.machine.trace import Event, Trace
from cutile_lint.unit.machine.values import Choice, Items, Term, Value, alternatives

_COMPARES = regex(r"(?i)assert|close|equal|raises|check|compar|verif|error")
#: what is true of a tensor whatever it holds
_FACTS = frozenset(
    "shape dtype device ndim numel size dim requires_grad is_cuda is_contiguous stride is_floating_point layout grad_fn".split()
)
_OF_KINDS = frozenset(["isinstance", "hasattr", "callable", "len", "type"])
_CONVERSIONS = frozenset(["int", "bool", "tuple", "list", "str", "all", "any"])
_FAILURES = frozenset(["AssertionError", "Exception", "BaseException"])


def compares(event: Event, trace: Trace) -> bool:
    """A call or assertion that compares more than facts, and whose failure is not swallowed."""
    if event.kind == "call":
        told = _COMPARES.search(event.name.rsplit(".", 1)[-1]) is not None
    else:
        told = event.kind == "assert" and event.value is not None and _looks_at_values(event.value)
    return told and not _is_swallowed(event, trace)


def _looks_at_values(test: Value) -> bool:
    """The test is made of more than constants and facts: ``out.shape[0] == 4`` is not, nor ``out is not None``."""
    if isinstance(test, Items):
        return any(map(_looks_at_values, test.items))
    if isinstance(test, Choice):
        return any(_looks_at_values(one) for _, one in alternatives(test))
    if not isinstance(test, Term) or test.op in ("external", "global") or test.name in _FACTS:
        return False
    if test.op == "compare" and (test.name in ("is", "is not") or any(map(_is_fact, test.args))):
        return False
    if test.op == "call" and test.name in _OF_KINDS:
        return False
    made = test.op in ("compare", "binary", "unary", "not", "and", "or", "index", "attr") or test.name in _CONVERSIONS
    return any(map(_looks_at_values, test.args)) if made else True


def _is_fact(value: Value) -> bool:
    while isinstance(value, Term) and value.args and (value.op == "index" or value.name in _CONVERSIONS):
        value = value.args[0]
    return isinstance(value, Term) and value.op in ("attr", "method") and value.name in _FACTS


def _is_swallowed(event: Event, trace: Trace) -> bool:
    """A handler takes the failure and never fails itself, or ``contextlib.suppress`` takes it."""
    if any(_suppresses(one) for context in event.contexts for _, one in alternatives(context)):
        return True
    handlers = [handler for node in event.tries for handler in node.handlers if _takes(handler)]
    return any(not _fails(handler, trace) for handler in handlers)


def _suppresses(context: Value) -> bool:
    named = isinstance(context, Term) and context.op == "call" and context.name.rsplit(".", 1)[-1] == "suppress"
    return named and any(isinstance(arg, Term) and arg.name.rsplit(".", 1)[-1] in _FAILURES for arg in context.args)  # type: ignore[attr-defined]


def _takes(handler: syntax.Handler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(part, syntax.Name) and part.id in _FAILURES for part in handler.type.walk())


def _fails(handler: syntax.Handler, trace: Trace) -> bool:
    """Something in the handler raises, or may: what it calls or keeps can fail the test later."""
    for event in trace.events:
        caught = any(
            literal.holds and isinstance(literal.test, Term) and literal.test.serial == id(handler) for literal in event.path
        )
        if caught and not (event.kind == "call" and event.name.rsplit(".", 1)[-1] in ("print", "skip", "xfail")):
            return True
    return False
