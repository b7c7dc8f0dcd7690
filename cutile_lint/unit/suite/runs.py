"""Running the tests of a file symbolically, once for each backend that they are parametrized with."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place, Source
from cutile_lint.sources.watch import for_all
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.machine import Machine
from cutile_lint.unit.machine.python import PythonDialect
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.state import MAX_STEPS
from cutile_lint.unit.machine.trace import Event, Trace
from cutile_lint.unit.machine.values import (
    Arguments,
    Class,
    Closure,
    Items,
    Known,
    Record,
    Term,
    Value,
    alternatives,
    subterms,
    unknown,
)

BACKEND = "cutile-rs"
#: evaluations in one run of a test
STEPS = 6_000
#: calls that end a test
ENDS = frozenset(["pytest.skip", "pytest.xfail", "pytest.fail", "pytest.exit", "pytest.importorskip"])
SKIPS = frozenset(["pytest.skip", "skipTest"])
#: calls that choose the backend
SELECTS = frozenset(["set_backend", "use_backend"])
#: what unittest and pytest run before a test, a class or a module
SET_UPS = (
    "setUp", "asyncSetUp", "setUpClass", "setUpModule", "setup", "setup_method", "setup_class", "setup_function", "setup_module",
)  # fmt: skip
#: methods of a backend's name that are worked out
_OF_TEXTS = frozenset(["startswith", "endswith", "lower", "upper", "strip", "removeprefix", "removesuffix", "casefold"])
_KNOWN_BACKENDS = ("cutile", "triton", "tilecpp", "pytorch")
_PARAMETER_NAMES = ("backend", "framework", "impl", "provider", "engine", "implementation")


class SuiteProgram(Program):
    """Small modules of the test folder only: what the tests test, and the suite's own machinery, is a symbol to them.

    ``parent`` has parsed files to share.
    """

    #: bytes; a module of shared constants and small helpers is below, a suite's base class is above
    SMALL = 8000

    def __init__(self, parent: Program, root: Path) -> None:
        super().__init__(parent.workspace, parsed=parent._parsed)
        self.root = root

    def _find(self, importer: Path, module: str, level: int) -> Path | None:
        found = super()._find(importer, module, level)
        if found is None or (self.root not in found.parents and found.parent != importer.parent):
            return None
        source = self.workspace.source(found)
        return found if source is not None and len(source.data) <= self.SMALL and b"register_impl(" not in source.data else None


class SuiteDialect(PythonDialect):
    """Skips end a test."""

    def call(self, machine, callee: Value, arguments: Arguments, node: syntax.Node) -> Value:
        if isinstance(callee, Term) and callee.op == "external" and callee.name in ENDS - {"pytest.importorskip"}:
            return _end(machine, callee.name, arguments, node)
        return super().call(machine, callee, arguments, node)

    def method(
        self, machine, base: Value, name: str, arguments: Arguments, node: syntax.Node, taken: Place | None = None
    ) -> Value:
        if name == "skipTest":
            return _end(machine, name, arguments, node)
        if name in _OF_TEXTS and isinstance(base, Known) and isinstance(base.value, str) and not arguments.keywords:
            given = [value.value for value in arguments.positional if isinstance(value, Known) and isinstance(value.value, str)]
            if len(given) == len(arguments.positional):
                return Known(getattr(base.value, name)(*given), machine.place(node))
        return super().method(machine, base, name, arguments, node, taken)


def _end(machine, name: str, arguments: Arguments, node: syntax.Node) -> Value:
    machine.emit("call", node, name, arguments=arguments)
    machine.stop("raise")
    return unknown(name, machine.place(node))


class SuiteMachine(Machine):
    """Works out ``"rs" in backend``."""

    def compare(self, op: str, left: Value, right: Value, node: syntax.Node) -> Value:
        if op in ("in", "not in") and isinstance(left, Known) and isinstance(right, Known):
            if isinstance(left.value, str) and isinstance(right.value, str):
                return Known((left.value in right.value) == (op == "in"), self.place(node))
        return super().compare(op, left, right, node)


@dataclass(slots=True)
class Given:
    """What a parametrization (or fixture) gives for one backend: values by parameter, and the marks of that parameter set."""

    backend: str
    values: dict[str, Value]
    marks: list[Value] = field(default_factory=list)


@dataclass(eq=False)
class SuiteTest:
    """A test function. ``given``: by backend; ``open``: a parameter may be a backend and its values are not known."""

    suite: Suite
    closure: Closure
    owner: Class | None
    tags: list[Value]
    given: list[Given] = field(default_factory=list)
    open: bool = False
    _runs: dict[str, Trace] = field(default_factory=dict)

    @property
    def function(self) -> syntax.Function:
        return self.closure.function

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def source(self) -> Source:
        return self.closure.scope.source

    @property
    def text(self) -> bytes:
        return self.source.data[self.function.span.start : self.function.span.end]

    def of(self, backend: str) -> Given | None:
        return next((one for one in self.given if one.backend == backend), None)

    def run(self, given: Given | None) -> Trace:
        """What the test does with a backend (None: without one)."""
        key = given.backend if given is not None else ""
        if key not in self._runs:
            inputs = dict(given.values) if given is not None else {}
            params = [param.name for param in self.function.params]
            for name, value in self.closure.defaults.items():
                inputs.setdefault(name, value)
            if self.owner is not None and params and params[0] in ("self", "cls"):
                inputs[params[0]] = Record(self.owner.definition.name, {}, self.owner)
            self._runs[key] = self.suite.run(self.closure, {name: value for name, value in inputs.items() if name in params})
        return self._runs[key]


class Suite:
    """One test file, loaded. ``module`` is None when it cannot be read."""

    @for_all()
    def __init__(self, parent: Program, path: Path, root: Path) -> None:
        self.program = SuiteProgram(parent, root)
        self.path = path
        module = self.program.module(path)
        self.module = module if module is not None and not module.faults and not module.refused else None
        self.machine = SuiteMachine(SuiteDialect(self.program))
        self.scope: Scope | None = self.program.load(self.machine, path) if self.module is not None else None

    @for_all()
    def run(self, closure: Closure, inputs: dict[str, Value]) -> Trace:
        machine = self.machine
        machine.trace = Trace()
        machine.exits.clear()
        machine.path, machine.alive = (), True
        machine.steps = MAX_STEPS - STEPS
        return machine.run_callable(closure, inputs)

    @cached_property
    @for_all()
    def tests(self) -> list[SuiteTest]:
        """The file's test functions and methods, with what they are parametrized with."""
        found: list[SuiteTest] = []
        for value in list(self.scope.names.values()) if self.scope is not None else []:
            own = getattr(getattr(value, "scope", None), "source", None) is self.scope.source if self.scope is not None else False
            if isinstance(value, Closure) and own and value.function.name.startswith("test"):
                found.append(SuiteTest(self, value, None, [*value.tags, *self._marks(self.scope.names.get("pytestmark"))]))
            elif isinstance(value, Class) and own:
                found += self._methods(value)
        for test in found:
            self._give(test)
        return found

    def _methods(self, owner: Class) -> Iterator[SuiteTest]:
        assert self.scope is not None
        around = [*self._marks(self.scope.names.get("pytestmark")), *self._marks(owner.member("pytestmark"))]
        around += self._class_tags(owner)
        for member in owner.members.values():
            if isinstance(member, Closure) and member.function.name.startswith("test"):
                yield SuiteTest(self, member, owner, [*member.tags, *around])

    def before_tests(self) -> Iterator[Trace]:
        """What is done before the tests, perhaps: by the file's own top level, its fixtures, and its set-up functions."""
        if self.scope is None:
            return
        loading = self.machine.__dict__["module_traces"][self.path]
        yield Trace([event for event in loading.events if event.name.rsplit(".", 1)[-1] in SELECTS], gaps=loading.gaps)
        for value in list(self.scope.names.values()):
            owner = value if isinstance(value, Class) else None
            members = [value] if owner is None else [*map(owner.member, SET_UPS), *owner.members.values()]
            closures = {id(one): one for one in members if isinstance(one, Closure) and _prepares(one)}
            for closure in closures.values():
                yield SuiteTest(self, closure, owner, closure.tags).run(None)

    def _class_tags(self, owner: Class) -> list[Value]:
        """The values of a class's decorators."""
        found = []
        for decorator in owner.definition.decorators:
            self.machine.path, self.machine.alive = (), True
            with self.machine.inside(scope=self.scope, trace=Trace()):
                self.machine.frames.append(_frame(self.scope))
                try:
                    found.append(self.machine.evaluate(decorator))
                finally:
                    self.machine.frames.pop()
        return found

    def _marks(self, value: Value | None) -> list[Value]:
        if isinstance(value, Items):
            return list(value.items)
        return [value] if value is not None else []

    # ── what the parameters are ──

    def _give(self, test: SuiteTest) -> None:
        by_backend: dict[str, Given] = {}
        named: set[str] = set()
        for tag in test.tags:
            if isinstance(tag, Term) and tag.op == "call" and tag.name.endswith("mark.parametrize") and tag.args:
                self._parametrize(tag, test, by_backend, named)
        for param in test.function.params:
            if param.name not in named and param.name != "self":
                fixture = self._fixture(param.name, test.owner)
                if fixture is not None:
                    self._from_fixture(param.name, fixture, test, by_backend)
                elif param.default is None and param.name.lower() in _PARAMETER_NAMES:
                    test.open = True
        test.given = list(by_backend.values())

    def _parametrize(self, tag: Term, test: SuiteTest, found: dict[str, Given], named: set[str]) -> None:
        names = _names(tag.args[0])
        named.update(names)
        values = tag.args[1] if len(tag.args) > 1 else tag.keywords.get("argvalues")
        if values is None or not names:
            return
        indirect = "indirect" in tag.keywords
        for one in _sets(values):
            if one is None:
                reached = [
                    str(part.value) for part in subterms(values) if isinstance(part, Known) and isinstance(part.value, str)
                ]
                at = next((name for name in names if name.lower() in _PARAMETER_NAMES), names[0] if len(names) == 1 else None)
                if BACKEND in reached and at is not None:
                    for name in (BACKEND, *(name for name in _KNOWN_BACKENDS if name in reached)):
                        found.setdefault(name, Given(name, {at: Known(name)}))
                elif at is not None and (len(names) > 1 or at.lower() in _PARAMETER_NAMES) and not _all_said(values):
                    test.open = True
                continue
            items, marks = one
            for name, item in zip(names, items, strict=False):
                for _, leaf in alternatives(item):
                    if isinstance(leaf, Known) and isinstance(leaf.value, str):
                        if leaf.value == BACKEND or name.lower() in _PARAMETER_NAMES:
                            known = found.get(leaf.value)
                            if known is None:
                                found[leaf.value] = Given(leaf.value, {name: leaf}, list(marks))
                            elif known.marks and not marks:
                                known.marks = []  # another set of it runs plainly
                    elif name.lower() in _PARAMETER_NAMES:
                        test.open = True
        test.open = test.open or (indirect and BACKEND not in found and any(name.lower() in _PARAMETER_NAMES for name in names))

    def _fixture(self, name: str, owner: Class | None) -> Closure | None:
        value = owner.member(name) if owner is not None else None
        value = value or (self.scope.names.get(name) if self.scope is not None else None)
        if value is None:
            value = next((scope.names[name] for scope in self._conftests() if name in scope.names), None)
        if isinstance(value, Closure) and any(_fixture_tag(tag) for tag in value.tags):
            return value
        return None

    def _conftests(self) -> Iterator[Scope]:
        folder = self.path.parent
        while True:
            path = folder / "conftest.py"
            if self.program.workspace.exists(path):
                yield self.program.load(self.machine, path)
            if folder == self.program.root or folder.parent == folder or self.program.root not in folder.parents:
                return
            folder = folder.parent

    def _from_fixture(self, name: str, fixture: Closure, test: SuiteTest, found: dict[str, Given]) -> None:
        for tag in fixture.tags:
            if isinstance(tag, Term) and tag.op == "call" and "params" in tag.keywords:
                for one in _sets(tag.keywords["params"]):
                    if one is None:
                        test.open = True
                        continue
                    items, marks = one
                    for _, leaf in alternatives(items[0]) if items else []:
                        if isinstance(leaf, Known) and isinstance(leaf.value, str):
                            if leaf.value == BACKEND or name.lower() in _PARAMETER_NAMES:
                                found.setdefault(leaf.value, Given(leaf.value, {name: leaf}, list(marks)))
                        elif name.lower() in _PARAMETER_NAMES:
                            test.open = True
                return
        for param in fixture.function.params:  # a fixture of fixtures
            inner = self._fixture(param.name, None) if param.name not in ("self", "request") else None
            if inner is not None and inner is not fixture:
                self._from_fixture(param.name, inner, test, found)
        if name.lower() in _PARAMETER_NAMES and not found:
            test.open = True


