"""The project's modules: which file an import means, each parsed and loaded once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cutile_lint.config.settings import RUNTIME_NAMES
from cutile_lint.frontends import syntax
from cutile_lint.sources import Source
from cutile_lint.sources.watch import for_all, watching
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.values import CHANGES, Class, Closure, Entries, Items, Known, Record, Term, Value

if TYPE_CHECKING:
    from cutile_lint.frontends.ir import IrModule
    from cutile_lint.unit.linking.crate import Crate
    from cutile_lint.unit.machine.machine import Machine
    from cutile_lint.unit.machine.statements import Statements
    from cutile_lint.unit.suite.runs import Suite

T = TypeVar("T")
_MUTATORS = frozenset(["append", "add", "update", "setdefault", "extend", "pop", "clear", "discard", "remove", "insert"])

#: containers of the standard library that the machine does not follow
_CONTAINERS = frozenset(
    ["defaultdict", "OrderedDict", "WeakValueDictionary", "WeakKeyDictionary", "deque", "LRUCache", "TTLCache"]
)
#: objects in fields of objects, so deep
_MAX_HELD = 3


class Parsed:
    """Trees of the files parsed last, for programs that follow one another: files that they share are parsed once."""

    #: shared files are asked for again and again, those of one op are not: a few ops' worth keeps the shared ones
    LIMIT = 64
    #: a crate holds the runs of its exports and entries
    CRATES = 2

    def __init__(self, passing: bool = False) -> None:
        """``passing``: ops that have been checked do not come back, so what is known of a crate is let go with it."""
        self._passing = passing
        self._modules: dict[Path, syntax.Module] = {}
        self._crates: dict[tuple[Path, ...], Crate] = {}

    def module(self, source: Source) -> syntax.Module:
        module = self._modules.pop(source.path, None)
        if module is None or (module.source is not source and module.source.data != source.data):
            module = parse(source, module)
        self._modules[source.path] = module  # the last in line
        if len(self._modules) > self.LIMIT:
            del self._modules[next(iter(self._modules))]
        return module

    def keep(self, module: syntax.Module) -> None:
        """Let a tree stand for its file again."""
        self._modules[module.source.path] = module

    def crate(self, modules: list[syntax.Module]) -> Crate:
        """The crate of these very trees: one for all ops that are checked one after the other."""
        from cutile_lint.unit.linking.crate import Crate

        key = tuple(module.source.path for module in modules)
        crate = self._crates.pop(key, None)
        if crate is None or any(old is not new for old, new in zip(crate.modules, modules, strict=True)):
            crate = Crate(modules)
        self._crates[key] = crate
        if len(self._crates) > self.CRATES:
            gone = self._crates.pop(next(iter(self._crates)))
            if self._passing:
                gone.forget()
        return crate


def parse(source: Source, before: syntax.Module | None = None) -> syntax.Module:
    """Read a file of either language. ``before``: its tree of another time."""
    if source.is_rust:
        from cutile_lint.frontends import rust

        return rust.parse(source)
    from cutile_lint.frontends import python

    return python.parse(source, before)


class Program:
    """All files of a run, parsed at most once; imports between them."""

    def __init__(
        self, workspace: Workspace, runtime_names: Mapping[str, Iterable[str]] | None = None, parsed: Parsed | None = None
    ) -> None:
        self.workspace = workspace
        self._parsed = parsed if parsed is not None else Parsed()
        self.modules: dict[Path, syntax.Module | None] = {}
        self.ir_modules: dict[Path, IrModule | None] = {}
        self._roles: dict[str, str] = {}
        for role, names in {**RUNTIME_NAMES, **(runtime_names or {})}.items():
            self._roles.update(dict.fromkeys(names, role))
        self._resolved: dict[tuple[Path, str, int], Path | None] = {}
        self._mutable: dict[Path, set[str]] = {}
        self._runtime: dict[Path, bool] = {}
        #: answers with the files that they rest on
        self._answers: dict[object, tuple[object, set[Path]]] = {}
        self._asking: list[set[Path]] = []
        #: test files that were loaded, shared by all ops
        self.suites: dict[Path, Suite] = {}

    # ── files ──

    def module(self, path: Path) -> syntax.Module | None:
        """The parsed file; None when there is none or it cannot be read."""
        if self._asking:
            self._asking[-1].add(path)
        if path not in self.modules:
            source = self.workspace.source(path)
            self.modules[path] = self._parsed.module(source) if source is not None else None
        return self.modules[path]

    def put(self, module: syntax.Module) -> None:
        """Let another tree stand for its file, of which only bodies of functions differ, and these write the same names."""
        path = module.source.path
        self.modules[path] = module
        self._answers = {question: answer for question, answer in self._answers.items() if path not in answer[1]}
        self.suites = {of: suite for of, suite in self.suites.items() if path not in suite.program.modules}

    def once(self, question: object, answer: Callable[[], T]) -> T:
        """The answer to a question about files: found once for all ops of a run."""
        known = self._answers.get(question)
        if known is None:
            self._asking.append(set())
            try:
                with for_all():
                    found = answer()
            finally:
                read = self._asking.pop()
            known = self._answers[question] = (found, read)
        if self._asking:
            self._asking[-1] |= known[1]
        return known[0]  # type: ignore[return-value]

    def ir_module(self, path: Path) -> IrModule | None:
        """The parsed Tile IR text; None when there is none or it cannot be read."""
        if path not in self.ir_modules:
            from cutile_lint.frontends.ir import parse_ir

            source = self.workspace.source(path)
            self.ir_modules[path] = parse_ir(source) if source is not None else None
        return self.ir_modules[path]

    def crate(self, modules: list[syntax.Module]) -> Crate:
        """The Rust files of an op as a whole."""
        return self._parsed.crate(modules)

    # ── imports ──

    def resolve(self, importer: Path, module: str, level: int) -> Path | None:
        """The project's file for an import made in ``importer``; None for packages of others."""
        key = (importer.parent, module, level)
        if key not in self._resolved:
            self._resolved[key] = self._find(importer, module, level)
        return self._resolved[key]

    def _find(self, importer: Path, module: str, level: int) -> Path | None:
        parts = [part for part in module.split(".") if part]
        if level:
            base = importer.parent
            for _ in range(level - 1):
                base = base.parent
            return self._file(base, parts)
        if not parts:
            return None
        root = importer.parent
        while self.workspace.exists(root / "__init__.py"):
            if root.name == parts[0] and (found := self._file(root, parts[1:])) is not None:
                return found
            if root.parent == root:
                break
            root = root.parent
        for directory in [importer.parent, *importer.parents][:8]:
            if directory.name == parts[0] and (found := self._file(directory, parts[1:])) is not None:
                return found
        return self._file(importer.parent, parts) or self._file(root, parts)

    def _file(self, base: Path, parts: list[str]) -> Path | None:
        target = base.joinpath(*parts)
        if parts and self.workspace.exists(target.with_name(target.name + ".py")):
            return target.with_name(target.name + ".py")
        if self.workspace.exists(target / "__init__.py"):
            return target / "__init__.py"
        return None

    def is_runtime(self, importer: Path, module: str, name: str, level: int) -> bool:
        """The import brings one of the runtime's functions, which are known by name and never entered."""
        if name not in self._roles:
            return False
        path = self.resolve(importer, module, level)
        return path is None or self.is_runtime_module(path) or path.parent not in importer.parents

    def is_runtime_module(self, path: Path) -> bool:
        """The file defines runtime functions itself, instead of calling them as a wrapper does."""
        if path not in self._runtime:
            self._runtime[path] = self._defines_runtime(path)
        return self._runtime[path]

    def _defines_runtime(self, path: Path) -> bool:
        source = self.workspace.source(path)
        return source is not None and source.tells(_defines, tuple(self._roles))

    def role(self, dotted: str) -> str | None:
        """The runtime role of a dotted name outside the project (``tilegym.….check_rc`` → ``check-rc``)."""
        return self._roles.get(dotted.rsplit(".", 1)[-1])

    def names_of(self, role: str) -> list[str]:
        return [name for name, its in self._roles.items() if its == role]

    # ── loading ──

    def load(self, machine: Machine | Statements, path: Path) -> Scope:
        """The module's scope after its top level ran; once per machine."""
        scopes: dict[Path, Scope] = machine.__dict__.setdefault("module_scopes", {})
        if path in scopes:
            return scopes[path]
        module = self.module(path)
        if module is None:
            source = self.workspace.source(path)
            scopes[path] = Scope(source or Source(path, b""))
            return scopes[path]
        scope = scopes[path] = Scope(module.source)
        traces = machine.__dict__.setdefault("module_traces", {})
        traces[path] = machine.load(module, scope)  # type: ignore[union-attr]
        if path not in self._mutable:
            with watching(None):  # an editor compares what changed functions write
                self._mutable[path] = _mutable_state(module)
        for name in self._mutable[path]:
            if name in scope.names and not isinstance(scope.names[name], Term):
                scope.names[name] = _state(path, name, scope.names[name])
        for name, value in scope.names.items():
            self.keep(path, name, value)
        return scope

    def keep(self, path: Path, name: str, value: Value, depth: int = 0) -> None:
        """Let what functions put into the containers of a value that outlives a call be state: those of an object or a class, of the
        function around an inner one, and of a default."""
        if isinstance(value, Record) and depth < _MAX_HELD:
            own = value.cls.scope.source.path if value.cls is not None else path
            _become_state(path, name, value.fields, self._mutable.get(path, set()) | self._mutable.get(own, set()), ".")
            for field, inner in value.fields.items():
                self.keep(path, f"{name}.{field}", inner, depth + 1)
        elif isinstance(value, Class) and value.scope.source.path == path:
            _become_state(path, name, value.members, self._mutable[path], ".")
            for member, inner in value.members.items():
                self.keep(path, f"{name}.{member}", inner, depth + 1)
        elif isinstance(value, Closure):
            kept = [value.defaults, *_names_around(value.scope)]
            if any(map(_is_fresh, (one for names in kept for one in names.values()))):
                written = written_names(value.function)
                for names in kept:
                    _become_state(path, name, names, written)


