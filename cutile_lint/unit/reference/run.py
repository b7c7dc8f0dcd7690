"""Running the op of another backend: its tuner calls and kernel launches, with configs and hints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place
from cutile_lint.unit.machine.machine import Machine
from cutile_lint.unit.machine.python import PythonDialect
from cutile_lint.unit.machine.trace import Trace
from cutile_lint.unit.machine.values import (
    Arguments,
    Class,
    Closure,
    Condition,
    Entries,
    Items,
    Known,
    Partial,
    Record,
    Term,
    Value,
    alternatives,
)
from cutile_lint.unit.runs import Run, registrations
from cutile_lint.unit.timed.tensors import Tensors

if TYPE_CHECKING:
    from cutile_lint.unit.linking.program import Program
    from cutile_lint.unit.machine.statements import Statements

#: functions that try every config of a search space
_TUNERS = frozenset(["exhaustive_search", "autotune_launch", "autotune", "tune"])
_SPACES = ("search_space", "configs", "space", "candidates")
#: configs whose hints are evaluated one by one
MAX_CONFIGS = 400
_HINTS = frozenset(["num_ctas", "occupancy", "num_cta_in_cga", "num_worker_warps", "num_worker_warps_per_cta", "opt_level"])


@dataclass(slots=True, eq=False)
class TunedConfig:
    """One config of the reference: its fields, the hints its kernel is launched with, and the condition it is offered under."""

    fields: dict[str, Value]
    hints: dict[str, Value]
    condition: Condition
    place: Place | None


@dataclass(slots=True, eq=False)
class KernelUse:
    """A kernel of the reference, tuned over ``configs`` or launched with fixed ``hints`` and constants.

    ``complete`` is False when some configs or hints could not be evaluated.
    """

    kernel: Closure
    condition: Condition
    place: Place
    configs: list[TunedConfig] = field(default_factory=list)
    tuned: bool = False
    complete: bool = True
    config_function: str = ""

    @property
    def name(self) -> str:
        return self.kernel.function.name


class ReferenceDialect(PythonDialect):
    """Python that launches cuTile or Triton kernels: ``uses`` collects them in order."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.uses: list[KernelUse] = []
        #: launches whose kernel came from somewhere that was not followed (a cache of tuned kernels)
        self.unresolved = 0

    # ── calls ──

    def call(self, machine: Statements, callee: Value, arguments: Arguments, node: syntax.Node) -> Value:
        if isinstance(callee, Term):
            last = callee.name.rsplit(".", 1)[-1]
            if callee.op == "external" and last in _TUNERS and self._tuned(machine, arguments, node):
                return Term("call", callee.name, (), serial=machine.fresh(), place=machine.place(node))
            if callee.op == "external" and last == "launch":
                self._launched(machine, arguments, node)
            elif callee.op == "index" and isinstance(callee.args[0], (Closure, Term)):
                self._subscripted(machine, callee.args[0], arguments, node)
        return super().call(machine, callee, arguments, node)

    def enter(self, machine: Statements, closure: Closure, arguments: Arguments, node: syntax.Node) -> Value:
        if _is_kernel(closure):  # device code is not host code
            return Term("call", closure.function.name, (), serial=machine.fresh(), place=machine.place(node))
        return super().enter(machine, closure, arguments, node)

    # ── cuda.tile ──

    def _tuned(self, machine: Statements, arguments: Arguments, node: syntax.Node) -> bool:
        """``exhaustive_search(configs, stream, grid_fn, kernel, args_fn, hints_fn)`` and its like; arguments are told by kind."""
        positional = [machine.resolve(value) for value in arguments.positional]
        kernel, at = next(((found, at) for at, value in enumerate(positional) if (found := kernel_of(value))), (None, -1))
        if kernel is None and "kernel" in arguments.keywords:
            kernel = kernel_of(machine.resolve(arguments.keywords["kernel"]))
        if kernel is None:
            return False
        space = next((arguments.keywords[name] for name in _SPACES if name in arguments.keywords), None)
        if space is None:
            space = positional[0] if positional else None
        callables = [value for value in positional[at + 1 :] if isinstance(value, (Closure, Partial))] if at >= 0 else []
        hints_fn = arguments.keywords.get("hints_fn") or (callables[1] if len(callables) > 1 else None)
        use = KernelUse(kernel, machine.path, machine.place(node), tuned=True)
        with machine.inside(trace=Trace()):
            if isinstance(space := machine.resolve(space) if space is not None else None, (Closure, Partial)):
                space = machine.resolve(machine.call(space, Arguments(), node))
            items = machine.iterate(space) if space is not None else None
            if items is None or items.open or len(items.items) > MAX_CONFIGS:
                use.complete = False
            else:
                self._read_configs(machine, use, items, hints_fn, node)
        self.uses.append(use)
        return True

    def _read_configs(self, machine: Statements, use: KernelUse, items: Items, hints_fn: Value | None, node: syntax.Node) -> None:
        base = _declared_hints(use.kernel)
        for item, condition in zip(items.items, items.conditions, strict=True):
            for more, config in alternatives(item):
                fields = fields_of(config)
                if fields is None:
                    use.complete = False
                    continue
                hints = dict(base)
                if hints_fn is not None:
                    given = machine.resolve(machine.call(hints_fn, Arguments([config], {}, [use.place]), node))
                    if isinstance(given, Entries) and not given.open:
                        hints.update({str(key.value): value for key, value in given.items() if isinstance(key, Known)})
                    else:
                        use.complete = False
                use.configs.append(TunedConfig(fields, hints, condition + more, config.place))
        use.config_function = _function_around(self.program, use.configs[0].place) if use.configs else ""

    def _launched(self, machine: Statements, arguments: Arguments, node: syntax.Node) -> None:
        """``ct.launch(stream, grid, kernel, args)``; a kernel out of a cache of tuned ones is one of those seen before."""
        given = arguments.get(2, "kernel")
        for more, value in alternatives(machine.resolve(given)) if given is not None else []:
            kernel = kernel_of(value)
            if kernel is None:
                self.unresolved += 1
                continue
            args = arguments.get(3, "kernel_args")
            constants = _constants(kernel, args.items if isinstance(args, Items) else [])
            hints = _declared_hints(kernel) | _replaced_hints(value)
            self._fixed(kernel, machine.path + more, machine.place(node), constants, hints)

    def _fixed(
        self, kernel: Closure, path: Condition, place: Place, constants: dict[str, Value], hints: dict[str, Value]
    ) -> None:
        self.uses.append(KernelUse(kernel, path, place, [TunedConfig(constants, hints, (), place)]))

    # ── triton ──

    def _subscripted(self, machine: Statements, kernel: Value, arguments: Arguments, node: syntax.Node) -> None:
        """``kernel[grid](…, BLOCK=128, num_warps=4)``, perhaps under ``@triton.autotune(configs=[triton.Config(…)])``."""
        found = kernel_of(kernel)
        if found is None:
            return
        hints = {name: value for name, value in arguments.keywords.items() if name in _HINTS}
        tuner = next(
            (tag for tag in found.tags if isinstance(tag, Term) and tag.op == "call" and tag.name.endswith("autotune")), None
        )
        if tuner is None:
            self._fixed(
                found, machine.path, machine.place(node), _constants(found, arguments.positional) | arguments.keywords, hints
            )
            return
        use = KernelUse(found, machine.path, machine.place(node), tuned=True)
        space = tuner.keywords.get("configs") or (tuner.args[0] if tuner.args else None)
        items = machine.iterate(machine.resolve(space)) if space is not None else None
        if items is None or items.open:
            use.complete = False
        for item, condition in zip(items.items, items.conditions, strict=True) if items is not None else []:
            config = machine.resolve(item)
            if not (isinstance(config, Term) and config.name.endswith("Config")):
                use.complete = False
                continue
            kwargs = machine.resolve(config.args[0]) if config.args else config.keywords.get("kwargs")
            fields = fields_of(kwargs) if kwargs is not None else {}
            if fields is None:
                use.complete = False
                continue
            loose = {name: value for name, value in config.keywords.items() if name not in ("kwargs", "pre_hook")}
            given = {name: value for name, value in {**fields, **loose}.items() if name in _HINTS}
            use.configs.append(TunedConfig({**fields, **loose}, {**hints, **given}, condition, config.place))
        use.config_function = _function_around(self.program, use.configs[0].place) if use.configs else ""
        self.uses.append(use)