def _frame(scope: Scope | None):
    from cutile_lint.unit.machine.trace import Frame

    assert scope is not None
    return Frame(None, None, scope.source, None)


def _fixture_tag(tag: Value) -> bool:
    return isinstance(tag, Term) and tag.name.rsplit(".", 1)[-1] in ("fixture", "yield_fixture")


def _prepares(closure: Closure) -> bool:
    return closure.function.name in SET_UPS or any(_fixture_tag(tag) for tag in closure.tags)


def _names(value: Value) -> list[str]:
    """``"a, b"`` or ``("a", "b")``."""
    if isinstance(value, Known) and isinstance(value.value, str):
        return [name.strip() for name in value.value.split(",") if name.strip()]
    if isinstance(value, Items):
        return [str(item.value) for item in value.items if isinstance(item, Known)]
    return []


def _sets(values: Value) -> Iterator[tuple[list[Value], list[Value]] | None]:
    """The parameter sets of a parametrization with their marks; None for what is not known one by one."""
    for _, one in alternatives(values):
        if isinstance(one, Term) and one.op == "call" and one.name in ("list", "tuple", "sorted", "set") and len(one.args) == 1:
            yield from _sets(one.args[0])
            continue
        if isinstance(one, Term) and one.op == "binary" and one.name == "+":
            for part in one.args:
                yield from _sets(part)
            continue
        if not isinstance(one, Items):
            yield None
            continue
        if one.open:
            yield None
        for item in one.items:
            for _, leaf in alternatives(item):
                marks: list[Value] = []
                if isinstance(leaf, Term) and leaf.op == "call" and leaf.name.endswith("pytest.param"):
                    given = leaf.keywords.get("marks")
                    marks = list(given.items) if isinstance(given, Items) else [given] if given is not None else []
                    yield list(leaf.args), marks
                elif isinstance(leaf, Items):
                    yield list(leaf.items), marks
                else:
                    yield [leaf], marks


