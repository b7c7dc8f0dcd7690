"""Calling: evaluating arguments, entering functions of the project, binding parameters, joining returns."""

from __future__ import annotations

from cutile_lint.frontends import syntax
from cutile_lint.sources import Place
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.state import MAX_DEPTH, State
from cutile_lint.unit.machine.trace import Frame
from cutile_lint.unit.machine.values import (
    Arguments,
    Choice,
    Class,
    Closure,
    Condition,
    Entries,
    Hop,
    Items,
    Known,
    Partial,
    Record,
    Term,
    Value,
    alternatives,
    beyond,
    unknown,
)

#: One function may stand this often on the stack (recursion is then not followed further).
_MAX_RECURSION = 2


class Calls(State):
    """Functions as values, and their calls."""

    # ── making functions ──

    def function_value(self, function: syntax.Function) -> Closure:
        closure = Closure(function, self.scope, self.place(function))
        for param in function.params:
            if param.default is not None:
                closure.defaults[param.name] = self.evaluate(param.default)  # type: ignore[attr-defined]
        return closure

    def decorate(self, function: syntax.Function, value: Value) -> Value:
        """Apply decorators, innermost first: those of the project are run, others become tags."""
        for node in reversed(function.decorators):
            decorator = self.resolve(self.evaluate(node))  # type: ignore[attr-defined]
            wraps = isinstance(decorator, (Closure, Partial)) or (
                # an object stands for the function only where no other decorator has to find it
                isinstance(decorator, Class) and decorator.member("__call__") is not None and node is function.decorators[0]
            )
            if wraps and not self.dialect.is_identity_decorator(decorator):
                inner = value
                value = self.call(decorator, Arguments([inner], {}, [self.place(node)]), node)
                if isinstance(value, Closure) and isinstance(inner, Closure) and value is not inner:
                    value.wraps = inner.wraps or inner
            elif isinstance(value, Closure):
                value.tags.append(decorator)
        return value

    # ── evaluating a call ──

    def on_call(self, node: syntax.Call) -> Value:
        if node.macro:
            return self.dialect.macro_call(self, node)
        if isinstance(node.func, syntax.Attr):
            base = self.resolve(self.evaluate(node.func.base))  # type: ignore[attr-defined]
            return self._method_call(base, self.dialect.named(self, node.func), node)
        callee = self.resolve(self.evaluate(node.func))  # type: ignore[attr-defined]
        arguments = self.arguments(node)
        if not self.alive:
            return Known(None)
        return self.call(callee, arguments, node)

    def _method_call(self, base: Value, func: syntax.Attr, node: syntax.Call) -> Value:
        if isinstance(base, Choice) and len(alternatives(base)) <= 6:
            results = self.branches(
                [(path, lambda inner=inner: self._method_call(inner, func, node)) for path, inner in alternatives(base)]  # type: ignore[misc]
            )
            return self.choice(results, self.place(node)) if results else Known(None)
        if isinstance(base, (Term, Items, Entries, Known, Choice)) and not (
            isinstance(base, Term) and base.op in ("external", "config")
        ):
            arguments = self.arguments(node)
            if not self.alive:
                return Known(None)
            return self.dialect.method(self, base, func.name, arguments, node)
        if isinstance(base, Record) and func.name not in base.fields and (base.cls is None or base.cls.member(func.name) is None):
            arguments = self.arguments(node)
            return self.dialect.method(self, base, func.name, arguments, node)
        callee = self.resolve(self.attribute(base, func.name, func))  # type: ignore[attr-defined]
        arguments = self.arguments(node)
        if not self.alive:
            return Known(None)
        return self.call(callee, arguments, node)

    def arguments(self, node: syntax.Call) -> Arguments:
        result = Arguments()
        for arg in node.args:
            value = self.evaluate(arg.value)  # type: ignore[attr-defined]
            if not self.alive:
                return result
            place = self.place(arg.value)
            if arg.spread == "*":
                items = self.iterate(self.resolve(value))
                if items is None or items.open:
                    result.exact, result.rest = False, True
                    if items is None or items.kind != "tuple":
                        continue  # a tuple that is open goes on behind what is known of it
                self.steps += len(items.items)
                result.positional.extend(items.items)
                result.places.extend([place] * len(items.items))
            elif arg.spread == "**":
                self._spread_keywords(self.resolve(value), place, result, arg.value)
            elif arg.name is not None:
                result.keywords[arg.name] = value
                result.keyword_places[arg.name] = place
            else:
                result.positional.append(value)
                result.places.append(place)
        return result

    def _spread_keywords(self, value: Value, place: Place, result: Arguments, node: syntax.Node) -> None:
        entries = self.dialect.spread_entries(self, value, node)  # type: ignore[arg-type]
        if entries is None or entries.open:
            result.exact, result.rest = False, bool(result.rest)
        if entries is None:
            return
        self.steps += len(entries.entries)
        for name, item in entries.items():
            if isinstance(name, Known) and isinstance(name.value, str):
                result.keywords[name.value] = item
                result.keyword_places[name.value] = place

    def call(self, callee: Value, arguments: Arguments, node: syntax.Node) -> Value:
        """Call a value: functions of the project are entered, others are asked of the dialect."""
        callee = self.resolve(callee)
        if isinstance(callee, Choice):
            results = self.branches(
                [(path, lambda inner=inner: self.call(inner, arguments, node)) for path, inner in alternatives(callee)]  # type: ignore[misc]
            )
            return self.choice(results, self.place(node)) if results else Known(None)
        if isinstance(callee, Partial):
            merged = Arguments(
                [*callee.args, *arguments.positional],
                {**callee.keywords, **arguments.keywords},
                [*(self.place(node) for _ in callee.args), *arguments.places],
                dict(arguments.keyword_places),
                arguments.exact,
            )
            return self.call(callee.func, merged, node)
        if isinstance(callee, Closure):
            return self.dialect.enter(self, callee, arguments, node)
        if isinstance(callee, Class):
            return self.dialect.construct(self, callee, arguments, node)
        if isinstance(callee, Record) and callee.cls is not None:
            # a module of ``torch.nn`` calls its ``forward``
            member = callee.cls.member("__call__") or callee.cls.member("forward")
            if member is not None:
                return self.call(Partial(member, [callee], {}), arguments, node)
        return self.dialect.call(self, callee, arguments, node)

    # ── entering a function ──

    def invoke(self, closure: Closure, arguments: Arguments, node: syntax.Node | None) -> Value:
        """Run a function's body with its parameters bound; its return value."""
        function = closure.function
        call = self.place(node) if node is not None and self.frames else None
        active = sum(frame.closure is closure for frame in self.frames)  # a decorator's function wraps others in turn
        if active >= _MAX_RECURSION or len(self.frames) >= MAX_DEPTH:
            self.gap(f"recursion through `{function.name}`", node)
            return unknown("recursion", call)
        if function.is_generator and not closure.tags and self.frames and self._is_dropped(node):
            return Items("generator", [], call)
        scope = Scope(closure.scope.source, closure.scope, function.name)
        self.bind_parameters(closure, arguments, scope, call)
        if isinstance(node, syntax.Call):
            self.dialect.lend(self, function, scope, node)
        frame = Frame(closure, function, closure.scope.source, call, arguments=arguments, scope=scope)
        base, mark = self.path, len(self.exits)
        self.frames.append(frame)
        try:
            with self.inside(scope=scope):
                tail = self.run(function.body)  # type: ignore[attr-defined]
        finally:
            self.frames.pop()
        if self.alive:
            frame.returns.append((self.path, tail if tail is not None and self.dialect.block_scopes else Known(None)))
        self.path = base
        self.alive = bool(frame.returns)
        self.leave_exits(mark, drop=("return", "break", "continue"))
        if function.is_generator:
            return self._generator(frame, call)
        return self._returned(frame.returns, base, call)

    def _is_dropped(self, node: syntax.Node | None) -> bool:
        """The call is a statement of its own: a generator that it makes is never asked for anything."""
        statement = self.frame.statement
        return isinstance(statement, syntax.ExprStmt) and statement.value is node

    def _returned(self, returns: list[tuple[Condition, Value]], base: Condition, call: Place | None) -> Value:
        if not returns:
            return Known(None)
        options = [(beyond(path, base), self.resolve(value)) for path, value in returns]
        return self.choice(options, call)

    def _generator(self, frame: Frame, call: Place | None) -> Items:
        items = Items("generator", [], call, born=self.path)
        for path, value in frame.yields:
            items.append(value, path)
        self.alive = True
        return items

    def bind_parameters(self, closure: Closure, arguments: Arguments, scope: Scope, call: Place | None) -> None:
        """Give each parameter of the function its value in ``scope``."""
        function = closure.function
        positional = list(zip(arguments.positional, arguments.places or [None] * len(arguments.positional), strict=False))  # type: ignore[arg-type]
        keywords = dict(arguments.keywords)
        for param in function.params:
            place = Place(closure.scope.source, param.span)
            if param.kind == "*":
                rest = Items("tuple", [value for value, _ in positional])
                rest.open = arguments.may_go_on
                positional = []
                if param.name:
                    scope.names[param.name] = rest
                continue
            if param.kind == "**":
                extra = Entries()
                extra.open = not arguments.exact
                for name, value in keywords.items():
                    extra.put(Known(name), value)
                scope.names[param.name] = extra
                continue
            value: Value | None = None
            if param.kind != "keyword" and positional:
                given, at = positional.pop(0)
                value = given.moved(at or place, "passed", param.name)
            elif param.kind != "positional_only" and param.name in keywords:
                at = arguments.keyword_places.get(param.name)
                value = keywords.pop(param.name).moved(at or place, "passed", param.name)
            elif param.name in closure.defaults:
                value = closure.defaults[param.name].moved(place, "default", param.name)
            elif arguments.exact:
                value = unknown(f"argument `{param.name}` missing", call)
            else:
                value = Term("unknown", f"argument `{param.name}`", serial=self.fresh(), place=call)
            if param.pattern is not None:
                with self.inside(scope=scope):
                    self.match(param.pattern, value)  # type: ignore[attr-defined]
            else:
                scope.names[param.name] = value

    def run_root(self, closure: Closure, inputs: dict[str, Value] | None = None) -> None:
        """Run a callable with a symbol for each parameter; the trace has what it did."""
        arguments = Arguments()
        signature = closure.wraps or closure
        receiver = list(signature.receiver)
        for param in signature.function.params:
            place = Place(signature.scope.source, param.span)
            given = receiver.pop(0) if receiver else (inputs or {}).get(param.name)
            if param.kind in ("*", "**"):
                arguments.exact, arguments.rest = False, bool(arguments.rest) or param.kind == "*"
                continue
            value = given or Term("input", param.name, place=place, trail=Hop(place, "made", param.name))
            if param.kind == "keyword":
                arguments.keywords[param.name] = value
                arguments.keyword_places[param.name] = place
            else:
                arguments.positional.append(value)
                arguments.places.append(place)
        result = self.invoke(closure, arguments, None)
        for path, value in alternatives(result):
            self.trace.returned.append((path, value))

    # ── iteration ──

    def iterate(self, value: Value) -> Items | None:
        """The items of an iterable when they are known."""
        if isinstance(value, Items):
            kept = [
                (item, condition)
                for item, condition in zip(value.items, value.conditions, strict=True)
                if not condition or not self._ruled_out(condition)
            ]
            if len(kept) == len(value.items):
                return value
            result = Items(value.kind, [item for item, _ in kept], value.place, [condition for _, condition in kept])
            result.open = value.open
            return result
        if isinstance(value, Entries):
            result = Items("list", list(value.keys.values()), value.place)
            result.open = value.open
            return result
        if isinstance(value, Record) and value.cls is not None and value.fields and self.dialect.is_tuple_record(value):
            return Items("tuple", list(value.fields.values()), value.place)
        if isinstance(value, Known) and isinstance(value.value, str):
            return Items("tuple", [Known(character) for character in value.value])
        if isinstance(value, Term) and value.op == "range" and all(isinstance(arg, Known) for arg in value.args):
            start, end = (arg.value for arg in value.args)  # type: ignore[attr-defined]
            if isinstance(start, int) and isinstance(end, int) and 0 <= end - start <= 64:
                return Items("list", [Known(number, value.place) for number in range(start, end + (value.name == "..="))])
        if isinstance(value, Choice):
            return self._iterate_choice(value)
        if isinstance(value, Term) and value.op == "config":
            return self.dialect.config_items(self, value)  # type: ignore[arg-type]
        return None

    def _iterate_choice(self, value: Choice) -> Items | None:
        result = Items("list", [], value.place)
        for path, inner in alternatives(value):
            items = self.iterate(inner)
            if items is None:
                return None
            under = Items("list", items.items, conditions=[path + condition for condition in items.conditions])
            under.open = under.open or items.open
            result.extend(under)
        return result

    def _ruled_out(self, condition: Condition) -> bool:
        from cutile_lint.unit.machine.paths import contradictory

        return contradictory(self.path, condition)