# ── kernels ────────────────────────────────────────────────────────────────


def _is_kernel(closure: Closure) -> bool:
    names = {tag.name.rsplit(".", 1)[-1] for tag in closure.tags if isinstance(tag, Term)}
    return bool(names & {"kernel", "jit"})


def kernel_of(value: Value) -> Closure | None:
    """The device kernel that a value is, ``kernel.replace_hints(…)`` included."""
    while isinstance(value, Term) and value.op == "method" and value.name == "replace_hints":
        value = value.base
    return value if isinstance(value, Closure) and _is_kernel(value) else None


def _replaced_hints(value: Value) -> dict[str, Value]:
    return dict(value.keywords) if isinstance(value, Term) and value.name == "replace_hints" else {}


def _declared_hints(kernel: Closure) -> dict[str, Value]:
    """``@ct.kernel(num_ctas=…, occupancy=…)``."""
    found: dict[str, Value] = {}
    for tag in kernel.tags:
        if isinstance(tag, Term) and tag.op == "call" and tag.name.rsplit(".", 1)[-1] == "kernel":
            found.update({name: value for name, value in tag.keywords.items() if name in _HINTS})
    return found


def _constants(kernel: Closure, arguments: list[Value]) -> dict[str, Value]:
    """The numbers that a launch gives to parameters of the kernel."""
    params = kernel.function.params
    return {
        param.name: value
        for param, value in zip(params, arguments, strict=False)
        if (isinstance(value, Known) and type(value.value) is int and param.name.isupper()) or "onst" in param.annotation
    }


