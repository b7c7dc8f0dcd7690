"""Running statements."""

from __future__ import annotations

from collections.abc import Callable

from cutile_lint.frontends import syntax
from cutile_lint.unit.machine.expressions import Expressions
from cutile_lint.unit.machine.paths import extend, negation, truth
from cutile_lint.unit.machine.values import (
    CHANGES,
    Arguments,
    Choice,
    Class,
    Closure,
    Condition,
    Entries,
    Items,
    Known,
    Literal,
    Record,
    Term,
    Value,
    alternatives,
    subterms,
)

#: Loops over more known items than this are run once, with a symbol for the item.
MAX_UNROLL = 24
#: So many parts of an item that is put into a list are a step.
PARTS = 16


class Statements(Expressions):
    """Dispatches on the statement's class; unknown statements are ignored."""

    def run(self, body: list[syntax.Stmt]) -> Value | None:
        """Run statements in order while the path goes on; the value of the last ``Result``."""
        self.declare_items(body)
        result: Value | None = None
        CHANGES.running += 1
        try:
            for statement in body:
                if not self.alive:
                    break
                self.frame.statement = statement
                handler = _HANDLERS.get(type(statement))
                if handler is not None:
                    outcome = handler(self, statement)
                    if outcome is not None:
                        result = outcome
                    self.frame.statement = statement
        finally:
            CHANGES.running -= 1
            CHANGES.ended += 1
        return result

    def declare_items(self, body: list[syntax.Stmt]) -> None:
        """Rust items (functions, macros) are visible in their whole block."""
        if not self.dialect.hoists_items:
            return
        for statement in body:
            if isinstance(statement, (syntax.FunctionDef, syntax.MacroDef)):
                self.define(statement)

    def define(self, statement: syntax.FunctionDef | syntax.MacroDef) -> None:
        if isinstance(statement, syntax.FunctionDef):
            self.bind(statement.function.name, self.function_value(statement.function), statement, declares=True)
        else:
            self.dialect.define_macro(self, statement)

    # ── simple statements ──

    def do_assign(self, node: syntax.Assign) -> None:
        if node.value is None:
            return
        if node.op:
            self.augment(node)
            return
        value = self.evaluate(node.value)
        if not self.alive:
            return
        value = self.dialect.assigned(self, value, node)
        if node.pattern is not None:
            test = self.match(node.pattern, value)
            if node.orelse:
                yes, no = self.split(test)
                self.branches([(yes, lambda: None), (no, lambda: self.run(node.orelse))])
            return
        for target in node.targets:
            self.assign(target, value, node, declares=node.declares)

    def augment(self, node: syntax.Assign) -> None:
        target = node.targets[0]
        before = self.evaluate(target)
        value = self.evaluate(node.value)  # type: ignore[arg-type]
        if isinstance(before, Items) and before.kind == "list" and node.op == "+":
            self.extend_items(before, value)
            return
        result = self.binary(node.op, before, value, node, inplace=True)
        self.assign(target, result, node)

    def do_expression(self, node: syntax.ExprStmt) -> None:
        self.evaluate(node.value)

    def do_result(self, node: syntax.Result) -> Value:
        return self.evaluate(node.value)

    def do_return(self, node: syntax.Return) -> None:
        value = self.evaluate(node.value) if node.value is not None else Known(None, self.place(node))
        if self.alive:
            self.frame.returns.append((self.path, value))
            self.stop("return")

    def do_raise(self, node: syntax.Raise) -> None:
        value = self.evaluate(node.value) if node.value is not None else None
        if self.alive:
            self.emit("raise", node, value=value)
            self.stop("raise")

    def do_assert(self, node: syntax.Assert) -> None:
        self.require(self.evaluate(node.test), node)

    def do_break(self, node: syntax.Break) -> None:
        if node.value is not None:
            self.evaluate(node.value)
        self.stop("break")

    def do_continue(self, node: syntax.Continue) -> None:
        self.stop("continue")

    def do_delete(self, node: syntax.Delete) -> None:
        for target in node.targets:
            if isinstance(target, syntax.Name):
                scope = self.scope.find(target.id)
                if scope is not None:
                    self.emit("delete", target, target.id, value=scope.names[target.id])
                    self.journal.remove(scope.names, target.id)
            elif isinstance(target, syntax.Index):
                self._delete_item(self.resolve(self.evaluate(target.base)), self.evaluate(target.index))
            else:
                self.evaluate(target)

    def _delete_item(self, base: Value, index: Value) -> None:
        """``del items[0]``, ``del items[:]``, ``del entries["x"]``."""
        if isinstance(base, Items):
            whole = (
                isinstance(index, Term)
                and index.op == "slice"
                and all(isinstance(arg, Known) and arg.value is None for arg in index.args)
            )
            for item in base.left(self.path) if whole and not self.loops else ():
                base.take(item, self.path)
            self.taken_out(base, index)
        elif isinstance(base, Entries):
            self.drop_entry(base, index.key())

    def drop_entry(self, base: Entries, key: object) -> None:
        self.journal.remove(base.entries, key)
        self.journal.remove(base.keys, key)

    def taken_out(self, base: Items, index: Value) -> Value | None:
        """The item that is taken out of a list; None when it is not known which one that is."""
        at = index.value if isinstance(index, Known) and isinstance(index.value, int) else None
        surely = not (base.open or any(base.conditions) or self.loops)
        item = base.items[at] if surely and at is not None and -len(base.items) <= at < len(base.items) else None
        if item is not None:
            base.take(item, self.path)
        base.open = True
        return item

    def do_scope(self, node: syntax.Scope) -> None:
        (self.scope.globals if node.kind == "global" else self.scope.nonlocals).update(node.names)

    def do_import(self, node: syntax.Import) -> None:
        self.dialect.do_import(self, node)

    def do_function(self, node: syntax.FunctionDef) -> None:
        if self.dialect.hoists_items:
            return
        value = self.decorate(node.function, self.function_value(node.function))
        self.bind(node.function.name, value, node, declares=True)

    def do_macro(self, node: syntax.MacroDef) -> None:
        self.dialect.define_macro(self, node)

    def do_class(self, node: syntax.ClassDef) -> None:
        self.bind(node.name, self.class_value(node), node, declares=True)

    def class_value(self, node: syntax.ClassDef) -> Class:
        value = Class(node, self.scope, self.place(node))
        value.bases = [self.evaluate(base) for base in node.bases]
        value.decorators = [self.evaluate(decorator) for decorator in node.decorators]
        value.tags = [decorator.name if isinstance(decorator, Term) else "" for decorator in value.decorators]
        scope = self.new_scope(self.scope, node.name)
        with self.inside(scope=scope):
            self.run(node.body)
            for statement in node.body:
                if isinstance(statement, syntax.Assign) and statement.declares and statement.name:
                    value.order.append(statement.name)
        for member in scope.names.values():
            if isinstance(member, Closure) and member.scope is scope:
                member.owner = value
                member.scope = self.scope
        value.members = scope.names
        return value

    def do_repetition(self, node: syntax.Repetition) -> None:
        self.dialect.repeat(self, node)

    # ── compound statements ──

    def do_if(self, node: syntax.If) -> Value | None:
        test = self.evaluate(node.test)
        if not self.alive:
            return None
        known = truth(self.resolve(test))
        if known is not None:
            return self.run_block(node.body if known else node.orelse)
        yes, no = (tuple(Literal(literal.test, literal.holds, node) for literal in side) for side in self.split(test))
        results = self.branches([(yes, lambda: self.run_block(node.body)), (no, lambda: self.run_block(node.orelse))])
        return self.choice(results, self.place(node)) if results else None

    def run_block(self, body: list[syntax.Stmt]) -> Value | None:
        """Run a nested body; in Rust it has a scope of its own."""
        if not self.dialect.block_scopes:
            return self.run(body)
        with self.inside(scope=self.new_scope(self.scope, transparent=True)):
            return self.run(body)

    def do_for(self, node: syntax.For) -> None:
        iterable = self.resolve(self.evaluate(node.iter))
        self.trace.loops[id(node)] = iterable
        items = self.iterate(iterable)
        mark, before = len(self.exits), self.path
        if items is not None and len(items.items) <= MAX_UNROLL and not items.open:
            for item, condition in zip(list(items.items), list(items.conditions), strict=True):
                if not self.alive:
                    break
                self._round(node, item, condition)
            self.leave_exits(mark, drop=("continue",))
            if any(kind == "break" for kind, _ in self.exits[mark:]):
                self.alive = True
                self.path = before  # those that broke off go on behind the loop too
                self.leave_exits(mark, drop=("break",))
            elif self.alive:
                self.run(node.orelse)
            return
        element = self.symbolic_element(iterable, node.target)
        entered = Term("unknown", "iterates", (iterable,), serial=self.fresh())
        yes, no = self.split(entered)
        with self.inside(loops=(*self.loops, node)):
            self.branches([(yes, lambda: self._symbolic_round(node, element)), (no, lambda: None)])
        self.path = before
        self.leave_exits(mark, drop=("continue", "break"))
        self.alive = True
        self.run(node.orelse)

    def _round(self, node: syntax.For, item: Value, condition: Condition) -> None:
        mark = len(self.exits)

        def body() -> None:
            self.assign(node.target, item, node, declares=self.dialect.block_scopes)
            self.run(node.body)

        def scoped() -> None:
            with self.inside(scope=self.loop_scope()):
                body()

        if condition:
            self.branches([(condition, scoped), (negation(condition), lambda: None)])
        else:
            base = self.path
            scoped()
            continued = any(kind == "continue" for kind, _ in self.exits[mark:])
            if continued:
                self.alive = True
                self.path = base
                self.leave_exits(mark, drop=("continue",))

    def loop_scope(self):
        return self.new_scope(self.scope, transparent=True) if self.dialect.block_scopes else self.scope

    def _symbolic_round(self, node: syntax.For | syntax.While, element: Value | None) -> None:
        with self.inside(scope=self.loop_scope()):
            if isinstance(node, syntax.For) and element is not None:
                self.assign(node.target, element, node, declares=self.dialect.block_scopes)
            self.run(node.body)
        self.alive = True

    def do_while(self, node: syntax.While) -> None:
        mark = len(self.exits)
        test = self.evaluate(node.test)
        self.trace.loops[id(node)] = test
        if not self.alive or truth(test) is False:
            self.run(node.orelse)
            return
        yes, no = self.split(test)
        endless, before = truth(test) is True, self.path
        with self.inside(loops=(*self.loops, node)):
            if endless:
                with self.inside(scope=self.loop_scope()):
                    self.run(node.body)
                self.alive = self.alive or any(kind in ("break", "continue") for kind, _ in self.exits[mark:])
            else:
                self.branches([(yes, lambda: self._symbolic_round(node, None)), (no, lambda: None)])
                self.alive = True
        self.path = before
        self.leave_exits(mark, drop=("continue", "break"))
        if not endless:
            self.run(node.orelse)

    def do_with(self, node: syntax.With) -> None:
        entered: list[Value] = []
        for item in node.items:
            value = self.evaluate(item.value)
            entered.append(value)
            inside = self.enter(value, item)
            if item.target is not None:
                self.assign(item.target, inside, node)
        mark = len(self.exits)
        with self.inside(contexts=(*self.contexts, *entered)):
            if (swallowing := self._swallowing(node, entered)) is not None:
                self.do_try(swallowing)
            else:
                self.run(node.body)
        alive = self.alive
        if alive or any(kind != "raise" for kind, _ in self.exits[mark:]):  # ``return`` leaves it too
            self.alive = True
            for value in reversed(entered):
                self.leave(value, node)
            self.alive = self.alive and alive

    def leave(self, value: Value, node: syntax.Node) -> None:
        """Run ``__exit__`` of a project class, where nothing was raised."""
        if isinstance(value, Choice):
            self.branches([(path, lambda one=one: self.leave(one, node)) for path, one in alternatives(value)])  # type: ignore[misc]
        elif isinstance(value, Record) and value.cls is not None and (leave := value.cls.member("__exit__")) is not None:
            nothing = Arguments([Known(None)] * 3, {}, [self.place(node)] * 3)
            self.call(self.dialect.bind_member(self, leave, value, node), nothing, node)

    def _swallowing(self, node: syntax.With, entered: list[Value]) -> syntax.Try | None:
        """``with suppress(E):`` as ``try: … except E: pass``; the same node each time, since tests are told apart by it."""
        if id(node) in self.suppressing:
            return self.suppressing[id(node)]
        types = [
            argument.value
            for item, value in zip(node.items, entered, strict=True)
            if isinstance(value, Term) and value.name == "contextlib.suppress" and isinstance(item.value, syntax.Call)
            for argument in item.value.args
        ]
        if not types:
            return None
        handlers = [syntax.Handler(kind.span, kind, None, []) for kind in types]
        self.suppressing[id(node)] = syntax.Try(node.span, node.body, handlers, [], [])
        return self.suppressing[id(node)]

    def enter(self, value: Value, node: syntax.Node) -> Value:
        """What ``as`` names: the result of ``__enter__`` of a project class, what a ``contextmanager`` yields, else a symbol."""
        if isinstance(value, Record) and value.cls is not None and (enter := value.cls.member("__enter__")) is not None:
            return self.call(self.dialect.bind_member(self, enter, value, node), Arguments(), node)
        if isinstance(value, Choice):
            results = self.branches([(path, lambda one=one: self.enter(one, node)) for path, one in alternatives(value)])  # type: ignore[misc]
            return self.choice(results, self.place(node)) if results else value
        if isinstance(value, Items) and value.kind == "generator" and len(value.items) == 1:
            return value.items[0]
        if isinstance(value, Term):
            return Term("entered", args=(value,), place=self.place(node), serial=self.fresh())
        return value

    def do_try(self, node: syntax.Try) -> None:
        mark = len(self.exits)

        def body() -> None:
            with self.inside(tries=(*self.tries, node)):
                self.run(node.body)
            if self.alive:
                self.run(node.orelse)

        options: list[tuple[Condition, Callable[[], None]]] = []
        tests: list[Value] = []
        for handler in node.handlers:
            kind = self.evaluate(handler.type) if handler.type is not None else Known(None)
            tests.append(Term("raised", args=(kind,), serial=id(handler), place=self.place(handler)))
        none = tuple(literal for test in tests for literal in self.split(test)[1])
        options.append((none, body))
        for handler, test in zip(node.handlers, tests, strict=True):
            options.append((self.split(test)[0], lambda handler=handler, test=test: self._handle(handler, test)))  # type: ignore[misc]
        self.branches(options)
        if node.handlers:
            # a raise in the body goes to a handler: it does not end the run
            none_keys = {literal.key() for literal in none}
            self.exits[mark:] = [
                (kind, path)
                for kind, path in self.exits[mark:]
                if kind != "raise" or not none_keys <= {literal.key() for literal in path}
            ]
        alive = self.alive
        self.alive = True
        self.run(node.final)
        self.alive = self.alive and alive

    def _handle(self, handler: syntax.Handler, test: Term) -> None:
        if handler.name:
            self.bind(handler.name, test, handler)
        self.run(handler.body)

    def do_match(self, node: syntax.Match) -> Value | None:
        results = self.run_arms(self.evaluate(node.subject), node.arms)
        return self.choice(results, self.place(node)) if results else None

    def run_arms(self, subject: Value, arms: list[syntax.Arm]) -> list[tuple[Condition, Value]]:
        """Run each arm under "no earlier arm, and this pattern"; returns the values of the arms that go on."""
        options: list[tuple[Condition, Callable[[], Value | None]]] = []
        earlier: Condition = ()
        for arm in arms:
            with self.inside(scope=self.new_scope(self.scope, transparent=True) if self.dialect.block_scopes else self.scope):
                mark = self.journal.mark()
                saved = self.path
                self.path = extend(self.path, earlier)
                test = self.dialect.arm_test(self, arm, subject)
                if arm.guard is not None:
                    guard = self.evaluate(arm.guard)
                    test = guard if truth(test) is True else Term("and", "", (test, guard), place=self.place(arm))
                self.path = saved
                bound = self.journal.undo(mark)
                scope = self.scope
            known = truth(test)
            if known is False:
                continue
            yes, no = self.split(test)

            def run(arm: syntax.Arm = arm, bound: dict = bound, scope: object = scope) -> Value | None:
                with self.inside(scope=scope):
                    for target, name, value in bound.values():
                        self.journal.write(target, name, value)
                    return self.run(arm.body)

            options.append((extend(earlier, yes), run))
            if known is True:
                break
            earlier = extend(earlier, no)
        else:
            if not self.dialect.exhaustive_match:
                options.append((earlier, lambda: None))
        return self.branches(options)

    # ── containers ──

    def extend_items(self, target: Items, value: Value) -> None:
        items = self.iterate(self.resolve(value))
        if items is None:
            target.open = True
            return
        self.steps += len(items.items)
        for item, condition in zip(list(items.items), list(items.conditions), strict=True):
            self.add_item(target, item, extend(self.path, condition))
        target.open = target.open or items.open

    def add_item(self, target: Items, value: Value, path: Condition) -> None:
        """Put an item into a list that is there. No value has itself as a part: what is made of the list is an unknown item of it."""
        parts = subterms(value)
        self.steps += len(parts) // PARTS
        if any(part is target for part in parts):
            value = Term("unknown", "made of itself", serial=self.fresh(), place=value.place)
        target.append(value, path)


_HANDLERS: dict[type, Callable[[Statements, object], Value | None]] = {  # type: ignore[assignment]
    syntax.Assign: Statements.do_assign,
    syntax.ExprStmt: Statements.do_expression,
    syntax.Result: Statements.do_result,
    syntax.Return: Statements.do_return,
    syntax.Raise: Statements.do_raise,
    syntax.Assert: Statements.do_assert,
    syntax.Break: Statements.do_break,
    syntax.Continue: Statements.do_continue,
    syntax.Delete: Statements.do_delete,
    syntax.Scope: Statements.do_scope,
    syntax.Import: Statements.do_import,
    syntax.FunctionDef: Statements.do_function,
    syntax.MacroDef: Statements.do_macro,
    syntax.ClassDef: Statements.do_class,
    syntax.Repetition: Statements.do_repetition,
    syntax.If: Statements.do_if,
    syntax.For: Statements.do_for,
    syntax.While: Statements.do_while,
    syntax.With: Statements.do_with,
    syntax.Try: Statements.do_try,
    syntax.Match: Statements.do_match,
}
