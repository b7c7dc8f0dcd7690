"""Return codes of FFI launches: whether they reach a check, a comparison or the caller; and the check where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.linking.where import stop_of
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Literal, Value, beyond, subterms
from cutile_lint.unit.runs import Run

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: Calls that show a value and decide nothing.
_SHOWS = frozenset(["print", "debug", "info", "warning", "error", "exception", "log", "format", "repr", "str", "int"])


@dataclass(frozen=True, slots=True)
class UncheckedCode:
    """``only_if``: the condition under which the code is checked after all; None when it never is."""

    launch: Launch
    run: Run
    only_if: Place | None = None


def unchecked_codes(unit: KernelUnit) -> Iterator[UncheckedCode]:
    """Launches whose code goes nowhere, each call once."""
    seen: set[Place] = set()
    for run in unit.runs:
        for launch in run.launches:
            if launch.place in seen or launch.event.value is None:
                continue
            found = _judge(run, launch, unit.program)
            if found is not None:
                seen.add(launch.place)
                yield found


def _judge(run: Run, launch: Launch, program: Program) -> UncheckedCode | None:
    key = launch.event.value.key()  # type: ignore[union-attr]
    conditions: list[Literal] = []
    for event in run.trace.events[launch.order + 1 :]:
        if any(_has(literal.test, key) for literal in event.path):
            return None
        if event.kind == "global" or not _uses(event, key) or _shows(event):
            continue
        more = beyond(event.path, launch.path)
        is_check = event.kind == "call" and program.role(event.name) == "check-rc"
        if not is_check or not more:
            return None
        conditions.append(more[0])
    for _, value in run.trace.returned:
        if _has(value, key):
            return None
    for tuning in run.tunings:
        if tuning.output is not None and _has(tuning.output, key):
            return None
    if conditions:
        place = conditions[0].test.place
        return UncheckedCode(launch, run, place) if place is not None else None
    return None if _is_read(launch, program) else UncheckedCode(launch, run)


def _has(value: Value, key: object) -> bool:
    return any(part.key() == key for part in subterms(value))


def _uses(event: Event, key: object) -> bool:
    values: list[Value] = [value for value in (event.value, event.target) if value is not None]
    if event.arguments is not None:
        values += [*event.arguments.positional, *event.arguments.keywords.values()]
    return any(_has(value, key) for value in values)


def _shows(event: Event) -> bool:
    return event.kind in ("call", "convert", "operator") and event.name.rsplit(".", 1)[-1] in _SHOWS


def _is_read(launch: Launch, program: Program) -> bool:
    """The code is compared, returned, or handed to something that the run does not show, by what is written around the call."""
    place, level = launch.place, len(launch.event.stack) - 1
    while True:
        stop = launch.event.stack[level]
        statement, function = stop.statement, stop.frame.function
        returned = isinstance(statement, syntax.Return) and statement.value is not None and statement.value.span == place.span
        if not returned or not level or stop.frame.call is None:
            break
        place, level = stop.frame.call, level - 1
    root = function if function is not None else program.module(place.source.path)
    if root is None:
        return True
    if isinstance(statement, syntax.ExprStmt) and statement.value.span == place.span:
        return False
    held = _holding(stop.frame.scope, launch.event.value)
    names = _bound_names(statement, place) or (held if isinstance(statement, syntax.Assign) and not statement.op else None)
    if not names:
        return True
    return any(_reads(root, name, statement, held) for name in {*names, *held})


def _holding(scope: Scope | None, code: Value | None) -> list[str]:
    """The names that are the code in the end: the one it was given, and others for it."""
    if scope is None or code is None:
        return []
    return [name for name, value in scope.names.items() if value.key() == code.key()]


def _bound_names(statement: syntax.Stmt | None, place: Place) -> list[str] | None:
    """The names that a statement gives the call's result to; None when it does something else with it."""
    if not isinstance(statement, syntax.Assign) or statement.value is None or statement.op:
        return None
    inner = statement.value
    while (
        isinstance(inner, syntax.Call) and isinstance(inner.func, syntax.Name) and inner.func.id == "int" and len(inner.args) == 1
    ):
        inner = inner.args[0].value
    if inner.span != place.span or not all(isinstance(target, syntax.Name) for target in statement.targets):
        return None
    return [target.id for target in statement.targets if isinstance(target, syntax.Name)]