def _names_around(scope: Scope) -> Iterator[dict[str, Value]]:
    """The names of the functions around an inner one, which ``scope`` is of."""
    around: Scope | None = scope
    while around is not None and around.outer is not None:
        yield around.names
        around = around.outer


def has_def(names: Iterable[str], data: bytes) -> bool:
    """A Python text defines a function with one of the names (a look at its bytes)."""
    return any(b"def " + name.encode() + b"(" in data for name in names)


def _defines(data: bytes, names: tuple[str, ...]) -> bool:
    """A module's text defines one of the names and imports none."""
    if not has_def(names, data):
        return False
    named = b"|".join(name.encode() for name in names if name.encode() in data)
    return not re.search(rb"^[ \t]*(?:from|import)\b.*\b(?:" + named + rb")\b", data, re.MULTILINE)


def _state(path: Path, name: str, initial: Value) -> Term:
    return Term("global", f"{path.name}:{name}", (initial,), place=initial.place)


def _become_state(path: Path, owner: str, names: dict[str, Value], written: set[str], prefix: str = "") -> None:
    """Let the containers among ``names`` that are written be state, unless they held something when the module was loaded."""
    for name, value in names.items():
        if prefix + name in written and _is_fresh(value):
            CHANGES.ended += 1
            names[name] = _state(path, f"{owner}.{name}", value)


