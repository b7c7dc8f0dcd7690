"""The Python dialect: imports, builtins, classes, and the autotuner."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.regex import regex
from cutile_lint.unit.machine import config_access, python_builtins, python_methods, python_threads
from cutile_lint.unit.machine.dialect import Dialect
from cutile_lint.unit.machine.trace import Tuning
from cutile_lint.unit.machine.values import (
    Arguments,
    Class,
    Closure,
    Entries,
    Hop,
    Items,
    Known,
    ModuleValue,
    Partial,
    Record,
    SuperRecord,
    Term,
    Value,
    unknown,
)
from cutile_lint.unit.timed import torch_api

if TYPE_CHECKING:
    from cutile_lint.sources import Place
    from cutile_lint.unit.linking.program import Program
    from cutile_lint.unit.machine.statements import Statements as Machine

#: decorators of functions whose result is kept
CACHES = regex(r"(^|\.)(cache|lru_cache|cached|memoize|memoized|once|run_once|call_once|cached_property)$")
_BUILTINS = frozenset(dir(builtins))
_RECORD_TAGS = ("dataclass", "dataclasses.dataclass")
_TUPLE_BASES = ("typing.NamedTuple", "NamedTuple")


class PythonDialect(Dialect):
    """Runs Python with the project's modules loaded on import; everything else is a symbol."""

    compares_tensors = True

    def __init__(self, program: Program) -> None:
        self.program = program

    # ── names and modules ──

    def name(self, machine: Machine, node: syntax.Name) -> Value:
        if node.id == "__name__":
            return Known("module")
        return Term("external", node.id, place=machine.place(node))

    def do_import(self, machine: Machine, node: syntax.Import) -> None:
        for name in node.names:
            if name.name == "*":
                self._star(machine, name, node.level)
                continue
            alias = name.alias or name.module.split(".")[0]
            machine.bind(alias, self._imported(machine, name, node.level), name, declares=True)

    def _imported(self, machine: Machine, name: syntax.ImportName, level: int) -> Value:
        place = machine.place(name)
        here = machine.scope.source.path
        if name.name is None:
            # ``import a.b`` binds the package ``a``; ``import a.b as c`` the module itself
            bound = name.module if name.alias else name.module.split(".")[0]
            path = self.program.resolve(here, bound, level)
            if path is not None and not self.program.is_runtime_module(path):
                return ModuleValue(self.program.load(machine, path), place)
            return Term("external", bound, place=place)
        full = f"{name.module}.{name.name}" if name.module else name.name
        if self.program.is_runtime(here, name.module, name.name, level):
            return Term("external", full, place=place)
        module = self.program.resolve(here, name.module, level)
        if module is not None:
            scope = self.program.load(machine, module)
            if (found := scope.names.get(name.name)) is not None:
                return found
            submodule = self.program.resolve(here, full, level)
            if submodule is not None and submodule != module and not self.program.is_runtime_module(submodule):
                return ModuleValue(self.program.load(machine, submodule), place)
            return Term("external", full, place=place)
        submodule = self.program.resolve(here, full, level)
        if submodule is not None and not self.program.is_runtime_module(submodule):
            return ModuleValue(self.program.load(machine, submodule), place)
        return Term("external", full, place=place)

    def _star(self, machine: Machine, name: syntax.ImportName, level: int) -> None:
        path = self.program.resolve(machine.scope.source.path, name.module, level)
        if path is None:
            return
        for key, value in self.program.load(machine, path).names.items():
            if not key.startswith("_"):
                machine.bind(key, value, name, declares=True)

    def missing_member(self, machine: Machine, base: ModuleValue, name: str, node: syntax.Node) -> Value:
        path = self.program.resolve(base.scope.source.path, name, 1)
        if path is not None:
            return ModuleValue(self.program.load(machine, path), machine.place(node))
        return super().missing_member(machine, base, name, node)

    # ── attributes and members ──

    def attribute(self, machine: Machine, base: Value, name: str, node: syntax.Node) -> Value:
        if isinstance(base, (Closure, Partial)):
            label = base.function.name if isinstance(base, Closure) else "partial"
            return Term("global", f"{label}.{name}", (Known(None),), place=machine.place(node))
        if isinstance(base, Class):
            if name == "apply" and isinstance(forward := base.member("forward"), Closure):
                return Partial(forward, [Term("input", "ctx", place=machine.place(node))], {})
            return Term("global", f"{base.definition.name}.{name}", (Known(None),), place=machine.place(node))
        if name in python_methods.METADATA:
            base = python_methods.same_metadata(base, name)
            if name == "requires_grad" and _has_no_grad(base):
                return Known(False, machine.place(node))
        return Term("attr", name, (base,), place=machine.place(node))

    def bind_member(self, machine: Machine, member: Value, base: Record, node: syntax.Node) -> Value:
        if isinstance(base, SuperRecord):
            base = base.bound
        if not isinstance(member, Closure):
            return member
        tags = [tag.name for tag in member.tags if isinstance(tag, Term)]
        if "staticmethod" in tags:
            return member
        if "property" in tags or "functools.cached_property" in tags or "cached_property" in tags:
            return machine.call(Partial(member, [base], {}), Arguments(), node)
        if "classmethod" in tags:
            return Partial(member, [base.cls or base], {})
        return Partial(member, [base], {})

    def is_object(self, value: Value) -> bool:
        if not isinstance(value, Term):
            return False
        if value.op == "call" and value.name.startswith("torch."):
            return value.name.rsplit(".", 1)[1] in torch_api.ALLOCATIONS | torch_api.FILLS | torch_api.COPIES
        return value.op == "method" and value.name in python_methods.GIVES_TENSOR

    def bind_class_member(self, machine: Machine, member: Value, cls: Class) -> Value:
        if isinstance(member, Closure) and any(isinstance(tag, Term) and tag.name == "classmethod" for tag in member.tags):
            return Partial(member, [cls], {})
        return member

    def config_member(self, machine: Machine, config: Term, name: str, node: syntax.Node) -> Value | None:
        return config_access.member(machine, config, name, node)

    def config_items(self, machine: Machine, config: Term) -> Items | None:
        return config_access.items(machine, config)

    def spread_entries(self, machine: Machine, value: Value, node: syntax.Node) -> Entries | None:
        return config_access.spread(machine, value, node)

    def is_tuple_record(self, value: Record) -> bool:
        return value.cls is not None and any(isinstance(base, Term) and base.name in _TUPLE_BASES for base in value.cls.bases)

    # ── calls ──

    def enter(self, machine: Machine, closure: Closure, arguments: Arguments, node: syntax.Node) -> Value:
        if not closure.tags:
            return super().enter(machine, closure, arguments, node)
        around = [tag for tag in closure.tags if isinstance(tag, Record)]  # a ``ContextDecorator``
        for one in reversed(around):
            machine.enter(one, node)
        result = super().enter(machine, closure, arguments, node)
        for one in around if machine.alive else ():
            machine.leave(one, node)
        if is_cached(closure):
            self.program.keep(closure.scope.source.path, closure.function.name, result)
        return result

    def call(self, machine: Machine, callee: Value, arguments: Arguments, node: syntax.Node) -> Value:
        if isinstance(callee, Term) and callee.op == "external":
            role = self.program.role(callee.name)
            if role == "autotune-launch":
                return self.tune(machine, arguments, node)
            handled = python_builtins.call(machine, callee.name, arguments, node)
            if handled is not None:
                return handled
            bound = self._bound_method(machine, callee, arguments, node)
            if bound is not None:
                return bound
        elif isinstance(callee, Term) and callee.op == "attr":
            return self.method(machine, callee.base, callee.name, arguments, node, callee.place)
        elif isinstance(callee, Term) and callee.op == "field" and config_access.is_config(callee.base):
            handled = python_methods.call(machine, callee.base, callee.name, arguments, node)
            if handled is not None:
                return handled
        elif (module := _nn_module(callee)) is not None:
            name = f"{module}.forward"
            result = Term("call", name, tuple(arguments.positional), arguments.keywords, machine.fresh(), machine.place(node))
            machine.emit("call", node, name, value=result, arguments=arguments)
            return result
        elif isinstance(callee, Term) and callee.op == "call" and callee.name == "operator.methodcaller" and arguments.positional:
            rest = Arguments([*callee.args[1:]], dict(callee.keywords), [machine.place(node)] * (len(callee.args) - 1))
            method = machine.attribute(machine.resolve(arguments.positional[0]), str(callee.args[0].value), node)  # type: ignore[attr-defined]
            return machine.call(method, rest, node)
        elif isinstance(callee, Term) and callee.op == "call" and arguments.positional and not arguments.keywords:
            self._late_decorator(callee, arguments.positional[0])
        return super().call(machine, callee, arguments, node)

    def _late_decorator(self, decorator: Term, value: Value) -> None:
        """``register_impl("x", backend="y")(fn)``: the same as decorating ``fn``, be it a bound method or an object that can be called."""
        if isinstance(value, Record) and value.cls is not None and isinstance(call := value.cls.member("__call__"), Closure):
            value = Partial(call, [value], {})
        if isinstance(value, Partial) and isinstance(value.func, Closure) and not value.keywords:
            value.func.receiver = list(value.args)
            value = value.func
        if isinstance(value, Closure):
            value.tags.append(decorator)

    def _bound_method(self, machine: Machine, callee: Term, arguments: Arguments, node: syntax.Node) -> Value | None:
        """``torch.Tensor.clone(x)`` is ``x.clone()``."""
        if callee.name.startswith("torch.Tensor.") and arguments.positional:
            rest = Arguments(
                arguments.positional[1:], arguments.keywords, arguments.places[1:], arguments.keyword_places, arguments.exact
            )
            return self.method(machine, arguments.positional[0], callee.name.rsplit(".", 1)[1], rest, node)
        return None

    def method(
        self, machine: Machine, base: Value, name: str, arguments: Arguments, node: syntax.Node, taken: Place | None = None
    ) -> Value:
        handled = python_methods.call(machine, base, name, arguments, node)
        if handled is not None:
            return handled
        if isinstance(base, Term):
            for known in (python_methods.as_attribute, python_methods.on_exit, python_threads.on_thread):
                if (result := known(machine, base, name, arguments, node)) is not None:
                    return result
        serial = 0 if name in python_methods.PURE else machine.fresh()
        if name in python_methods.METADATA_METHODS:
            base = python_methods.same_metadata(base, name)
        result = Term("method", name, (base, *arguments.positional), arguments.keywords, serial, machine.place(node))
        machine.emit("call", node, name, value=result, arguments=arguments, target=base).taken = taken
        return result

    # ── classes ──

    def construct(self, machine: Machine, cls: Class, arguments: Arguments, node: syntax.Node) -> Value:
        record = Record(cls.definition.name, {}, cls, machine.place(node))
        init = cls.member("__init__")
        if isinstance(init, Closure):
            machine.call(Partial(init, [record], {}), arguments, node)
            return record
        order = cls.fields_in_order()
        if order or any(tag in _RECORD_TAGS for tag in cls.tags) or self.is_tuple_record(record):
            for name in order:
                default = cls.member(name)
                if not arguments.exact:
                    record.fields[name] = python_builtins.overridden(machine, name, machine.place(node))
                elif default is not None:
                    record.fields[name] = python_builtins.field_default(machine, default, node)
            for name, value in zip(order, arguments.positional, strict=False):
                record.fields[name] = value
            record.fields.update(arguments.keywords)
            record.fields = {name: record.fields[name] for name in [*order, *record.fields] if name in record.fields}
            if isinstance(post := cls.member("__post_init__"), Closure):
                machine.call(Partial(post, [record], {}), Arguments(), node)
        return record

    def match_constructor(self, machine: Machine, pattern: syntax.Pattern, value: Value) -> Value:
        if pattern.kind == "mapping":
            for name, item in pattern.fields:
                machine.match(item, machine.item(value, Known(name), pattern))
            return unknown("mapping pattern", machine.place(pattern))
        for name, item in pattern.fields:
            machine.match(item, machine.attribute(value, name, pattern))
        named = config_access.pattern_names(value) if pattern.items else []
        for at, item in enumerate(pattern.items):
            part = (
                machine.attribute(value, named[at], pattern) if at < len(named) else unknown("class pattern", machine.place(item))
            )
            machine.match(item, part)
        return Term("call", "isinstance", (value, Term("external", pattern.name)), place=machine.place(pattern))

    # ── the autotuner ──

    def tune(self, machine: Machine, arguments: Arguments, node: syntax.Node) -> Value:
        """``autotune_launch(kernel_fn, configs, key, …)``: run ``kernel_fn`` once, with a symbol for the config, as timed region."""
        event = machine.emit("tune-start", node, "autotune_launch", arguments=arguments)
        number = len(machine.trace.tunings) + 1
        kernel_fn = arguments.get(0, "kernel_fn")
        configs = arguments.get(1, "configs")
        tuning = Tuning(number, event, kernel_fn, configs, arguments.get(2, "key"), arguments.get(3, "kernel_name"))
        machine.trace.tunings.append(tuning)
        place = machine.place(node)
        config = Term(
            "config", str(number), (configs or unknown("configs", place),), place=place, trail=Hop(place, "made", "cfg")
        )
        tuning.config = config
        output: Value = unknown("kernel_fn", place)
        if kernel_fn is not None:
            mark = len(machine.exits)
            with machine.inside(timed=number):
                output = machine.call(kernel_fn, Arguments([config], {}, [place]), node)
            machine.alive = True
            machine.exits[mark:] = [item for item in machine.exits[mark:] if item[0] != "return"]
        tuning.output = output
        machine.emit("tune-end", node, "autotune_launch")
        tuning.result = Record(
            "TunedResult",
            {
                "output": output,
                "best_config": config,
                "tuning_record": unknown("tuning record", place),
                "cache_hit": Term("unknown", "cache hit", serial=machine.fresh(), place=place),
            },
            place=place,
        )
        return tuning.result


