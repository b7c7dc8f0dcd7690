"""Evaluating expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable

from cutile_lint.frontends import syntax
from cutile_lint.sources import Place
from cutile_lint.unit.machine.calls import Calls
from cutile_lint.unit.machine.paths import contradictory, extend, literals, truth
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.state import MAX_ALTERNATIVES, MAX_STEPS, TooMuch
from cutile_lint.unit.machine.texts import is_computable, joined
from cutile_lint.unit.machine.values import (
    SETS,
    Arguments,
    Choice,
    Class,
    Condition,
    Entries,
    Hop,
    Items,
    Known,
    ModuleValue,
    Record,
    Term,
    Value,
    alternatives,
    unknown,
)

_ARITHMETIC: dict[str, Callable[[object, object], object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "**": operator.pow,
}
_COMPARISON: dict[str, Callable[[object, object], object]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.eq,
    "is not": operator.ne,
}


#: comparisons, and what they are with their sides exchanged
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "==", "!=": "!="}


class Expressions(Calls):
    """Dispatches on the expression's class."""

    def evaluate(self, node: syntax.Expr) -> Value:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooMuch
        handler = _HANDLERS.get(type(node))
        if handler is None:
            return unknown(type(node).__name__, self.place(node))
        return handler(self, node)

    # ── names and places to write ──

    def new_scope(self, outer: Scope | None, function: str = "", transparent: bool = False) -> Scope:
        assert outer is not None
        return Scope(outer.source, outer, function or outer.function, transparent)

    def bind(self, name: str, value: Value, node: syntax.Node, declares: bool = False) -> None:
        """Give a name a value, in the scope that the language says."""
        scope = self.scope
        if name.startswith("$"):
            target, name = self.dialect.metavariable_target(self, name)
            if target is not None:
                self.journal.write(target.names, name, value)
                return
        if declares and self.dialect.block_scopes:
            self.journal.write(scope.names, name, value)
            return
        if self.dialect.block_scopes:
            owner = scope.find(name) or scope
            owner, name = self.dialect.owner_of(owner, name)
            self.journal.write(owner.names, name, value)
            return
        if name in scope.globals:
            self.emit("global", node, f"{scope.module.source.path.name}:{name}", value=value)
            self.journal.write(scope.module.names, name, value)
            return
        if name in scope.nonlocals and scope.outer is not None:
            owner = scope.outer.find(name) or scope
            self.journal.write(owner.names, name, value)
            return
        self.journal.write(scope.names, name, value)

    def assign(self, target: syntax.Expr, value: Value, node: syntax.Node, declares: bool = False) -> None:
        if isinstance(target, syntax.Name):
            self.bind(target.id, value.moved(self.place(target), "bound", target.id), target, declares)
        elif isinstance(target, syntax.Sequence):
            self.unpack(target, value, node, declares)
        elif isinstance(target, syntax.Attr):
            self.set_attribute(target, value)
        elif isinstance(target, syntax.Index):
            self.set_item(target, value)
        elif isinstance(target, syntax.Unary) and target.op in ("*", "*splat"):
            self.assign(target.operand, value, node, declares)

    def unpack(self, target: syntax.Sequence, value: Value, node: syntax.Node, declares: bool) -> None:
        value = self.resolve(value)
        if not isinstance(value, Items) and not any(isinstance(part, syntax.Unary) for part in target.items):
            self.trace.unpacked.append((value, len(target.items), self.path))
        if isinstance(value, Choice):
            for position, part in enumerate(target.items):
                if isinstance(part, syntax.Unary):
                    self.assign(part.operand, unknown("starred target", self.place(part)), node, declares)
                else:
                    self.assign(
                        part, self.distribute(value, lambda one, at=position: self.item(one, Known(at), target)), node, declares
                    )
            return
        if isinstance(value, Items) and value.kind in SETS and len(value.items) > 1 and len(target.items) == 1:
            if not isinstance(target.items[0], syntax.Unary):  # `(only,) = {a, b}` raises where they differ
                one = Term("compare", "==", (Term("call", "len", (value,)), Known(1)), place=self.place(node))
                self.go_on_if(one, lambda: self.stop("raise"))
        starred = next((i for i, part in enumerate(target.items) if isinstance(part, syntax.Unary) and part.op == "*splat"), None)
        items = value.items if isinstance(value, Items) and not value.open and not any(value.conditions) else None
        for position, part in enumerate(target.items):
            if starred is not None and position == starred:
                rest = items[starred : len(items) - (len(target.items) - starred - 1)] if items is not None else None
                taken: Value = Items("list", list(rest)) if rest is not None else unknown("starred target", self.place(part))
                self.assign(part.operand, taken, node, declares)  # type: ignore[attr-defined]
                continue
            index = position if starred is None or position < starred else position - len(target.items)
            self.assign(part, self.item(value, Known(index, self.place(part)), part), node, declares)

    def set_attribute(self, target: syntax.Attr, value: Value) -> None:
        base = self.resolve(self.evaluate(target.base))
        if self.dialect.set_field(self, target, base, value):
            return
        self.emit("setattr", target, target.name, value=value, target=base)
        if isinstance(base, Record):
            self.journal.write(base.fields, target.name, base.held(value))
        elif isinstance(base, Class):
            self.journal.write(base.members, target.name, value)

    def set_item(self, target: syntax.Index, value: Value) -> None:
        base = self.resolve(self.evaluate(target.base))
        index = self.evaluate(target.index)
        self.emit("setitem", target, value=value, target=base)
        if isinstance(base, Entries):
            if isinstance(index, Known):
                self.journal.write(base.keys, index.key(), index)
                self.journal.write(base.entries, index.key(), base.held(value))
            else:
                base.open = True
        elif isinstance(base, Items):
            self.taken_out(base, index)  # type: ignore[attr-defined]
            self.add_item(base, value, self.path)  # type: ignore[attr-defined]
        elif isinstance(base, Term) and base.op == "global":
            self.journal.write(self.stored, (base.key(), index.key()), value)

    def read_name(self, node: syntax.Name) -> Value:
        value = self.scope.lookup(node.id)
        if value is None:
            return self.dialect.name(self, node)
        return self.resolve(self.dialect.read(self, node.id, value))

    # ── operators ──

    def constant(self, value: object, place: Place | None, trail: Hop | None = None) -> Known:
        """A computed constant; a long text costs steps."""
        if isinstance(value, (str, bytes)):
            self.steps += len(value) >> 8
        return Known(value, place, trail)

    def binary(self, op: str, left: Value, right: Value, node: syntax.Node, inplace: bool = False) -> Value:
        left, right = self.resolve(left), self.resolve(right)
        if isinstance(left, Known) and isinstance(right, Known) and op in _ARITHMETIC:
            try:
                if is_computable(op, left.value, right.value):
                    result = self.dialect.arithmetic(_ARITHMETIC[op], op, left.value, right.value)
                    return self.constant(result, self.place(node), left.trail or right.trail)
            except Exception:
                return unknown("arithmetic", self.place(node))
        if (
            isinstance(left, Items)
            and isinstance(right, Items)
            and (op == "+" or (op == "|" and {left.kind, right.kind} <= SETS))
        ):
            self.steps += len(left.items) + len(right.items)
            both = Items(
                left.kind, [*left.items, *right.items], self.place(node), [*left.conditions, *right.conditions], self.path
            )
            both.open = left.open or right.open
            return both
        if op == "|" and isinstance(left, Entries) and isinstance(right, Entries):
            merged = Entries(self.place(node))
            self.steps += len(left.entries) + len(right.entries)
            for source in (left, right):
                for key, item in source.items():
                    merged.put(key, item)
            merged.open = left.open or right.open
            return merged
        if isinstance(left, Choice) and isinstance(right, (Known, Term)):
            return self.distribute(left, lambda one: self.binary(op, one, right, node, inplace))
        if isinstance(right, Choice) and isinstance(left, (Known, Term)):
            return self.distribute(right, lambda one: self.binary(op, left, one, node, inplace))
        if isinstance(left, Choice) and isinstance(right, Choice) and (pairs := self._pairs(left, right)) is not None:
            return self.choice(
                [(path, self.binary(op, one, other, node, inplace)) for path, one, other in pairs], self.place(node)
            )
        result = Term("binary", op, (left, right), place=self.place(node))
        if isinstance(left, (Term, Choice)) or isinstance(right, (Term, Choice)):
            self.emit("operator", node, op + "=" if inplace else op, value=result, target=left)
        return result

    def _pairs(self, left: Choice, right: Choice) -> list[tuple[Condition, Value, Value]] | None:
        """The pairs of constants that two choices may be at once; None when there are others, or many."""
        pairs = [
            (extend(path, other_path), one, other)
            for path, one in alternatives(left)
            for other_path, other in alternatives(right)
            if isinstance(one, Known) and isinstance(other, Known) and not contradictory(self.path, path, other_path)
        ]
        constants = all(isinstance(one, Known) for side in (left, right) for _, one in alternatives(side))
        return pairs if constants and 0 < len(pairs) <= MAX_ALTERNATIVES else None

    def compare(self, op: str, left: Value, right: Value, node: syntax.Node) -> Value:
        left, right = self.resolve(left), self.resolve(right)
        if isinstance(left, Known) and isinstance(right, Known) and op in _COMPARISON:
            try:
                return Known(_COMPARISON[op](left.value, right.value), self.place(node))
            except Exception:
                return unknown("comparison", self.place(node))
        if op in _TURNED and isinstance(left, Known) and isinstance(right, (Term, Choice)):  # a constant stands on the right
            left, right, op = right, left, _TURNED[op]
        if op in ("in", "not in") and isinstance(right, Items) and not right.open and not any(right.conditions):
            keys = {item.key() for item in right.items}
            if left.key() in keys:
                return Known(op == "in", self.place(node))
            if isinstance(left, Known) and all(isinstance(item, Known) for item in right.items):
                return Known(op == "not in", self.place(node))
        if op in ("in", "not in") and isinstance(left, Known) and isinstance(right, Entries) and not right.open:
            return Known((right.get(left) is not None) is (op == "in"), self.place(node))
        if op in ("is", "is not") and isinstance(right, Known) and right.value is None:
            if not isinstance(left, (Known, Term, Choice)) or self.dialect.is_object(left):
                return Known(op == "is not", self.place(node))
        if isinstance(left, Choice):
            return self.distribute(left, lambda one: self.compare(op, one, right, node))
        if op in ("==", "is") and left.key() == right.key() and isinstance(left, Term):
            return Known(True, self.place(node))
        result = Term("compare", op, (left, right), place=self.place(node))
        if self.dialect.compares_tensors:
            self.emit("operator", node, op, value=result, target=left)
        return result

    def item(self, base: Value, index: Value, node: syntax.Node) -> Value:
        base, index = self.resolve(base), self.resolve(index)
        if isinstance(base, Items) and isinstance(index, Term) and index.op == "slice":
            if (part := self._part(base, index, node)) is not None:
                return part
        elif isinstance(base, Items) and isinstance(index, Known) and isinstance(index.value, int):
            if not base.open and not any(base.conditions) and -len(base.items) <= index.value < len(base.items):
                return self.resolve(base.items[index.value])
        elif isinstance(base, Entries):
            found = base.get(index)
            if found is not None:
                return self.resolve(found)
            if isinstance(index, Term) and not base.open and 0 < len(base.entries) <= MAX_ALTERNATIVES:
                return self._chosen_entry(base, index, node)
        elif isinstance(base, Record) and base.cls is not None and (member := base.cls.member("__getitem__")) is not None:
            return self.call(self.dialect.bind_member(self, member, base, node), Arguments([index], {}, [self.place(node)]), node)
        elif isinstance(base, Record) and isinstance(index, Known):
            if isinstance(index.value, str) and index.value in base.fields:
                return base.fields[index.value]
            if isinstance(index.value, int) and abs(index.value) < len(base.fields):
                return list(base.fields.values())[index.value]
        elif (
            isinstance(base, Known) and isinstance(base.value, str) and isinstance(index, Known) and isinstance(index.value, int)
        ):
            return Known(base.value[index.value : index.value + 1 or None], self.place(node))
        elif isinstance(base, Choice):
            return self.distribute(base, lambda one: self.item(one, index, node))
        if isinstance(index, Choice) and not isinstance(base, Term):
            return self.distribute(index, lambda one: self.item(base, one, node))
        if isinstance(base, Term) and base.op == "config" and isinstance(index, Known):
            if isinstance(index.value, int) and (places := self.dialect.config_items(self, base)) is not None:
                return self.item(places, index, node)
            return Term(
                "field", str(index.value), (base,), place=self.place(node), trail=Hop(self.place(node), "made", str(index.value))
            )
        if isinstance(base, Term) and (stored := self.stored.get((base.key(), index.key()))) is not None:
            return self.resolve(stored)
        return Term("index", "", (base, index), place=self.place(node))

    def _part(self, base: Items, index: Term, node: syntax.Node) -> Items | None:
        """``items[1:]`` when all items are there for certain."""
        if base.open or any(base.conditions) or not all(isinstance(arg, Known) for arg in index.args):
            return None
        try:
            items = base.items[slice(*(arg.value for arg in index.args))]  # type: ignore[attr-defined]
        except (TypeError, ValueError):
            return None
        return Items(base.kind, items, self.place(node), born=self.path)

    def _chosen_entry(self, base: Entries, index: Term, node: syntax.Node) -> Value:
        """The entry of a table under a key that is not known: each one under "the key is this"."""
        options: list[tuple[Condition, Value]] = []
        for name, value in base.items():
            if isinstance(name, Known) and isinstance(name.value, bool):
                condition = literals(index, name.value)
            else:
                condition = literals(Term("compare", "==", (index, name), place=self.place(node)), True)
            if not contradictory(self.path, condition):
                options.append((condition, value))
        return self.resolve(self.choice(options, self.place(node))) if options else unknown("no entry", self.place(node))

    # ── handlers ──

    def on_const(self, node: syntax.Const) -> Value:
        place = self.place(node)
        return Known(node.value, place, Hop(place, "made", ""))

    def on_attr(self, node: syntax.Attr) -> Value:
        return self.attribute(self.evaluate(node.base), node.name, node)

    def attribute(self, base: Value, name: str, node: syntax.Node) -> Value:
        base = self.resolve(base)
        if isinstance(base, Choice):
            return self.distribute(base, lambda one: self.attribute(one, name, node))
        if isinstance(base, Record):
            found = base.fields.get(name)
            if found is not None:
                return self.resolve(found)
            if base.cls is not None and (member := base.cls.member(name)) is not None:
                return self.dialect.bind_member(self, member, base, node)
            if (rest := base.fields.get("..")) is not None:  # ``Name { x: 1, ..rest }``
                return self.attribute(rest, name, node)
        elif isinstance(base, ModuleValue):
            found = base.scope.names.get(name)
            return found if found is not None else self.dialect.missing_member(self, base, name, node)
        elif isinstance(base, Class):
            found = base.member(name)
            if found is not None:
                return self.dialect.bind_class_member(self, found, base)
        elif isinstance(base, Items) and name.isdigit():
            return self.item(base, Known(int(name)), node)
        elif isinstance(base, Term):
            if base.op == "external":
                return Term("external", f"{base.name}.{name}", place=self.place(node))
            if base.op == "config":
                if (member := self.dialect.config_member(self, base, name, node)) is not None:
                    return member
                return Term("field", name, (base,), place=self.place(node), trail=Hop(self.place(node), "made", name))
        return self.dialect.attribute(self, base, name, node)

    def on_index(self, node: syntax.Index) -> Value:
        result = self.item(self.evaluate(node.base), self.evaluate(node.index), node)
        if self.dialect.index_panics and isinstance(result, Term) and result.op == "index":
            self.emit("index", node, value=result)
        return result

    def on_slice(self, node: syntax.Slice) -> Value:
        parts = [self.evaluate(part) if part is not None else Known(None) for part in (node.lower, node.upper, node.step)]
        return Term("slice", "", tuple(parts), place=self.place(node))

    def on_sequence(self, node: syntax.Sequence) -> Value:
        items = Items(node.kind, [], self.place(node), born=self.path)
        for part in node.items:
            if isinstance(part, syntax.Unary) and part.op == "*repeat":
                for value in self.dialect.repeated_values(self, part.operand):
                    items.append(value, items.born)
            elif isinstance(part, syntax.Unary) and part.op == "*splat":
                spread = self.iterate(self.resolve(self.evaluate(part.operand)))
                if spread is None:
                    items.open = True
                else:
                    self.steps += len(spread.items)
                    items.extend(spread)
            else:
                items.append(self.evaluate(part), items.born)
        return items

    def on_links(self, node: syntax.Links) -> Value:
        return self.dialect.links(self, node)

    def on_repeat(self, node: syntax.Repeat) -> Value:
        value, count = self.evaluate(node.value), self.evaluate(node.count)
        if isinstance(count, Known) and isinstance(count.value, int) and count.value <= 64:
            return Items("list", [value] * count.value, self.place(node), born=self.path)
        result = Items("list", [value], self.place(node), born=self.path)
        result.open = True
        return result

    def on_mapping(self, node: syntax.Mapping) -> Value:
        result = Entries(self.place(node))
        for name, value in node.items:
            if name is None:
                spread = self.dialect.spread_entries(self, self.resolve(self.evaluate(value)), value)
                if spread is not None:
                    self.steps += len(spread.entries)
                    for key, item in spread.items():
                        result.put(key, item)
                    result.open = result.open or spread.open
                else:
                    result.open = True
            else:
                result.put(self.evaluate(name), self.evaluate(value))
        return result

    def on_struct(self, node: syntax.Struct) -> Value:
        made = self.dialect.struct(self, node)
        if made is not None:
            return made
        fields: dict[str, Value] = {}
        for name, value in sorted(node.items, key=lambda item: item[0] != ".."):
            given = self.resolve(self.evaluate(value))
            fields.update(given.fields if name == ".." and isinstance(given, Record) else {name: given})
        return Record(node.name, fields, place=self.place(node))

    def on_unary(self, node: syntax.Unary) -> Value:
        operand = self.evaluate(node.operand)
        if node.op in ("&", "&mut", "*", "?", "await", "*splat"):
            return self.dialect.dereference(self, node.op, operand, node)
        return self.distribute(operand, lambda one: self.negate(node.op, one, node))

    def negate(self, op: str, value: Value, node: syntax.Node) -> Value:
        if op == "not":
            known = truth(value)
            if known is not None:
                return Known(not known, self.place(node))
            return Term("not", "", (value,), place=self.place(node))
        if isinstance(value, Known) and isinstance(value.value, (int, float)):
            number = value.value
            result = -number if op == "-" else ~number if op == "~" and isinstance(number, int) else number
            return Known(result, self.place(node), Hop(self.place(node), "made", ""))
        result_term = Term("unary", op, (value,), place=self.place(node))
        self.emit("operator", node, op, value=result_term, target=value)
        return result_term

    def on_binary(self, node: syntax.Binary) -> Value:
        return self.binary(node.op, self.evaluate(node.left), self.evaluate(node.right), node)

    def on_compare(self, node: syntax.Compare) -> Value:
        return self.compare(node.op, self.evaluate(node.left), self.evaluate(node.right), node)

    def on_logic(self, node: syntax.Logic) -> Value:
        """``a and b`` / ``a or b``: later items are evaluated on the path on which they are reached."""
        saved, mark = self.path, len(self.exits)
        parts: list[Value] = []
        for part in node.items:
            value = self.resolve(self.evaluate(part))
            if not self.alive:
                break
            self.steps += value.size >> 3  # its literals are taken apart
            known = truth(value)
            if known is (node.op == "or"):
                parts.append(value)
                break
            if known is None or not parts or part is node.items[-1]:
                parts.append(value)
            self.path = extend(self.path, literals(value, node.op == "and"))
        self.path = saved
        if not self.alive and parts:
            self.alive = True
            self.leave_exits(mark)
        decided = [truth(part) for part in parts]
        while len(parts) > 1 and decided[0] is (node.op == "and"):
            parts.pop(0)
            decided.pop(0)
        if len(parts) == 1:
            return parts[0]
        return Term("and" if node.op == "and" else "or", "", tuple(parts), place=self.place(node)) if parts else Known(None)

    def on_cond(self, node: syntax.Cond) -> Value:
        test = self.evaluate(node.test)
        if not self.alive:
            return Known(None)
        known = truth(self.resolve(test))
        other = node.orelse
        if known is not None:
            return self.evaluate(node.then) if known else self.evaluate(other) if other is not None else Known(None)
        yes, no = self.split(test)
        results = self.branches(
            [
                (yes, lambda: self.evaluate(node.then)),
                (no, lambda: self.evaluate(other) if other is not None else Known(None)),
            ]
        )
        return self.choice(results, self.place(node)) if results else Known(None)

    def on_block(self, node: syntax.Block) -> Value:
        with self.inside(scope=self.new_scope(self.scope, transparent=True)):
            statement = self.frame.statement if self.frames else None
            result = self.run(node.body)  # type: ignore[attr-defined]
            if self.frames:
                self.frame.statement = statement
            if node.value is not None and self.alive:
                result = self.evaluate(node.value)
        return result if result is not None else Known(None, self.place(node))

    def on_match(self, node: syntax.MatchExpr) -> Value:
        statement = self.frame.statement
        results = self.run_arms(self.evaluate(node.subject), node.arms)  # type: ignore[attr-defined]
        self.frame.statement = statement
        return self.choice(results, self.place(node)) if results else Known(None)

    def on_lambda(self, node: syntax.Lambda) -> Value:
        return self.function_value(node.function)

    def on_comprehension(self, node: syntax.Comprehension) -> Value:
        result: Items | Entries = (
            Entries(self.place(node)) if node.kind == "dict" else Items(node.kind, [], self.place(node), born=self.path)
        )
        with self.inside(scope=self.new_scope(self.scope)):
            self._clauses(node, 0, result)
        return result

    def _clauses(self, node: syntax.Comprehension, depth: int, result: Items | Entries) -> None:
        if depth == len(node.clauses):
            value = self.evaluate(node.element)
            if isinstance(result, Items):
                result.append(value, self.path)
            elif node.key is not None:
                result.put(self.evaluate(node.key), value)
            return
        clause = node.clauses[depth]
        iterable = self.resolve(self.evaluate(clause.iter))
        items = self.iterate(iterable)
        if items is None or len(items.items) > 64 or (items.open and len(items.items) == 1):
            result.open = True
            element = self.symbolic_element(iterable, clause.target)
            with self.inside(loops=(*self.loops, node)):
                self._clause_item(node, clause, depth, element, (), result)
            return
        result.open = result.open or items.open
        for item, condition in zip(list(items.items), list(items.conditions), strict=True):
            self._clause_item(node, clause, depth, item, condition, result)

    def _clause_item(
        self,
        node: syntax.Comprehension,
        clause: syntax.Clause,
        depth: int,
        item: Value,
        condition: Condition,
        result: Items | Entries,
    ) -> None:
        saved = self.path
        self.path = extend(self.path, condition)
        self.assign(clause.target, item, node)
        for test_node in clause.conditions:
            test = self.evaluate(test_node)
            if truth(test) is False:
                self.path = saved
                return
            self.path = extend(self.path, literals(test, True))
        self._clauses(node, depth + 1, result)
        self.path = saved

    def symbolic_element(self, iterable: Value, node: syntax.Node) -> Value:
        """The item that stands for all of an iterable whose items are not known one by one."""
        if isinstance(iterable, Items) and iterable.open and len(iterable.items) == 1:
            return iterable.items[0]
        return Term("element", args=(iterable,), place=self.place(node), serial=self.fresh())

    def on_format(self, node: syntax.Format) -> Value:
        parts = [self.evaluate(part) for part in node.parts]
        constants = [part.value for part in parts if isinstance(part, Known)]
        text = joined(constants) if len(constants) == len(parts) else None
        if text is not None:
            return self.constant(text, self.place(node))
        return Term("format", "", tuple(parts), place=self.place(node))

    def on_walrus(self, node: syntax.Walrus) -> Value:
        value = self.evaluate(node.value)
        self.assign(node.target, value, node)
        return value

    def on_cast(self, node: syntax.Cast) -> Value:
        return self.evaluate(node.value)

    def on_range(self, node: syntax.Range) -> Value:
        start = self.evaluate(node.start) if node.start is not None else Known(None)
        end = self.evaluate(node.end) if node.end is not None else Known(None)
        return Term("range", "..=" if node.inclusive else "..", (start, end), place=self.place(node))

    def on_yield(self, node: syntax.Yield) -> Value:
        value = self.evaluate(node.value) if node.value is not None else Known(None)
        if node.is_from:
            items = self.iterate(self.resolve(value))
            if items is not None:
                for item, condition in zip(items.items, items.conditions, strict=True):
                    self.frame.yields.append((extend(self.path, condition), item))
        else:
            self.frame.yields.append((self.path, value))
        return Known(None)

    def on_jump(self, node: syntax.Jump) -> Value:
        statement = self.frame.statement
        self.run([node.statement])  # type: ignore[attr-defined]
        self.frame.statement = statement
        return Known(None)

    def on_pattern_test(self, node: syntax.PatternTest) -> Value:
        test = self.match(node.pattern, self.evaluate(node.value))
        if node.guard is not None:
            test = Term("and", "", (test, self.evaluate(node.guard)), place=self.place(node))
        return test

    def on_opaque(self, node: syntax.Opaque) -> Value:
        parts = tuple(self.evaluate(part) for part in node.parts)
        return Term("unknown", node.kind, parts, place=self.place(node), serial=id(node))

    # ── patterns ──

    def match(self, pattern: syntax.Pattern, value: Value) -> Value:
        """Bind the pattern's captures; the test that must hold for it to match."""
        kind = pattern.kind
        if kind in ("wildcard", "rest"):
            if kind == "rest" and pattern.name:
                self.bind(pattern.name, unknown("rest", self.place(pattern)), pattern, declares=True)
            return Known(True)
        if kind == "capture":
            constant = self.dialect.constant_pattern(self, pattern)
            if constant is not None:
                return self.dialect.match_constant(self, pattern, value, constant)
            test = self.match(pattern.items[0], value) if pattern.items else Known(True)
            self.bind(pattern.name, self.resolve(value).moved(self.place(pattern), "bound", pattern.name), pattern, declares=True)
            return test
        if kind == "value" and pattern.value is not None:
            return self.dialect.match_constant(self, pattern, value, self.evaluate(pattern.value))
        if kind == "range":
            return self._match_range(pattern, value)
        if kind == "or":
            tests = [self.match(item, value) for item in pattern.items]
            if any(truth(test) is True for test in tests):
                return Known(True)
            return Term("or", "", tuple(tests), place=self.place(pattern))
        if kind == "sequence":
            tests = [self.match(item, self.item(value, Known(at), pattern)) for at, item in enumerate(pattern.items)]
            return self._all(tests, pattern)
        return self.dialect.match_constructor(self, pattern, value)

    def _all(self, tests: list[Value], node: syntax.Node) -> Value:
        open_tests = [test for test in tests if truth(test) is not True]
        if not open_tests:
            return Known(True)
        if any(truth(test) is False for test in open_tests):
            return Known(False)
        return open_tests[0] if len(open_tests) == 1 else Term("and", "", tuple(open_tests), place=self.place(node))

    def _match_range(self, pattern: syntax.Pattern, value: Value) -> Value:
        bounds = pattern.value
        if not isinstance(bounds, syntax.Range):
            return unknown("range pattern", self.place(pattern))
        tests: list[Value] = []
        if bounds.start is not None:
            tests.append(self.compare(">=", value, self.evaluate(bounds.start), pattern))
        if bounds.end is not None:
            tests.append(self.compare("<=" if bounds.inclusive else "<", value, self.evaluate(bounds.end), pattern))
        return self._all(tests, pattern)


