"""``CompileOptions``: whether a value is one, and its public fields written, told as the setter calls that mean the same.

Each field is an ``Option<i32>``, and the setter of the same name fills it (cutile-compiler/src/hints.rs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.unit.linking.rust_imports import is_path
from cutile_lint.unit.machine.values import Arguments, Choice, Known, Term, Value, alternatives
from cutile_lint.unit.options.option_names import SETTERS

if TYPE_CHECKING:
    from cutile_lint.unit.machine.statements import Statements as Machine

TYPE = "CompileOptions"
_DEFAULTS = frozenset(
    ["Default::default", "default::Default::default", "std::default::Default::default", "core::default::Default::default"]
)


def typed_default(value: Value, type_: str) -> Value:
    """``Default::default()`` where the type is said elsewhere: ``let opts: CompileOptions = Default::default()``."""
    if isinstance(value, Term) and value.op == "call" and value.name in _DEFAULTS:
        path = type_.strip()
        if is_path(path):
            return Term("call", f"{path}::default", value.args, value.keywords, value.serial, value.place, value.trail)
    return value


def setter_of(term: Term) -> str | None:
    """The setter that a term calls: ``opts.occupancy(v)`` or ``CompileOptions::occupancy(opts, v)``."""
    if len(term.args) == 2:
        if term.op == "method" and term.name in SETTERS:
            return term.name
        if term.op == "call" and f"{TYPE}::" in term.name and term.name.rsplit("::", 1)[-1] in SETTERS:
            return term.name.rsplit("::", 1)[-1]
    return None


def is_options(value: Value | None) -> bool | None:
    """The value is a ``CompileOptions`` whose making was seen; None when it cannot be told."""
    if value is None:
        return False
    answers = {_root(one) for _, one in alternatives(value)}
    return answers.pop() if len(answers) == 1 else None


def _root(value: Value) -> bool | None:
    while isinstance(value, Term) and value.args and (value.op in ("method", "payload") or setter_of(value)):
        value = value.args[0]
        inner = alternatives(value)
        if len(inner) > 1:
            answers = {_root(one) for _, one in inner}
            return answers.pop() if len(answers) == 1 else None
        value = inner[0][1]
    if isinstance(value, Term) and value.op == "call":
        return TYPE in value.name
    return False if isinstance(value, Known) else None


def made(machine: Machine, node: syntax.Struct) -> Value:
    """``CompileOptions { occupancy: Some(n), ..base }``."""
    base = next((value for name, value in node.items if name == ".."), None)
    place = machine.place(node)
    start = machine.resolve(machine.evaluate(base)) if base is not None else Term("call", f"{TYPE}::default", place=place)
    result = typed_default(start, TYPE)
    for name, value in node.items:
        if name in SETTERS:
            result = with_field(machine, result, name, machine.evaluate(value), value)
        elif name != "..":
            machine.evaluate(value)
    return result


def with_field(machine: Machine, options: Value, name: str, value: Value, node: syntax.Node) -> Value:
    """The options with one field written: ``Some(n)`` sets it, ``None`` leaves it to the compiler."""
    place = machine.place(node)
    bare = machine.distribute(options, lambda one: _without(one, name))

    def written(one: Value) -> Value:
        if isinstance(one, Term) and one.op == "external" and one.name == "None":
            return bare
        inner = one.args[0] if isinstance(one, Term) and one.op == "call" and one.name == "Some" and one.args else None
        number = inner if inner is not None else Term("payload", "Some.0", (one,), place=place)
        result = Term("method", name, (bare, number), place=place)
        machine.emit("call", node, name, value=result, arguments=Arguments([number], {}, [place]), target=bare)
        return result

    options_of = alternatives(machine.resolve(value))
    if len(options_of) == 1:
        return written(options_of[0][1])
    return machine.choice(machine.branches([(path, lambda one=one: written(one)) for path, one in options_of]), place)  # type: ignore[misc]


def _without(value: Value, name: str) -> Value:
    """Without earlier values of the field."""
    if isinstance(value, Choice):
        return Choice([(path, _without(one, name)) for path, one in value.alternatives], value.place)
    if isinstance(value, Term) and value.op == "method" and value.name in SETTERS and len(value.args) == 2:
        inner = _without(value.args[0], name)
        if value.name == name:
            return inner
        if inner is not value.args[0]:
            return Term("method", value.name, (inner, value.args[1]), {}, value.serial, value.place, value.trail)
    return value
