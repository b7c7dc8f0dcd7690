"""What is done with the result of a call, by what is written around it: nothing, handed to the caller, or something."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from cutile_lint.frontends import syntax
from cutile_lint.sources import Span
from cutile_lint.unit.linking.names import last_name

#: Calls that show a value and decide nothing.
SHOWS = frozenset(["print", "debug", "info", "warning", "error", "exception", "log"])
#: Calls that make another value of one.
CONVERTS = frozenset(["format", "repr", "str", "int", "bool", "float", "abs", "hex"])

Root = syntax.Module | syntax.Function
#: The function of the project that a name means where the result is.
Functions = Callable[[syntax.Expr], syntax.Function | None]


class Readers:
    """Reads in one function (or module) of a call's result, or of names that hold a value, from ``behind`` on.

    ``carriers`` are the names that hold it; those that are given something made of it become carriers too.
    """

    def __init__(self, root: Root, functions: Functions, call: Span | None, carriers: Collection[str], behind: int) -> None:
        self.root = root
        self.functions = functions
        self.call = call
        self.carriers = set(carriers)
        self.behind = behind
        self._kept_outside = {name for node in root.walk() if isinstance(node, syntax.Scope) for name in node.names}

    def answer(self) -> str:
        """ "dropped", "returned" (to the caller, and nothing else) or "read"."""
        idle = {id(node) for node in self._idle()}
        returned = False
        stack: list[tuple[syntax.Node, bool]] = [(node, False) for node in self.root.body]
        while stack:
            node, is_result = stack.pop()
            if id(node) in idle:
                continue
            if self._is_it(node):
                if not is_result:
                    return "read"
                returned = True
            elif isinstance(node, syntax.Function):
                if any(map(self._is_it, node.walk())):
                    return "read"
            else:
                below = node.children()
                is_result = is_result or (isinstance(node, syntax.Return) and all(map(self._is_pure, below)))
                stack += [(one, is_result) for one in below]
        return "returned" if returned else "dropped"

    def _is_it(self, node: syntax.Node) -> bool:
        if self.call is not None and node.span == self.call and isinstance(node, syntax.Call):
            return True
        return isinstance(node, syntax.Name) and node.id in self.carriers and node.span.start >= self.behind

    # ── what does nothing ──

    def _idle(self) -> Iterator[syntax.Node]:
        """Nodes in which a read does nothing. The names that take the value over are found on the way, to a fixpoint."""
        nodes = [node for node in self.root.walk() if isinstance(node, (syntax.Stmt, syntax.Walrus, syntax.Call))]
        known = -1
        while known != len(self.carriers):
            known = len(self.carriers)
            found = [part for node in nodes for part in self._idle_parts(node)]
        yield from found

    def _idle_parts(self, node: syntax.Node) -> list[syntax.Node]:
        if isinstance(node, syntax.Delete):
            return [target for target in node.targets if isinstance(target, syntax.Name)]
        if isinstance(node, (syntax.Assign, syntax.Walrus)):
            return self._given_on(node)
        if isinstance(node, syntax.ExprStmt):
            return [node.value] if self._is_pure(node.value) else []
        if isinstance(node, syntax.If):
            return [node.test] if self._is_pure(node.test) and self._is_empty([*node.body, *node.orelse]) else []
        if isinstance(node, syntax.Match):
            return [node.subject] if self._is_pure(node.subject) and all(self._is_empty(arm.body) for arm in node.arms) else []
        if isinstance(node, syntax.Call) and (last_name(node.func) in SHOWS or self._ignores(node)):
            return list(node.args)
        return []

    def _given_on(self, node: syntax.Assign | syntax.Walrus) -> list[syntax.Node]:
        """The targets of an assignment, and its value if that only goes into names, which are carriers from then on."""
        targets = node.targets if isinstance(node, syntax.Assign) else [node.target]
        names = [target for target in targets if isinstance(target, syntax.Name)]
        idle: list[syntax.Node] = [*names]
        if node.value is None or len(names) != len(targets) or self._kept_outside.intersection(name.id for name in names):
            return idle
        given_on = isinstance(node, syntax.Walrus) or self._is_pure(node.value)
        if given_on and self._carries(node.value):
            self.carriers.update(name.id for name in names)
        # the value of a walrus is read around it
        return [*idle, node.value] if given_on and isinstance(node, syntax.Assign) else idle

    def _carries(self, value: syntax.Expr) -> bool:
        return any(self._is_it(node) for node in value.walk())

    def _is_pure(self, value: syntax.Node) -> bool:
        """Working it out does nothing besides the call."""
        stack = [value]
        while stack:
            node = stack.pop()
            if isinstance(node, (syntax.Yield, syntax.Lambda)) or (isinstance(node, syntax.Unary) and node.op == "await"):
                return False
            if isinstance(node, syntax.Call):
                if node.span == self.call:
                    continue
                if last_name(node.func) not in CONVERTS:
                    return False
            stack += node.children()
        return True

    def _is_empty(self, body: list[syntax.Stmt]) -> bool:
        return all(
            isinstance(one, syntax.Pass)
            or (isinstance(one, syntax.ExprStmt) and self._is_pure(one.value))
            or (isinstance(one, syntax.If) and self._is_pure(one.test) and self._is_empty([*one.body, *one.orelse]))
            for one in body
        )

    def _ignores(self, node: syntax.Call) -> bool:
        """A call of a project's function that does nothing with the arguments that are the value."""
        given = [at for at, arg in enumerate(node.args) if self._carries(arg.value)]
        function = self.functions(node.func) if given else None
        if function is None or function is self.root or function.decorators or any(arg.spread for arg in node.args):
            return False
        names = set()
        for at in given:
            name = node.args[at].name
            if name is None and at < len(function.params) and function.params[at].kind.startswith("positional"):
                name = function.params[at].name
            if name not in {param.name for param in function.params if not param.kind.startswith("*")}:
                return False
            names.add(name)
        return Readers(function, lambda _: None, None, names, 0).answer() == "dropped"
