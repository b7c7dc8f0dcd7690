"""The Rust dialect: paths into the crate, macros as functions over their metavariables, options and results as values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source
from cutile_lint.unit.machine import rust_macros, rust_methods, rust_options
from cutile_lint.unit.machine.dialect import Dialect
from cutile_lint.unit.machine.paths import truth
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.values import (
    Arguments,
    Choice,
    Closure,
    Items,
    Known,
    Record,
    Term,
    Value,
    alternatives,
    unknown,
)
from cutile_lint.unit.options.option_names import SETTERS

if TYPE_CHECKING:
    from cutile_lint.frontends.rust.tokens import Token
    from cutile_lint.unit.linking.crate import Crate
    from cutile_lint.unit.machine.statements import Statements as Machine

#: Constructors of ``Option`` and ``Result``.
CONSTRUCTORS = frozenset(["Some", "Ok", "Err"])
#: The patterns of an ``Option`` or ``Result``, by whether there is something inside.
_VARIANTS = {
    prefix + name: holds
    for name, holds, own in (
        ("Some", True, "Option"),
        ("None", False, "Option"),
        ("Ok", True, "Result"),
        ("Err", False, "Result"),
    )
    for prefix in ("", f"{own}::", f"core::{own.lower()}::{own}::", f"std::{own.lower()}::{own}::")
}
_EMPTY = frozenset(name for name in _VARIANTS if name.endswith("None"))
#: A macro that calls itself deeper than this is not followed.
MAX_EXPANSIONS = 24
#: names written into a text (``{bm}``, ``{bm:?}``), and a text that is nothing but one value
_INLINE = regex(r"\{([A-Za-z_]\w*)(?::[^}]*)?\}")
_ALONE = regex(r"\{\w*\}")
_PANICS = frozenset(["panic!", "unreachable!", "todo!", "unimplemented!"])
#: macros that panic, by the comparison of their two arguments; "": of one that is the test. The ``debug_`` ones are not in release builds
_ASSERTS = {"assert!": "", "assert_eq!": "==", "assert_ne!": "!="}
_ASSERTS |= {f"debug_{name}": compares for name, compares in _ASSERTS.items()}
_PRINTS = frozenset(
    ["println!", "eprintln!", "print!", "eprint!", "write!", "writeln!", "dbg!", "log!", "warn!", "error!", "info!"]
)


class Macro(Value):
    """A ``macro_rules!`` with the scope it was defined in."""

    __slots__ = ("definition", "scope")

    def __init__(self, definition: syntax.MacroDef, scope: Scope) -> None:
        self.definition = definition
        self.scope = scope
        self.place = None
        self.trail = None


class Metavariable(Value):
    """What a macro's ``$x`` stands for: the argument's expression, in the scope of the call."""

    __slots__ = ("node", "scope", "value")

    def __init__(self, node: syntax.Expr, scope: Scope, value: Value) -> None:
        self.node = node
        self.scope = scope
        self.value = value
        self.place = value.place
        self.trail = None


class Borrowed(Value):
    """``&mut x`` given to a function of the crate: reads and writes go to the variable ``name`` of ``scope``."""

    __slots__ = ("name", "scope")

    def __init__(self, name: str, scope: Scope) -> None:
        self.name = name
        self.scope = scope
        self.place = None
        self.trail = None


class Repeated(Value):
    """A metavariable inside a repetition: one :class:`Metavariable` per element (one :class:`Repeated` in a nested repetition)."""

    __slots__ = ("elements",)

    def __init__(self, elements: list[Metavariable | Repeated]) -> None:
        self.elements = elements
        self.place = None
        self.trail = None


class RustDialect(Dialect):
    """Runs Rust functions of a crate; device entries and foreign functions are symbols."""

    block_scopes = True
    hoists_items = True
    exhaustive_match = True
    index_panics = True

    def __init__(self, crate: Crate) -> None:
        self.crate = crate
        #: what macro text has been read as, by place
        self.token_trees: dict[Place, list[Token]] = {}
        self.fragments: dict[Place, syntax.Expr] = {}

    # ── names ──

    def name(self, machine: Machine, node: syntax.Name) -> Value:
        text, source = node.id, machine.scope.source
        if text.startswith("$"):
            first, colons, rest = text.partition("::")
            variable = machine.scope.lookup(first)
            if not colons or not isinstance(variable, Metavariable) or not isinstance(variable.node, syntax.Name):
                return self._metavariable(machine, text)
            text = variable.node.id + colons + rest  # ``$function::<$E>``
            source = variable.scope.source
        head = strip_generics(text)
        if head == "None":
            return Term("external", "None", place=machine.place(node))
        found = self.crate.value(machine, head, source)
        if found is not None:
            return found
        return Term("external", self._defined_path(head, source), place=machine.place(node))

    def _defined_path(self, path: str, source: Source) -> str:
        """The path of something outside the crate; what a file knows by a bare name has the modules with it that tell what it is."""
        bare = path[:1].isupper() and "::" not in path and path not in CONSTRUCTORS
        return self.crate.full_path(path, source) if bare else self.crate.own_path(path, source)

    def do_import(self, machine: Machine, node: syntax.Import) -> None:
        """Nothing: what a path means is found through the crate."""

    def _metavariable(self, machine: Machine, name: str) -> Value:
        if name.startswith("$crate"):
            path = name.removeprefix("$")
            found = self.crate.value(machine, path, machine.scope.source)
            return found if found is not None else Term("external", path)
        return unknown(f"metavariable {name}")

    def read(self, machine: Machine, name: str, value: Value) -> Value:
        if isinstance(value, Metavariable):
            # an identifier that the macro has bound since (``let $dev = …``) is read from the caller
            if isinstance(value.node, syntax.Name) and (bound := value.scope.lookup(value.node.id)) is not None:
                current = self.read(machine, value.node.id, bound)
                # the value that was passed knows its way through the macro's arguments
                return value.value if current.key() == value.value.key() else current
            return value.value
        if isinstance(value, Repeated):
            return self.read(machine, name, value.elements[0]) if value.elements else unknown(f"empty repetition {name}")
        if isinstance(value, Borrowed):
            scope, own = self.owner_of(value.scope, value.name)
            return scope.names[own]
        return value

    def owner_of(self, scope: Scope, name: str) -> tuple[Scope, str]:
        while isinstance(found := scope.names.get(name), Borrowed):
            scope, name = found.scope, found.name
        return scope, name

    def metavariable_target(self, machine: Machine, name: str) -> tuple[Scope | None, str]:
        variable = machine.scope.lookup(name)
        if isinstance(variable, Repeated) and variable.elements:
            variable = variable.elements[0]
        if isinstance(variable, Metavariable) and isinstance(variable.node, syntax.Name):
            return variable.scope, variable.node.id
        return None, name

    def attribute(self, machine: Machine, base: Value, name: str, node: syntax.Node) -> Value:
        if isinstance(base, Metavariable):
            return machine.attribute(base.value, name, node)
        return Term("attr", name, (base,), place=machine.place(node))

    def dereference(self, machine: Machine, op: str, operand: Value, node: syntax.Unary) -> Value:
        if op == "?":
            return rust_methods.unwrap_or_leave(machine, operand, node, lambda: self._give_up(machine, operand, node))
        return operand

    def _give_up(self, machine: Machine, value: Value, node: syntax.Node) -> None:
        """Return from the function or closure as ``?`` does where there is nothing in ``value``."""
        function, place = machine.frame.function, machine.place(node)
        if function is not None and "Option<" in function.returns.partition("Result<")[0]:
            failure = Term("external", "None", place=place)
        else:
            failure = Term("call", "Err", (Term("payload", "Err.0", (value,), place=place),), place=place)
        machine.frame.returns.append((machine.path, failure))
        machine.stop("return")

    # ── calls ──

    def call(self, machine: Machine, callee: Value, arguments: Arguments, node: syntax.Node) -> Value:
        if isinstance(callee, Metavariable):
            return machine.call(callee.value, arguments, node)
        if isinstance(callee, Term) and callee.op == "external":
            name = callee.name
            last = name.rsplit("::", 1)[-1]
            if last in CONSTRUCTORS and len(arguments.positional) == 1:
                return Term("call", last, tuple(arguments.positional), place=machine.place(node))
            if (
                last == "from"
                and name.startswith(("String", "Vec", "i32", "u32", "i64", "usize", "u64"))
                and arguments.positional
            ):
                return arguments.positional[0]
            if last in ("to_string", "to_owned", "clone") and "::" in name and len(arguments.positional) == 1:
                return arguments.positional[0]
            if name in ("iter::once", "std::iter::once", "core::iter::once") and len(arguments.positional) == 1:
                return Items("list", list(arguments.positional), machine.place(node), born=machine.path)
            if name in ("Vec::new", "Vec::with_capacity", "std::vec::Vec::new", "VecDeque::new"):
                return Items("list", [], machine.place(node), born=machine.path)
            if last == "drop" and len(arguments.positional) == 1 and not name.endswith("ManuallyDrop::drop"):
                machine.emit("delete", node, value=arguments.positional[0])
                return Known(None)
            if last == "catch_unwind" and arguments.positional:
                machine.contexts = (*machine.contexts, callee)
                value = machine.call(arguments.positional[0], Arguments(), node)
                machine.contexts = machine.contexts[:-1]
                return Term("call", "Ok", (value,), place=machine.place(node))
            if last == "AssertUnwindSafe" and arguments.positional:
                return arguments.positional[0]
            result = Term("call", name, tuple(arguments.positional), serial=0, place=machine.place(node))
            machine.emit("call", node, name, value=result, arguments=arguments)
            return result
        return super().call(machine, callee, arguments, node)

    def enter(self, machine: Machine, closure: Closure, arguments: Arguments, node: syntax.Node) -> Value:
        entry = self.crate.entry_of(closure.function)
        if entry is not None:
            result = Term("call", f"entry:{entry.name}", tuple(arguments.positional), place=machine.place(node), serial=id(node))
            machine.emit("call", node, result.name, value=result, arguments=arguments)
            return result
        result = machine.invoke(closure, arguments, node)
        return self._typed(machine, result, closure.function.returns)

    def lend(self, machine: Machine, function: syntax.Function, scope: Scope, node: syntax.Call) -> None:
        """Parameters that get ``&mut x``, or such a reference passed on, stand for the variable, not for its value."""
        params = function.params[-len(node.args) :] if node.args else []
        for param, arg in zip(params, node.args, strict=False):
            inner = arg.value
            while isinstance(inner, syntax.Unary) and inner.op in ("&mut", "*"):
                inner = inner.operand
            found = _variable(machine.scope, inner) if param.name in scope.names else None
            if found is None:
                continue
            owner, name = found
            if isinstance(owner.names[name], Borrowed) or (isinstance(arg.value, syntax.Unary) and arg.value.operand is inner):
                scope.names[param.name] = Borrowed(name, owner)

    def assigned(self, machine: Machine, value: Value, node: syntax.Assign) -> Value:
        if isinstance(node.value, syntax.Unary) and node.value.op == "&mut" and node.declares:
            found = _variable(machine.scope, node.value.operand)
            if found is None:
                return value
            owner, name = self.owner_of(*found)
            shadowed = owner is machine.scope and name == node.name  # ``let x = &mut x``: nothing else has that name
            return value if shadowed else Borrowed(name, owner)
        return self._typed(machine, value, node.annotation)

    def _typed(self, machine: Machine, value: Value, type_: str) -> Value:
        return rust_options.typed_default(value, self.crate.own_path(type_, machine.scope.source)) if type_ else value

    def struct(self, machine: Machine, node: syntax.Struct) -> Value | None:
        own = self.crate.own_path(node.name, machine.scope.source)
        return rust_options.made(machine, node) if own.rsplit("::", 1)[-1] == rust_options.TYPE else None

    def set_field(self, machine: Machine, target: syntax.Attr, base: Value, value: Value) -> bool:
        if target.name not in SETTERS or not rust_options.is_options(base):
            return False
        machine.assign(target.base, rust_options.with_field(machine, base, target.name, value, target), target)
        return True

    def method(self, machine: Machine, base: Value, name: str, arguments: Arguments, node: syntax.Node) -> Value:
        if isinstance(base, Metavariable):
            return machine._method_call(base.value, _attr(node, name), node)  # type: ignore[arg-type]
        handled = rust_methods.call(machine, base, name, arguments, node)
        if handled is not None:
            return handled
        if (
            not rust_methods.is_builder(name)
            and (method := self.crate.method(machine, name, len(arguments.positional))) is not None
        ):
            inner = Arguments([base, *arguments.positional], {}, [machine.place(node), *arguments.places])
            return machine.invoke(method, inner, node)
        result = Term("method", name, (base, *arguments.positional), place=machine.place(node))
        machine.emit("call", node, name, value=result, arguments=arguments, target=base)
        return result

    def named(self, machine: Machine, func: syntax.Attr) -> syntax.Attr:
        if not func.name.startswith("$"):
            return func
        variable = machine.scope.lookup(func.name)
        if isinstance(variable, Repeated) and variable.elements:
            variable = variable.elements[0]
        if isinstance(variable, Metavariable) and isinstance(variable.node, syntax.Name):
            return syntax.Attr(func.span, func.base, variable.node.last, func.name_span)
        return func

    # ── macros ──

    def define_macro(self, machine: Machine, node: syntax.MacroDef) -> None:
        machine.journal.write(machine.scope.names, f"{node.name}!", Macro(node, machine.scope))

    def macro_call(self, machine: Machine, node: syntax.Call) -> Value:
        name = node.func.id if isinstance(node.func, syntax.Name) else ""
        last = name.rsplit("::", 1)[-1]
        macro = self._find_macro(machine, name, last)
        if macro is not None:
            return self.expand(machine, macro, node)
        return self._builtin_macro(machine, last, node)

    def _find_macro(self, machine: Machine, name: str, last: str) -> Macro | None:
        found = machine.scope.lookup(last)
        if isinstance(found, Macro):
            return found
        if name.startswith("$"):
            variable = machine.scope.lookup(name.removesuffix("!"))
            if isinstance(variable, Metavariable) and isinstance(variable.node, syntax.Name):
                inner = variable.scope.lookup(variable.node.last + "!")
                return inner if isinstance(inner, Macro) else self.crate.macro(machine, variable.node.last, machine.scope.source)
        return self.crate.macro(machine, last.removesuffix("!"), machine.scope.source)

    def _builtin_macro(self, machine: Machine, name: str, node: syntax.Call) -> Value:
        place = machine.place(node)
        if name in _PANICS:
            machine.emit("panic", node, name)
            machine.stop("raise")
            return Known(None)
        if name in _ASSERTS:
            compares = _ASSERTS[name]
            values = [machine.evaluate(arg.value) for arg in node.args[: 2 if compares else 1]]
            machine.emit("panic", node, name, value=values[0] if values else None)
            if len(values) == (2 if compares else 1) and not name.startswith("debug_"):
                test = machine.compare(compares, values[0], values[1], node) if compares else values[0]
                machine.go_on_if(test, lambda: machine.stop("raise"))
            return Known(None)
        if name in _PRINTS:
            return Known(None)
        if name == "stringify!":
            return Known(self._source_text(machine, node), place)
        if name in ("vec!", "const_array!", "const_shape!", "shape!"):
            if len(node.args) == 1 and isinstance(node.args[0].value, syntax.Repeat):
                return machine.evaluate(node.args[0].value)
            return self._listed(machine, node)
        values = tuple(machine.evaluate(arg.value) for arg in node.args)
        if name == "format!":
            return self._formatted(machine, node, values)
        if name == "concat!":
            return Term("format", "", values, place=place)
        result = Term("call", name, values, place=place)
        machine.emit(
            "call",
            node,
            name,
            value=result,
            arguments=Arguments(list(values), {}, [machine.place(arg.value) for arg in node.args]),
        )
        return result

    def _listed(self, machine: Machine, node: syntax.Call) -> Items:
        """The arguments one by one, a repetition's as many times as it has rounds."""
        listed = Items("list", [], machine.place(node), born=machine.path)
        for arg in node.args:
            if isinstance(arg.value, syntax.Unary) and arg.value.op == "*repeat":
                for value in self.repeated_values(machine, arg.value.operand):
                    listed.append(value, machine.path)
                listed.open = listed.open or not self._groups(machine, arg.value)
            else:
                listed.append(machine.evaluate(arg.value), listed.born)
        return listed

    def _formatted(self, machine: Machine, node: syntax.Call, values: tuple[Value, ...]) -> Value:
        """A text with the values written into it; ``format!("{bm}")`` and ``format!("{}", bm)`` are ``bm.to_string()``."""
        text = values[0].value if values and isinstance(values[0], Known) else ""
        named = _INLINE.findall(text.replace("{{", "")) if isinstance(text, str) else []
        values += tuple(
            [machine.evaluate(syntax.Name(node.span, word)) for word in named if machine.scope.lookup(word) is not None]
        )
        if len(values) == 2 and isinstance(text, str) and _ALONE.fullmatch(text):
            return values[1]
        return Term("format", "", values, place=machine.place(node))

    def _source_text(self, machine: Machine, node: syntax.Call) -> str:
        if len(node.args) == 1:
            inner: syntax.Expr = node.args[0].value
            if isinstance(inner, syntax.Name) and inner.id.startswith("$"):
                variable = machine.scope.lookup(inner.id)
                if isinstance(variable, Repeated) and variable.elements:
                    variable = variable.elements[0]
                if isinstance(variable, Metavariable):
                    return variable.scope.source.slice(variable.node.span)
            return machine.scope.source.slice(inner.span)
        return ""

    def expand(self, machine: Machine, macro: Macro, node: syntax.Call) -> Value:
        """Run the body of the arm that fits, its metavariables bound to the arguments; ``let`` of an argument's name binds in the caller."""
        chosen = rust_macros.choose(self, machine, macro, node) if len(machine.expansions) < MAX_EXPANSIONS else None
        if chosen is None:
            machine.gap(f"the call of `{macro.definition.name}!` could not be expanded", node)
            return unknown(f"macro {macro.definition.name}", machine.place(node))
        arm, bindings = chosen
        caller = machine.scope
        # a macro defined in a function sees that function's names; one of another file only its own items
        scope = Scope(macro.scope.source, macro.scope, caller.function, transparent=True)
        scope.names.update(bindings)
        statement = machine.frame.statement
        saved_source, saved_expansions = machine.frame.source, machine.expansions
        machine.expansions = (*saved_expansions, machine.place(node))
        machine.frame.source = macro.scope.source
        try:
            with machine.inside(scope=scope):
                value = machine.run(arm.body)
        finally:
            machine.frame.statement = statement
            machine.frame.source, machine.expansions = saved_source, saved_expansions
        if not arm.block and caller.source is macro.scope.source:
            for name, bound in scope.names.items():
                if not name.startswith("$") and name not in caller.names:
                    machine.journal.write(caller.names, name, bound)
        return value if value is not None else Known(None)

    def argument(self, machine: Machine, node: syntax.Expr, name: str, fragment: str) -> Metavariable:
        # a metavariable handed on to another macro is the outer argument itself
        if isinstance(node, syntax.Name) and node.id.startswith("$"):
            outer = machine.scope.lookup(node.id)
            if isinstance(outer, Metavariable):
                return outer
        if fragment in ("ident", "ty", "path", "literal", "tt", "lifetime") and isinstance(node, syntax.Name):
            value = machine.scope.lookup(node.id)
            value = machine.resolve(value) if value is not None else self.name(machine, node)
        elif fragment == "item":
            value = Known(None)
        else:
            value = machine.evaluate(node)
        return Metavariable(node, machine.scope, value.moved(machine.place(node), "passed", name))

    def repeat(self, machine: Machine, node: syntax.Repetition) -> None:
        groups = self._groups(machine, node)
        if not groups:
            machine.run(node.body)
            return
        for scope in self.rounds(machine, groups):
            with machine.inside(scope=scope):
                machine.run(node.body)
            self._bring_out(machine, scope, machine.scope)

    def _bring_out(self, machine: Machine, scope: Scope, around: Scope) -> None:
        """What the text of a macro declares is declared around it."""
        for name, bound in scope.names.items():
            if not name.startswith("$"):
                machine.journal.write(around.names, name, bound)

    def rounds(self, machine: Machine, groups: dict[str, Repeated]) -> Iterator[Scope]:
        """A scope for each round of a repetition, with the elements that its metavariables have there."""
        for position in range(max(len(value.elements) for value in groups.values())):
            scope = Scope(machine.scope.source, machine.scope, machine.scope.function, transparent=True)
            for name, value in groups.items():
                if position < len(value.elements):
                    scope.names[name] = value.elements[position]
            yield scope

    def arm_test(self, machine: Machine, arm: syntax.Arm, subject: Value) -> Value:
        """An arm in a repetition (``$( stringify!($ty) => … )+``) stands for one arm per element: its body is run once for all of them."""
        groups = self._groups(machine, arm.pattern) if arm.repeated else {}
        if not groups:
            return machine.match(arm.pattern, subject)
        tests = []
        for scope in self.rounds(machine, groups):
            with machine.inside(scope=scope):
                tests.append(machine.match(arm.pattern, subject))
        open_tests = [test for test in tests if truth(test) is not False]
        if len(open_tests) <= 1 or any(truth(test) is True for test in open_tests):
            return open_tests[0] if open_tests else Known(False)
        return Term("or", "", tuple(open_tests), place=machine.place(arm))

    def _groups(self, machine: Machine, node: syntax.Node) -> dict[str, Repeated]:
        """The repeated metavariables that a part of a macro body uses."""
        used = {part.id.removesuffix("!") for part in node.walk() if isinstance(part, syntax.Name) and part.id.startswith("$")}
        used |= {part.name for part in node.walk() if isinstance(part, syntax.Attr) and part.name.startswith("$")}
        return {name: value for name in sorted(used) if isinstance(value := machine.scope.lookup(name), Repeated)}

    def repeated_values(self, machine: Machine, node: syntax.Expr) -> list[Value]:
        """The values of an expression in a repetition, one per element."""
        groups = self._groups(machine, node)
        if not groups:
            return [machine.evaluate(node)]
        values = []
        for scope in self.rounds(machine, groups):
            with machine.inside(scope=scope):
                values.append(machine.evaluate(node))
        return values

    def links(self, machine: Machine, node: syntax.Links) -> Value:
        """A chain with repeated links: the rounds one after the other."""
        value = machine.evaluate(node.base)
        groups = self._groups(machine, node.link)
        if not groups:
            return unknown("a repetition of nothing", machine.place(node))
        for scope in self.rounds(machine, groups):
            scope.names[syntax.LAST] = value
            with machine.inside(scope=scope):
                value = machine.evaluate(node.link)
        return value

    # ── patterns ──

    def constant_pattern(self, machine: Machine, pattern: syntax.Pattern) -> Value | None:
        name = pattern.name
        if name[:1].isupper() or "::" in name:
            found = machine.scope.lookup(name)
            value = found if found is not None else self.crate.value(machine, name, machine.scope.source)
            return value if value is not None else Term("external", self._defined_path(name, machine.scope.source))
        return None

    def match_constant(self, machine: Machine, pattern: syntax.Pattern, value: Value, constant: Value) -> Value:
        """What is matched against ``true`` or ``false`` is a test itself; ``None`` is the complement of ``Some``."""
        if isinstance(constant, Known) and isinstance(constant.value, bool):
            return value if constant.value else Term("not", "", (value,), place=machine.place(pattern))
        if isinstance(constant, Term) and constant.op == "external" and constant.name in _EMPTY:
            return rust_methods.is_some(machine.resolve(value), machine.place(pattern), holds=False)
        return super().match_constant(machine, pattern, value, constant)

    def match_constructor(self, machine: Machine, pattern: syntax.Pattern, value: Value) -> Value:
        value = machine.resolve(value)
        last = pattern.name.rsplit("::", 1)[-1]
        if isinstance(value, Choice):
            return self._match_choice(machine, pattern, value, last)
        if isinstance(value, Term) and value.op == "call" and value.name in CONSTRUCTORS:
            if value.name != last:
                return Known(False)
            return machine.match(pattern.items[0], value.args[0]) if pattern.items else Known(True)
        if isinstance(value, Term) and value.op == "external" and value.name == "None" and last in CONSTRUCTORS:
            return Known(False)
        if isinstance(value, Record):
            tests = [machine.match(item, machine.attribute(value, name, pattern)) for name, item in pattern.fields]
            return machine._all(tests, pattern)
        place = machine.place(pattern)
        if pattern.name in _VARIANTS and len(pattern.items) == 1:
            nested = machine.match(pattern.items[0], rust_methods.inside(value, place, last))
            return machine._all([self._is_variant(value, pattern.name, place), nested], pattern)
        tests = [self._is_variant(value, pattern.name, place)]
        for position, item in enumerate(pattern.items):
            part = Term("payload", f"{last}.{position}", (value,), place=machine.place(item))
            tests.append(machine.match(item, part))
        for name, item in pattern.fields:
            tests.append(machine.match(item, Term("attr", name, (value,), place=machine.place(item))))
        return machine._all(tests, pattern)

    def _is_variant(self, value: Value, name: str, place: Place) -> Value:
        """The test whether a value is a variant; those of ``Option`` and ``Result`` are one test, or its opposite."""
        if name in _VARIANTS:
            return rust_methods.is_some(value, place, _VARIANTS[name])
        return Term("compare", "is-variant", (value, Known(name.rsplit("::", 1)[-1])), place=place)

    def _match_choice(self, machine: Machine, pattern: syntax.Pattern, value: Choice, last: str) -> Value:
        """The paths on which the alternatives match, as one test; what they capture joined."""
        fitting: list[tuple[tuple, Value]] = []
        inner: list[tuple[tuple, Value]] = []
        for path, one in alternatives(value):
            if isinstance(one, Term) and one.op == "call" and one.name == last:
                fitting.append((path, Known(True)))
                inner.append((path, one.args[0]))
            elif isinstance(one, Term) and (one.name in CONSTRUCTORS or one.name == "None"):
                fitting.append((path, Known(False)))
            else:
                place = machine.place(pattern)
                fitting.append((path, self._is_variant(one, pattern.name, place)))
                inner.append((path, rust_methods.inside(one, place, last)))
        if pattern.items and inner:
            nested = machine.match(pattern.items[0], machine.choice(inner))
            if truth(nested) is not True:
                return Term("and", "", (Choice(fitting, value.place), nested), place=machine.place(pattern))
        return Choice(fitting, value.place)


def _variable(scope: Scope, node: syntax.Expr) -> tuple[Scope, str] | None:
    """The variable that an expression names, behind the metavariables of macros."""
    if not isinstance(node, syntax.Name):
        return None
    owner = scope.find(node.id)
    if owner is None:
        return None
    found = owner.names[node.id]
    if isinstance(found, Metavariable):
        inner = found.node.operand if isinstance(found.node, syntax.Unary) and found.node.op == "&mut" else found.node
        return _variable(found.scope, inner)
    return owner, node.id


def strip_generics(path: str) -> str:
    """``Tensor::<E>::new`` and ``<Tensor<E>>::new`` → ``Tensor::new``."""
    path = syntax.without_brackets(path)
    while (start := path.find("::<")) != -1:
        depth, at = 0, start + 2
        while at < len(path):
            depth += (path[at] == "<") - (path[at] == ">" and path[at - 1] != "-")
            at += 1
            if depth == 0:
                break
        path = path[:start] + path[at:]
    return path


def _attr(node: syntax.Node, name: str) -> syntax.Attr:
    if isinstance(node, syntax.Call) and isinstance(node.func, syntax.Attr):
        return node.func
    return syntax.Attr(node.span, syntax.Name(node.span, ""), name, node.span)
