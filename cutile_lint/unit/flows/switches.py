"""Switches that are off by default: environment variables, debug parameters, keywords that an op takes without naming them."""

from __future__ import annotations

import re

from cutile_lint.frontends import syntax
from cutile_lint.regex import regex
from cutile_lint.unit.machine.values import (
    Choice,
    Condition,
    Entries,
    Items,
    Known,
    Literal,
    Term,
    Value,
    subterms,
    with_conditions,
)
from cutile_lint.unit.runs import Run

_SWITCH = regex(r"debug|check|verif|validat|canary|dry|test|trace|profil|warm|smoke|sanity|assert", re.IGNORECASE)
#: what only type checkers take to be true
_NEVER = ("typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING")
_LOOKS = frozenset(["get", "pop", "setdefault"])
_ENVIRONMENT = frozenset(["os.getenv", *(f"os.environ.{look}" for look in _LOOKS)])


def off_by_default(run: Run, literal: Literal) -> bool:
    """The literal asks for a switch that nobody turns on: work behind it is not done on an ordinary call."""
    test = literal.test
    if any(isinstance(term, Term) and term.name.rsplit(".", 1)[-1] == "isEnabledFor" for term in subterms(test)):
        return literal.holds
    if not any(_is_switch(run, term) for term in with_conditions(test)):
        return False
    value = _by_default(run, test)
    return value is not None and bool(value.value) is not literal.holds


def _is_switch(run: Run, value: Value) -> bool:
    if not isinstance(value, Term):
        return False
    if value.op == "input":
        return _switch_default(run, value.name) is not None
    return value.name.startswith((*_NEVER, "os.environ", "os.getenv")) or _SWITCH.search(_keyword_asked(value)) is not None


def _keyword_asked(value: Term) -> str:
    """The name that ``"debug" in kwargs``, ``kwargs["debug"]`` and ``kwargs.get("debug")`` ask for; "" for another value."""
    if value.op == "compare" and value.name in ("in", "not in"):
        name, holder = value.args
    elif len(value.args) > 1 and (value.op == "index" or (value.op == "method" and value.name in _LOOKS)):
        holder, name = value.args[:2]
    else:
        return ""
    return str(name.value) if isinstance(name, Known) and isinstance(holder, Entries) and _is_rest(holder) else ""


def _is_rest(value: Entries) -> bool:
    """``**kwargs`` of an op, which is given none by default."""
    return value.open and value.place is None


def _switch_default(run: Run, name: str) -> Known | None:
    """The default ``False`` of a parameter that is named like a debug switch."""
    for param in run.function.params:
        if param.name == name and _SWITCH.search(name) and isinstance(param.default, syntax.Const) and not param.default.value:
            return Known(param.default.value)
    return None


def _by_default(run: Run, value: Value) -> Known | None:
    """What an expression is while no environment variable is set and no switch is given; None when it depends on more."""
    if isinstance(value, Known):
        return value
    if isinstance(value, Choice):
        left = [_by_default(run, one) for path, one in value.alternatives if not (_is_off(run, path) or _reads_unset(one))]
        return left[0] if left and None not in left and len({one.value for one in left if one is not None}) == 1 else None
    if not isinstance(value, Term):
        return None
    if value.op == "input":
        return _switch_default(run, value.name)
    if value.name in _NEVER:
        return Known(False)
    if value.name in _ENVIRONMENT or (value.op == "method" and _keyword_asked(value)):
        asked = value.args if value.op == "call" else value.args[1:]
        default = asked[1] if len(asked) > 1 else value.keywords.get("default", Known(None))
        return _by_default(run, default)
    if value.op == "compare" and len(value.args) == 2:
        return _compared(run, value)
    parts = [_by_default(run, arg) for arg in value.args]
    if value.op in ("and", "or"):
        known = [part for part in parts if part is not None]
        decisive = next((part for part in known if bool(part.value) is (value.op == "or")), None)
        return decisive if decisive is not None or len(known) < len(parts) else known[-1]
    if any(part is None for part in parts) or not parts:
        return None
    first = parts[0].value  # type: ignore[union-attr]
    if value.op == "not":
        return Known(not first)
    if value.op == "call" and value.name in ("bool", "int", "str", "float"):
        try:
            return Known({"bool": bool, "int": int, "str": str, "float": float}[value.name](first))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return None
    if value.op == "method" and isinstance(first, str) and value.name in ("lower", "upper", "strip", "casefold", "title"):
        return Known(getattr(first, value.name)())
    return None


def _is_off(run: Run, path: Condition) -> bool:
    """The path is surely not taken by default."""
    found = ((literal, _by_default(run, literal.test)) for literal in path)
    return any(value is not None and bool(value.value) is not literal.holds for literal, value in found)


def _reads_unset(value: Value) -> bool:
    """``os.environ["X"]`` and ``kwargs["x"]``, which raise by default."""
    return any(
        isinstance(part, Term)
        and part.op == "index"
        and (_keyword_asked(part) or (isinstance(part.args[0], Term) and part.args[0].name == "os.environ"))
        for part in subterms(value)
    )


def _compared(run: Run, test: Term) -> Known | None:
    left, right = _by_default(run, test.args[0]), test.args[1]
    if test.name in ("in", "not in") and (_keyword_asked(test) or (isinstance(right, Term) and right.name == "os.environ")):
        return Known(test.name == "not in")
    if left is None:
        return None
    if test.name in ("in", "not in") and isinstance(right, Items):
        members = [_by_default(run, item) for item in right.items]
        if any(member is None for member in members):
            return None
        return Known(any(member.value == left.value for member in members if member is not None) is (test.name == "in"))
    other = _by_default(run, right)
    if other is None:
        return None
    if test.name in ("==", "is"):
        return Known(left.value == other.value)
    if test.name in ("!=", "is not"):
        return Known(left.value != other.value)
    try:
        match test.name:
            case ">":
                return Known(left.value > other.value)  # type: ignore[operator]
            case ">=":
                return Known(left.value >= other.value)  # type: ignore[operator]
            case "<":
                return Known(left.value < other.value)  # type: ignore[operator]
            case "<=":
                return Known(left.value <= other.value)  # type: ignore[operator]
    except TypeError:
        return None
    return None
