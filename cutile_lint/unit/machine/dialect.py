"""What the machine asks of a language: names, calls, methods and attributes that the tree alone does not settle."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.values import (
    Arguments,
    Class,
    Closure,
    Entries,
    Items,
    Known,
    ModuleValue,
    Record,
    Term,
    Value,
    unknown,
)

if TYPE_CHECKING:
    from cutile_lint.unit.machine.statements import Statements as Machine


class Dialect:
    """Defaults of a language without any knowledge: everything is a symbol, every call an event."""

    #: names of a block end with it (Rust)
    block_scopes = False
    #: functions and macros are visible before their definition in their block (Rust)
    hoists_items = False
    #: one arm of a match is always taken (Rust)
    exhaustive_match = False
    #: ``==`` and ``<`` may be device work (Python)
    compares_tensors = False
    #: an index out of range ends the process (Rust)
    index_panics = False

    def name(self, machine: Machine, node: syntax.Name) -> Value:
        return Term("external", node.id, place=machine.place(node))

    def attribute(self, machine: Machine, base: Value, name: str, node: syntax.Node) -> Value:
        return Term("attr", name, (base,), place=machine.place(node))

    def config_member(self, machine: Machine, config: Term, name: str, node: syntax.Node) -> Value | None:
        """What ``cfg.name`` is when it is no field of the configs."""
        return None

    def config_items(self, machine: Machine, config: Term) -> Items | None:
        """The places of a ``cfg`` that is a tuple."""
        return None

    def spread_entries(self, machine: Machine, value: Value, node: syntax.Node) -> Entries | None:
        """The mapping that ``**value`` spreads."""
        return value if isinstance(value, Entries) else None

    def missing_member(self, machine: Machine, base: ModuleValue, name: str, node: syntax.Node) -> Value:
        return Term("external", f"{base.scope.source.path.stem}.{name}", place=machine.place(node))

    def bind_member(self, machine: Machine, member: Value, base: Record, node: syntax.Node) -> Value:
        return member

    def call(self, machine: Machine, callee: Value, arguments: Arguments, node: syntax.Node) -> Value:
        """Call something outside the project."""
        name = callee.name if isinstance(callee, Term) and callee.op == "external" else ""
        operands = tuple(arguments.positional) if name else (callee, *arguments.positional)
        result = Term("call", name, operands, arguments.keywords, machine.fresh(), machine.place(node))
        machine.emit("call", node, name, value=result, arguments=arguments, target=None if name else callee)
        return result

    def method(self, machine: Machine, base: Value, name: str, arguments: Arguments, node: syntax.Node) -> Value:
        """Call a method of something that is no object of the project."""
        result = Term("method", name, (base, *arguments.positional), arguments.keywords, machine.fresh(), machine.place(node))
        machine.emit("call", node, name, value=result, arguments=arguments, target=base)
        return result

    def enter(self, machine: Machine, closure: Closure, arguments: Arguments, node: syntax.Node) -> Value:
        """Call a function of the project."""
        return machine.invoke(closure, arguments, node)

    def construct(self, machine: Machine, cls: Class, arguments: Arguments, node: syntax.Node) -> Value:
        return Record(cls.definition.name, {}, cls, machine.place(node))

    def arithmetic(self, function: Callable[[object, object], object], op: str, left: object, right: object) -> object:
        return function(left, right)

    def dereference(self, machine: Machine, op: str, operand: Value, node: syntax.Unary) -> Value:
        return operand

    def is_identity_decorator(self, value: Value) -> bool:
        return False

    def bind_class_member(self, machine: Machine, member: Value, cls: Class) -> Value:
        """A member taken from the class itself."""
        return member

    def is_tuple_record(self, value: Record) -> bool:
        return False

    def struct(self, machine: Machine, node: syntax.Struct) -> Value | None:
        """A struct literal of a type that the dialect knows."""
        return None

    def set_field(self, machine: Machine, target: syntax.Attr, base: Value, value: Value) -> bool:
        """Write a field of a value that the dialect knows; False for others."""
        return False

    def owner_of(self, scope: Scope, name: str) -> tuple[Scope, str]:
        """The variable that a name writes to."""
        return scope, name

    def lend(self, machine: Machine, function: syntax.Function, scope: Scope, node: syntax.Call) -> None:
        """Let the parameters of a function that is entered stand for variables of the caller, where the language has that."""

    def assigned(self, machine: Machine, value: Value, node: syntax.Assign) -> Value:
        """What an assignment gives to its target."""
        return value

    def do_import(self, machine: Machine, node: syntax.Import) -> None:
        for name in node.names:
            machine.bind(name.alias, unknown("import", machine.place(name)), name, declares=True)

    def read(self, machine: Machine, name: str, value: Value) -> Value:
        """A name's value as an expression sees it."""
        return value

    def is_object(self, value: Value) -> bool:
        """The value is certainly not None."""
        return False

    def named(self, machine: Machine, func: syntax.Attr) -> syntax.Attr:
        """The method that a call names (in a macro: ``x.$name()``)."""
        return func

    def metavariable_target(self, machine: Machine, name: str) -> tuple[Scope | None, str]:
        """The caller's scope and name that binding a macro's ``$name`` means."""
        return None, name

    def arm_test(self, machine: Machine, arm: syntax.Arm, subject: Value) -> Value:
        """The test of a match arm; binds its captures."""
        return machine.match(arm.pattern, subject)

    def repeated_values(self, machine: Machine, node: syntax.Expr) -> list[Value]:
        """The values of an expression that stands in a macro's repetition, one per element."""
        return [machine.evaluate(node)]

    def define_macro(self, machine: Machine, node: syntax.MacroDef) -> None:
        return None

    def macro_call(self, machine: Machine, node: syntax.Call) -> Value:
        return unknown("macro", machine.place(node))

    def links(self, machine: Machine, node: syntax.Links) -> Value:
        return unknown("repeated links", machine.place(node))

    def repeat(self, machine: Machine, node: syntax.Repetition) -> None:
        machine.run(node.body)

    def constant_pattern(self, machine: Machine, pattern: syntax.Pattern) -> Value | None:
        """The constant that a plain name in a pattern means, if it means one."""
        return None

    def match_constant(self, machine: Machine, pattern: syntax.Pattern, value: Value, constant: Value) -> Value:
        """The test that must hold for a value to match a constant."""
        return machine.compare("==", value, constant, pattern)

    def match_constructor(self, machine: Machine, pattern: syntax.Pattern, value: Value) -> Value:
        """The test of a ``Some(x)``, ``Point(x=0)`` or mapping pattern; binds what it captures."""
        for position, item in enumerate(pattern.items):
            part = Term("payload", f"{pattern.name}.{position}", (value,), place=machine.place(item))
            machine.match(item, part)
        for name, item in pattern.fields:
            machine.match(item, Term("payload", f"{pattern.name}.{name}", (value,), place=machine.place(item)))
        return Term("compare", "==", (value, Known(pattern.name)), place=machine.place(pattern))
