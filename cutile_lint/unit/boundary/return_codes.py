"""Return codes of FFI launches: whether they reach a check, a comparison or the caller; and the check where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Span
from cutile_lint.unit.boundary.code_readers import CONVERTS, SHOWS, Readers
from cutile_lint.unit.boundary.overwritten_codes import is_in_own_loop, is_overwritten
from cutile_lint.unit.boundary.swallowed_errors import is_swallowed
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.linking.python_names import occurs
from cutile_lint.unit.linking.where import stop_of
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Closure, Literal, ModuleValue, Term, Value, beyond, subterms
from cutile_lint.unit.runs import Run

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: Events that decide nothing by themselves: what becomes of a value that was worked out shows in others.
_QUIET = frozenset(["delete", "operator", "convert"])
_NOTHING = SHOWS | CONVERTS


@dataclass(frozen=True, slots=True)
class UncheckedCode:
    """``only_if``: the condition under which the code is checked after all, ``swallowed``: the check whose error goes nowhere; None when
    it never is."""

    launch: Launch
    run: Run
    only_if: Place | None = None
    swallowed: Place | None = None


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
    if is_in_own_loop(launch) and is_overwritten(launch, program):
        return UncheckedCode(launch, run)
    code = launch.event.value
    assert code is not None
    conditions: list[Literal] = []
    for event in run.trace.events[launch.order + 1 :]:
        if event.kind in _QUIET:
            continue
        if any(_has(literal.test, code) for literal in event.path):
            return None
        if event.kind == "global" or not _uses(event, code) or _shows(event):
            continue
        more = [one for one in beyond(event.path, launch.path) if not (isinstance(one.test, Term) and one.test.op == "raised")]
        is_check = event.kind == "call" and program.role(event.name) == "check-rc"
        if is_check and not more and is_swallowed(event):
            return UncheckedCode(launch, run, swallowed=event.place)
        if not is_check or not more:
            return None
        conditions.append(more[0])
    for _, value in run.trace.returned:
        if _has(value, code):
            return None
    for tuning in run.tunings:
        if tuning.output is not None and _has(tuning.output, code):
            return None
    if conditions:
        place = conditions[0].test.place
        return UncheckedCode(launch, run, place) if place is not None else None
    return UncheckedCode(launch, run) if is_overwritten(launch, program) or not _is_read(launch, program) else None


def _has(value: Value, code: Value) -> bool:
    kind = type(code)
    return any(part is code or (isinstance(part, kind) and part.key() == code.key()) for part in subterms(value))


def _uses(event: Event, code: Value) -> bool:
    values: list[Value] = [value for value in (event.value, event.target) if value is not None]
    if event.arguments is not None:
        values += [*event.arguments.positional, *event.arguments.keywords.values()]
    return any(_has(value, code) for value in values)


def _shows(event: Event) -> bool:
    return event.kind == "call" and event.name.rsplit(".", 1)[-1] in _NOTHING


def _is_read(launch: Launch, program: Program) -> bool:
    """The code is compared, returned, or handed to something that the run does not show, by what is written around the call."""
    place, level = launch.place, len(launch.event.stack) - 1
    while True:
        stop = launch.event.stack[level]
        function = stop.frame.function
        root = function if function is not None else program.module(place.source.path)
        if root is None or not any(isinstance(node, syntax.Call) and node.span == place.span for node in root.walk()):
            return True
        held = _holding(stop.frame.scope, launch.event.value)
        found = Readers(root, partial(_function, stop.frame.scope), place.span, held, _behind(root, place.span)).answer()
        if found != "returned" or not level or stop.frame.call is None:
            return found != "dropped"
        place, level = stop.frame.call, level - 1


def _behind(root: syntax.Module | syntax.Function, call: Span) -> int:
    """From where on a name holds what the call gave it: the call's end, or the start of a loop that it stands in."""
    loops = [node for node in root.walk() if isinstance(node, (syntax.For, syntax.While)) and node.span.covers(call)]
    return loops[0].span.start if loops else call.end


def _function(scope: Scope | None, func: syntax.Expr) -> syntax.Function | None:
    """The project's function that an expression names."""
    found = None
    if scope is not None and isinstance(func, syntax.Name):
        found = scope.lookup(func.id)
    elif scope is not None and isinstance(func, syntax.Attr) and isinstance(func.base, syntax.Name):
        module = scope.lookup(func.base.id)
        found = module.scope.lookup(func.name) if isinstance(module, ModuleValue) else None
    return found.function if isinstance(found, Closure) and not found.tags else None


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


# ── the fix ────────────────────────────────────────────────────────────────


def add_check(found: UncheckedCode, program: Program) -> Fix | None:
    """Give the code to the project's ``check_rc`` behind the call."""
    from cutile_lint.frontends.python import rewrite

    event = found.launch.event
    if found.only_if is not None or found.swallowed is not None:
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
        name = _new_name(stop.frame.function or module)
        edits.append(Edit(module.source, statement.span.start, statement.span.start, f"{name} = "))
    else:
        names = _bound_names(statement, event.place)
        if not names:
            return None
        name = names[0]
        if name == "_" and isinstance(statement, syntax.Assign) and not _is_named_again(stop.frame.function or module, statement):
            name = _new_name(stop.frame.function or module)
            edits.append(Edit(module.source, statement.targets[0].span.start, statement.targets[0].span.end, name))
    added = rewrite.insert_after(module, statement, [f"{checker}({name}, {_symbol_name(module, found.launch.symbol)})"])
    if added is None:
        return None
    edits += added.edits
    edits.sort(key=lambda edit: (edit.start, edit.end))
    return Fix(f"check the code with `{checker}`", tuple(edits), Applicability.SAFE)


def _is_named_again(root: syntax.Module | syntax.Function, statement: syntax.Assign) -> bool:
    nodes = [node for node in root.walk() if isinstance(node, syntax.Name) and node.id == statement.name]
    return not all(statement.span.covers(node.span) for node in nodes)


def _new_name(root: syntax.Module | syntax.Function) -> str:
    """``rc``, numbered where the function has one."""
    return next(name for name in ("rc", *(f"rc{count}" for count in range(2, 1000))) if not occurs(root, name))


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