def _all_said(value: Value) -> bool:
    """Nothing in a value comes from elsewhere."""
    return not any(
        isinstance(part, Term) and part.op in ("external", "unknown", "global", "attr", "input") for part in subterms(value)
    )


def mark_kind(mark: Value) -> str:
    """``skip`` of ``pytest.mark.skip`` and ``pytest.mark.skip(…)``; "" for what is no mark."""
    return mark.name.rsplit(".", 1)[-1] if isinstance(mark, Term) and ".mark." in f".{mark.name}" else ""


def spares(mark: Value) -> bool:
    """The mark says that its tests are not run, or may fail: other than where something is not available."""
    kind = mark_kind(mark)
    given = mark.args if isinstance(mark, Term) and mark.op == "call" else ()
    if kind == "skipif" or (kind == "xfail" and given):
        return any(bool(test.value) if isinstance(test, Known) else not _is_availability(test) for test in given[:1])
    return kind in ("skip", "xfail")


def skipping(event: Event) -> bool:
    return event.kind == "call" and event.name in SKIPS


def blanket(event: Event) -> bool:
    """Nothing but the backend decides that the event happens (and that it is available)."""
    return all(_is_availability(literal.test) for literal in event.path)


def only_unavailable(event: Event) -> bool:
    """The event happens where the backend is not there (or selecting it raised)."""
    literals = event.path
    return any(literal.holds == (isinstance(literal.test, Term) and literal.test.op == "raised") for literal in literals)


def _is_availability(test: Value) -> bool:
    parts = [part for part in subterms(test) if isinstance(part, Term) and part.op in ("call", "method", "raised", "input")]
    return bool(parts) and all(
        part.op == "raised" or part.name.endswith("is_available") or "backend_available" in part.name for part in parts
    )


def place_of(test: SuiteTest) -> Place:
    return Place(test.source, test.function.name_span or test.function.span)
