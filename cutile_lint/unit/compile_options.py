"""The Rust half of compile options: which setters a ``CompileOptions`` value went through, under which conditions."""

from __future__ import annotations

from dataclasses import dataclass

from cutile_lint.sources import Place
from cutile_lint.unit.fold import Folder
from cutile_lint.unit.machine.trace import Event, Trace
from cutile_lint.unit.machine.values import Condition, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.option_names import SETTERS

#: The values of "auto" that a caller may send.
SENTINELS = (-1, 0)


@dataclass(frozen=True, slots=True)
class AppliedOption:
    """One call of a setter on the way to an options value; ``path`` is the alternative's condition."""

    name: str
    value: Value
    path: Condition
    term: Term

    @property
    def place(self) -> Place | None:
        return self.term.place


def inputs_in(value: Value) -> set[str]:
    """Names of the export's parameters that a value is made of."""
    return {part.name for part in subterms(value) if isinstance(part, Term) and part.op == "input"}


def applied_options(options: Value | None) -> list[AppliedOption]:
    """All setter calls in the alternatives of an options value."""
    return [] if options is None else [option for path, one in alternatives(options) for option in _chain(path, one)]


def _chain(path: Condition, value: Value) -> list[AppliedOption]:
    found: list[AppliedOption] = []
    while isinstance(value, Term) and value.args and value.op in ("method", "payload"):
        if value.op == "method" and value.name in SETTERS and len(value.args) > 1:
            found.append(AppliedOption(value.name, value.args[1], path, value))
        value = value.args[0]
        inner = alternatives(value)
        if len(inner) > 1:
            for more, one in inner:
                found += _chain(path + more, one)
            break
        value = inner[0][1]
    return found


def is_options(value: Value | None) -> bool | None:
    """The value is a ``CompileOptions`` whose making was seen; None when it cannot be told."""
    if value is None:
        return False
    answers = {_root(one) for _, one in alternatives(value)}
    return answers.pop() if len(answers) == 1 else None


def _root(value: Value) -> bool | None:
    while isinstance(value, Term) and value.op in ("method", "payload") and value.args:
        value = value.args[0]
        inner = alternatives(value)
        if len(inner) > 1:
            answers = {_root(one) for _, one in inner}
            return answers.pop() if len(answers) == 1 else None
        value = inner[0][1]
    if isinstance(value, Term) and value.op == "call":
        return "CompileOptions" in value.name
    return False if isinstance(value, Known) else None


def setter_events(trace: Trace) -> list[Event]:
    """Every setter call of a run on something that is (as far as can be told) a ``CompileOptions``."""
    return [
        event
        for event in trace.events
        if event.kind == "call" and event.name in SETTERS and event.arguments is not None and event.target is not None
        and len(event.arguments.positional) == 1 and is_options(event.target)
    ]  # fmt: skip


def with_input(name: str, number: int) -> Folder:
    """Evaluates with one parameter of the export known."""
    return Folder(lambda term: Known(number) if term.op == "input" and term.name == name else None)


def sentinel_reaches(event: Event, name: str) -> int | None:
    """A value ``<= 0`` of the parameter ``name`` with which the setter is called and gets no positive number.

    None when there is none, and when a condition of the way cannot be decided.
    """
    assert event.arguments is not None
    value = event.arguments.positional[0]
    for number in SENTINELS:
        folder = with_input(name, number)
        # conditions that do not speak of the parameter let it through
        path = tuple(literal for literal in event.path if name in _names(literal.test))
        if folder.holds(path) is not True:
            continue
        results = [result for _, result in folder.outcomes(value)]
        if results and all(isinstance(result, int) and result <= 0 for result in results):
            return number
    return None


def _names(test: Value) -> set[str]:
    found = inputs_in(test)
    for path, _ in alternatives(test):
        for literal in path:
            found |= inputs_in(literal.test)
    return found
