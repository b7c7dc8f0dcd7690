"""Errors that a handler takes and does nothing about."""

from __future__ import annotations

from cutile_lint.frontends import syntax
from cutile_lint.unit.boundary.code_readers import SHOWS
from cutile_lint.unit.linking.names import last_name
from cutile_lint.unit.machine.trace import Event

#: what takes the error that ``check_rc`` raises
_TAKES = frozenset(["RuntimeError", "Exception", "BaseException"])
#: calls that tell of an error and leave it at that
_TELLS = SHOWS | {"warn"}


def is_swallowed(event: Event) -> bool:
    """The error that a call raises is taken by a handler after which everything goes on as if there had been none."""
    for node in reversed(event.tries):
        for handler in node.handlers:
            if handler.type is None or any(isinstance(part, syntax.Name) and part.id in _TAKES for part in handler.type.walk()):
                return all(_does_nothing(statement) for statement in handler.body)
    return False


def _does_nothing(statement: syntax.Stmt) -> bool:
    if not isinstance(statement, syntax.ExprStmt):
        return isinstance(statement, (syntax.Pass, syntax.Continue))
    value = statement.value
    if not isinstance(value, syntax.Call):
        return isinstance(value, syntax.Const)
    return last_name(value.func) in _TELLS