def _is_fresh(value: Value) -> bool:
    """A container without items, or with None in all its places."""
    if isinstance(value, Items):
        return value.kind != "tuple" and not value.open and all(map(_is_none, value.items))
    if isinstance(value, Entries):
        return not value.open and all(map(_is_none, value.entries.values()))
    return isinstance(value, Term) and value.op == "call" and value.name.rsplit(".", 1)[-1] in _CONTAINERS


def _is_none(value: Value) -> bool:
    return isinstance(value, Known) and value.value is None


def _mutable_state(module: syntax.Module) -> set[str]:
    """What functions write, as :func:`written_names` says it: names of the module, and attributes."""
    assigned = {
        target.id for statement in module.body if isinstance(statement, syntax.Assign) for target in statement.targets
        if isinstance(target, syntax.Name)
    }  # fmt: skip
    if not assigned and not any(isinstance(statement, syntax.ClassDef) for statement in module.body):
        return set()
    written: set[str] = set()
    for function in _outermost(module):
        written |= written_names(function)
    return {name for name in written if name in assigned or name.startswith(".")}


def written_names(function: syntax.Function) -> set[str]:
    """Names that a function may write in its module: by ``global``, by item assignment, or by a mutating method.

    With a dot: attributes in which it writes items, of whatever object.
    """
    written: set[str] = set()
    for node in function.walk():
        if isinstance(node, syntax.Scope) and node.kind == "global":
            written.update(node.names)
        elif isinstance(node, syntax.Assign):
            for target in node.targets:
                if isinstance(target, (syntax.Index, syntax.Attr)) and isinstance(target.base, syntax.Name):
                    written.add(target.base.id)
                elif isinstance(target, syntax.Index) and isinstance(target.base, syntax.Attr):
                    written.add(f".{target.base.name}")
        elif isinstance(node, syntax.Call) and isinstance(node.func, syntax.Attr) and node.func.name in _MUTATORS:
            if isinstance(node.func.base, syntax.Name):
                written.add(node.func.base.id)
            elif isinstance(node.func.base, syntax.Attr):
                written.add(f".{node.func.base.name}")
    return written


def _outermost(module: syntax.Module) -> Iterator[syntax.Function]:
    """The functions that are in no other function."""
    stack: list[syntax.Node] = [*module.body]
    while stack:
        node = stack.pop()
        if isinstance(node, syntax.Function):
            yield node
        else:
            stack += node.children()


def constant(value: Value) -> object:
    """The Python value of a constant, or of a tuple/list/dict of constants; raises :class:`ValueError` for others."""
    if isinstance(value, Known):
        return value.value
    if isinstance(value, Items) and not value.open and not any(value.conditions):
        return [constant(item) for item in value.items]
    if isinstance(value, Entries) and not value.open:
        return {constant(key): constant(item) for key, item in value.items()}
    raise ValueError("not a constant")