_HANDLERS: dict[type, Callable[[Expressions, object], Value]] = {  # type: ignore[assignment]
    syntax.Name: Expressions.read_name,
    syntax.Const: Expressions.on_const,
    syntax.Attr: Expressions.on_attr,
    syntax.Call: Expressions.on_call,
    syntax.Index: Expressions.on_index,
    syntax.Slice: Expressions.on_slice,
    syntax.Sequence: Expressions.on_sequence,
    syntax.Links: Expressions.on_links,
    syntax.Repeat: Expressions.on_repeat,
    syntax.Mapping: Expressions.on_mapping,
    syntax.Struct: Expressions.on_struct,
    syntax.Unary: Expressions.on_unary,
    syntax.Binary: Expressions.on_binary,
    syntax.Range: Expressions.on_range,
    syntax.Logic: Expressions.on_logic,
    syntax.Compare: Expressions.on_compare,
    syntax.PatternTest: Expressions.on_pattern_test,
    syntax.Cond: Expressions.on_cond,
    syntax.Block: Expressions.on_block,
    syntax.MatchExpr: Expressions.on_match,
    syntax.Lambda: Expressions.on_lambda,
    syntax.Comprehension: Expressions.on_comprehension,
    syntax.Format: Expressions.on_format,
    syntax.Walrus: Expressions.on_walrus,
    syntax.Cast: Expressions.on_cast,
    syntax.Yield: Expressions.on_yield,
    syntax.Jump: Expressions.on_jump,
    syntax.Opaque: Expressions.on_opaque,
}