def fields_of(value: Value) -> dict[str, Value] | None:
    """The fields of a config: an object's, or a dict's."""
    if isinstance(value, Record):
        found = dict(value.fields)
        if isinstance(value.cls, Class):
            for name in value.cls.fields_in_order():
                if name not in found and (default := value.cls.member(name)) is not None:
                    found[name] = default
        return found
    if isinstance(value, Entries) and not value.open:
        return {str(key.value): item for key, item in value.items() if isinstance(key, Known)}
    return None


def _function_around(program: Program, place: Place | None) -> str:
    function = function_around(program, place)
    return function.name if function is not None else ""


def function_around(program: Program, place: Place | None) -> syntax.Function | None:
    """The innermost named function that a place stands in."""
    module = program.module(place.source.path) if place is not None else None
    if module is None or place is None:
        return None
    best: syntax.Function | None = None
    nodes: Iterable[syntax.Node] = module.body
    while (around := next((node for node in nodes if node.span.covers(place.span)), None)) is not None:
        if isinstance(around, syntax.Function) and around.name:
            best = around
        nodes = list(around.children())
    return best


# ── latencies ──────────────────────────────────────────────────────────────

_LOADS = frozenset(["load", "store", "gather", "scatter"])


def accesses(kernel: Closure) -> Iterator[tuple[str, syntax.Call, syntax.Expr | None]]:
    """(``load`` or ``store``, call, its ``latency`` argument) of the tile accesses in a kernel's body."""
    for node in kernel.function.walk():
        if isinstance(node, syntax.Call) and isinstance(node.func, syntax.Attr) and node.func.name in _LOADS:
            latency = next((arg.value for arg in node.args if arg.name == "latency"), None)
            yield node.func.name, node, latency


# ── the op ─────────────────────────────────────────────────────────────────


@dataclass(slots=True, eq=False)
class ReferenceRun:
    """One run of the reference op. ``tensors`` says what PyTorch work its wrapper does per call."""

    run: Run
    uses: list[KernelUse]

    @property
    def backend(self) -> str:
        return self.run.registered.backend if self.run.registered is not None else ""

    @property
    def tensors(self) -> Tensors:
        return self.run.tensors


def run_reference(program: Program, path: Path, op: str, own_backend: str) -> ReferenceRun | None:
    """Run the op of this name that a module registers for another backend; a getter's result is run in its place."""
    dialect = ReferenceDialect(program)
    machine = Machine(dialect)
    scope = program.load(machine, path)
    found = next((one for one in registrations(scope, program) if one.name == op and one.backend != own_backend), None)
    if found is None:
        return None
    trace = machine.run_callable(found.closure)
    if not dialect.uses and not dialect.unresolved:
        target = next(
            (one for _, value in trace.returned for _, one in alternatives(value) if isinstance(one, (Closure, Partial))), None
        )
        closure = target.func if isinstance(target, Partial) else target
        if isinstance(closure, Closure) and closure is not found.closure:
            machine.trace = Trace()
            machine.exits.clear()
            machine.path, machine.alive = (), True
            return ReferenceRun(Run(closure, machine.run_callable(closure), program, found), _settled(dialect))
    return ReferenceRun(Run(found.closure, trace, program, found), _settled(dialect))


def _settled(dialect: ReferenceDialect) -> list[KernelUse]:
    """The uses; a launch of an unknown kernel is one of a tuned kernel, and without any it leaves all hints open."""
    if dialect.unresolved and not any(use.tuned for use in dialect.uses):
        for use in dialect.uses:
            use.complete = False
    return dialect.uses
