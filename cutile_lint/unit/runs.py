"""Running what an op consists of: its callable, its exports, its device entries."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Source
from cutile_lint.unit.answers import Answers
from cutile_lint.unit.launches import KernelLaunch, Launch, kernel_launches_in, launches_in
from cutile_lint.unit.linking.crate import Crate, Entry, Export
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.machine import Machine
from cutile_lint.unit.machine.python import PythonDialect
from cutile_lint.unit.machine.rust import RustDialect
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.trace import Event, Trace, Tuning
from cutile_lint.unit.machine.values import Class, Closure, Known, Partial, Term, Value, alternatives, subterms
from cutile_lint.unit.timed.tensors import Tensors

_MUTATORS = frozenset(
    "append appendleft add update setdefault extend pop popitem popleft clear discard remove insert put put_nowait set acquire".split()
)


@dataclass(frozen=True, slots=True)
class Registration:
    """``@register_impl(name, backend=…)`` on a function of a module."""

    name: str
    backend: str
    closure: Closure


class Run:
    """One run of an op's callable. ``registered`` is its registration, None for a function that is not registered."""

    def __init__(self, closure: Closure, trace: Trace, program: Program, registered: Registration | None) -> None:
        self.closure = closure
        self.trace = trace
        self.program = program
        self.registered = registered

    @property
    def function(self) -> syntax.Function:
        """The op's own function: the one with its signature, below decorators of the project."""
        return (self.closure.wraps or self.closure).function

    @property
    def source(self) -> Source:
        return (self.closure.wraps or self.closure).scope.source

    @property
    def tunings(self) -> list[Tuning]:
        return self.trace.tunings

    @cached_property
    def launches(self) -> list[Launch]:
        """FFI launches in order, those of the timed region (``timed`` > 0) among them."""
        return launches_in(self.trace, self.program)

    @cached_property
    def tensors(self) -> Tensors:
        """Which values are tensors, and what the events do on the device."""
        return Tensors(self.trace, self.program)

    @cached_property
    def raises(self) -> list[Event]:
        """What is raised and comes to no handler, in order."""
        events = self.trace.events
        return [event for event in events if event.kind == "raise" and not any(around.handlers for around in event.tries)]

    @cached_property
    def writes(self) -> list[Event]:
        """What changes state, in order."""
        kinds, calls = ("global", "setitem", "setattr", "delete"), _MUTATORS | {"setattr"}
        return [event for event in self.trace.events if event.kind in kinds or (event.kind == "call" and event.name in calls)]

    @cached_property
    def made(self) -> dict[object, list[Event]]:
        """The events by the key of the value that they have or make."""
        found: dict[object, list[Event]] = {}
        for event in self.trace.events:
            if event.value is not None:
                found.setdefault(event.value.key(), []).append(event)
        return found

    @cached_property
    def tested(self) -> set[object]:
        """Keys of what the tests are made of that events stand under."""
        return _parts({id(literal): literal.test for event in self.trace.events for literal in event.path}.values())

    @cached_property
    def launched(self) -> set[object]:
        """Keys of what the arguments of the launches are made of."""
        return _parts(value for launch in self.launches for value in launch.arguments.positional)


def _parts(values: Iterable[Value]) -> set[object]:
    return {part.key() for value in values for part in subterms(value)}


class ExportRun:
    """One run of an ``extern "C"`` function with a symbol for each parameter."""

    def __init__(self, export: Export, crate: Crate, trace: Trace) -> None:
        self.export = export
        self.trace = trace
        self.launches: list[KernelLaunch] = kernel_launches_in(trace, crate)
        #: what has been worked out about the run alone, for all ops that launch the export
        self.answers = Answers()

    def slot(self, name: str) -> int:
        """Index of a parameter; -1 when there is none of the name."""
        return next((at for at, param in enumerate(self.export.function.params) if param.name == name), -1)


class EntryRun:
    """One run of a device entry: every DSL call is an event."""

    def __init__(self, entry: Entry, trace: Trace) -> None:
        self.entry = entry
        self.trace = trace