def _reads(root: syntax.Module | syntax.Function, name: str, statement: syntax.Stmt | None, others: list[str]) -> bool:
    """The name is read behind the statement, in something that is no message and gives it no other name."""
    assert statement is not None
    shown = [
        node.span
        for node in root.walk()
        if isinstance(node, syntax.Call)
        and isinstance(node.func, (syntax.Name, syntax.Attr))
        and (node.func.id if isinstance(node.func, syntax.Name) else node.func.name) in _SHOWS
    ]
    assigned = [node for node in root.walk() if isinstance(node, syntax.Assign)]
    targets = {id(target) for node in assigned for target in node.targets}
    targets |= {id(node.value) for node in assigned if node.name in others and len(node.targets) == 1}
    return any(
        isinstance(node, syntax.Name)
        and node.id == name
        and id(node) not in targets
        and node.span.start > statement.span.end
        and not any(span.covers(node.span) for span in shown)
        for node in root.walk()
    )


# ── the fix ────────────────────────────────────────────────────────────────


def add_check(found: UncheckedCode, program: Program) -> Fix | None:
    """Give the code to the project's ``check_rc`` behind the call."""
    from cutile_lint.frontends.python import rewrite

    event = found.launch.event
    if found.only_if is not None:
        return None
    module = program.module(event.place.source.path)
    stop = stop_of(event, event.place) or event.stack[-1]
    statement = stop.statement
    if module is None or statement is None:
        return None
    checker, imported = _checker(module, program)
    if checker is None:
        return None
    edits: list[Edit] = list(imported)
    if isinstance(statement, syntax.ExprStmt) and statement.value.span == event.place.span:
        name = "rc"
        edits.append(Edit(module.source, statement.span.start, statement.span.start, "rc = "))
    else:
        names = _bound_names(statement, event.place)
        if not names:
            return None
        name = names[0]
        if name == "_" and isinstance(statement, syntax.Assign):
            name = "rc"
            edits.append(Edit(module.source, statement.targets[0].span.start, statement.targets[0].span.end, "rc"))
    added = rewrite.insert_after(module, statement, [f"{checker}({name}, {_symbol_name(module, found.launch.symbol)})"])
    if added is None:
        return None
    edits += added.edits
    edits.sort(key=lambda edit: (edit.start, edit.end))
    return Fix(f"check the code with `{checker}`", tuple(edits), Applicability.SAFE)


def _symbol_name(module: syntax.Module, symbol: str) -> str:
    """The module's constant that holds the symbol, else the text."""
    for node in module.body:
        if isinstance(node, syntax.Assign) and isinstance(node.value, syntax.Const) and node.value.value == symbol:
            if node.name:
                return node.name
    return f'"{symbol}"'


def _checker(module: syntax.Module, program: Program) -> tuple[str | None, list[Edit]]:
    """How the module can call ``check_rc``, with the import that it needs; None when the runtime is not imported by name."""
    from cutile_lint.frontends.python import rewrite

    wanted = program.names_of("check-rc")
    other = None
    for node in module.body:
        if isinstance(node, syntax.Import):
            for name in node.names:
                if name.name in wanted:
                    return name.alias, []
                if program.role(name.name or "") == "bind-kernel-function-cffi":
                    other = node
    if other is None or other.names[0].name is None:
        return None, []
    line = f"from {'.' * other.level}{other.names[0].module} import {wanted[0]}"
    added = rewrite.insert_after(module, other, [line])
    return (wanted[0], list(added.edits)) if added is not None else (None, [])


def condition_text(place: Place) -> str:
    text = " ".join(place.text.split())
    return text if len(text) <= 60 and "`" not in text else "the condition"