def is_cached(closure: Closure) -> bool:
    return any(isinstance(tag, Term) and CACHES.search(tag.name) for tag in closure.tags)


def _has_no_grad(value: Value) -> bool:
    """A tensor that certainly does not require grad: detached, or made here."""
    if not isinstance(value, Term) or "requires_grad" in value.keywords:
        return False
    if value.op == "call" and value.name.startswith("torch."):
        return value.name.rsplit(".", 1)[1] in torch_api.ALLOCATIONS | torch_api.FILLS
    return value.op in ("method", "attr") and value.name in ("detach", "data")


#: Modules that give their input back, or only start what is called later.
_IDLE_MODULES = frozenset(["Identity", "Parameter", "ParameterList", "ParameterDict", "ModuleList", "ModuleDict", "Module"])
_MODULE_MOVES = frozenset(["to", "cuda", "eval", "train", "half", "bfloat16", "float", "double", "requires_grad_"])


def _nn_module(callee: Value) -> str | None:
    """The class of an object of ``torch.nn`` that is called: ``torch.nn.GELU()(x)``."""
    while isinstance(callee, Term) and callee.args and (
        callee.op == "global" or (callee.op == "method" and callee.name in _MODULE_MOVES)
    ):  # fmt: skip
        callee = callee.args[0]
    if not isinstance(callee, Term) or callee.op != "call" or not callee.name.startswith("torch.nn."):
        return None
    last = callee.name.rsplit(".", 1)[1]
    return callee.name if last[:1].isupper() and last not in _IDLE_MODULES else None