def module_machine(program: Program, path) -> tuple[Machine, Scope]:
    """A machine with a module loaded."""
    machine = Machine(PythonDialect(program))
    return machine, program.load(machine, path)


def registrations(scope: Scope, program: Program) -> list[Registration]:
    """The registrations in a module's own top level, methods of its classes among them."""
    found = []
    values = list(scope.names.values())
    values += [member for value in values if isinstance(value, Class) for member in value.members.values()]
    for value in values:
        if not isinstance(value, Closure):
            continue
        for tag in value.tags:
            if isinstance(tag, Term) and tag.op == "call" and program.role(tag.name) == "register-impl":
                name = tag.keywords.get("name") or (tag.args[0] if tag.args else None)
                backend = tag.keywords.get("backend") or (tag.args[1] if len(tag.args) > 1 else None)
                registration = Registration(_text(name), _text(backend), value)
                if all(other.closure is not value or other.name != registration.name for other in found):
                    found.append(registration)
    return found


def _text(value: Value | None) -> str:
    return str(value.value) if isinstance(value, Known) else ""


def run_registered(program: Program, path, index: int, loaded: tuple[Machine, Scope] | None = None) -> Run:
    """Run the ``index``-th registered op of a module in a machine of its own; a getter's result is run in its place.

    ``loaded``: such a machine, when there is one that nothing has run in.
    """
    machine, scope = loaded or module_machine(program, path)
    registration = registrations(scope, program)[index]
    closure = registration.closure
    trace = machine.run_callable(closure)
    returned = [inner for _, value in trace.returned for _, inner in alternatives(value)]
    for value in returned:
        inner = value.func if isinstance(value, Partial) else value
        if isinstance(inner, Closure) and not launches_in(trace, program) and not trace.tunings:
            machine, scope = module_machine(program, path)
            fresh = registrations(scope, program)[index].closure
            first = machine.run_callable(fresh)
            again = [one for _, value in first.returned for _, one in alternatives(value)]
            target = next(
                (one.func if isinstance(one, Partial) else one for one in again if isinstance(one, (Closure, Partial))), None
            )
            if isinstance(target, Closure):
                machine.trace = Trace()
                machine.exits.clear()
                machine.path, machine.alive = (), True
                return Run(target, machine.run_callable(target), program, registration)
    return Run(closure, trace, program, registration)


def run_unregistered(program: Program, path) -> list[Run]:
    """Runs of a module's own functions that launch something and are not entered by another of them."""
    _, scope = module_machine(program, path)
    names = [
        name
        for name, value in scope.names.items()
        if isinstance(value, Closure) and value.scope.source is scope.source and value.owner is None
    ]
    runs: list[Run] = []
    for name in names:
        machine, fresh = module_machine(program, path)
        closure = fresh.names[name]
        if isinstance(closure, Closure):
            run = Run(closure, machine.run_callable(closure), program, None)
            if run.launches or run.tunings:
                runs.append(run)
    entered = {
        id(stop.frame.function)
        for run in runs
        for event in run.trace.events
        for stop in event.stack[1:]
        if stop.frame.function is not run.function
    }
    return [run for run in runs if id(run.function) not in entered] or runs


def run_export(export: Export, crate: Crate) -> ExportRun:
    machine = Machine(RustDialect(crate))
    closure = crate.closure(machine, export.function, export.source)
    return ExportRun(export, crate, machine.run_callable(closure))


def run_entry(entry: Entry, crate: Crate) -> EntryRun:
    """Run a device kernel; const and type generics are terms "generic"."""
    machine = Machine(RustDialect(crate))
    scope = crate.scope(machine, entry.source)
    inner = Scope(entry.source, scope, entry.name)
    for generic in entry.generics:
        inner.names[generic.name] = Term("generic", generic.name)
    return EntryRun(entry, machine.run_callable(Closure(entry.function, inner)))
