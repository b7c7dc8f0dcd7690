"""The Rust files that belong together: items by path, device entries, exports."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source
from cutile_lint.unit.answers import Answers
from cutile_lint.unit.linking.rust_imports import imported, included, renamed
from cutile_lint.unit.machine.rust import Macro
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.values import Closure, Known, Value

if TYPE_CHECKING:
    from cutile_lint.unit.machine.statements import Statements as Machine

T = TypeVar("T")

#: ABIs of functions that C calls.
_FOREIGN = frozenset(["C", "C-unwind", "system", "system-unwind"])
_CONCAT = regex(r"concat!\s*\((.*)\)", re.DOTALL)
_PIECE = regex(r'"(\w*)"|stringify!\s*\(\s*(\w+)\s*\)')
#: A name that is imported and handed on more often is not followed to its end.
_MAX_IMPORTS = 8


@dataclass(slots=True, eq=False)
class Item:
    """A function, constant or macro with the modules it stands in, outermost first."""

    name: str
    modules: tuple[str, ...]
    node: syntax.Stmt
    source: Source


@dataclass(slots=True, eq=False)
class Entry:
    """A device kernel: ``#[cutile::entry]`` function of a ``#[cutile::module]``."""

    function: syntax.Function
    source: Source
    module: str
    attribute: syntax.Attribute

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def place(self) -> Place:
        return Place(self.source, self.function.name_span or self.function.span)

    @property
    def generics(self) -> list[syntax.Generic]:
        """Type and const parameters in order (lifetimes left out)."""
        return [generic for generic in self.function.generics if generic.kind != "lifetime"]


@dataclass(slots=True, eq=False)
class Export:
    """An ``extern "C"`` function with its symbol. ``place``: where its name is written; ``source``: the file that its text stands in,
    which is another one when a macro of that file makes it; ``catches``: the macro catches panics of it."""

    function: syntax.Function
    source: Source
    symbol: str
    place: Place
    catches: bool = False

    @property
    def paths(self) -> set[Path]:
        """The files that it stands in: its own, and that of a macro which makes it."""
        return {self.source.path, self.place.path}


def _is_entry(attribute: syntax.Attribute) -> bool:
    return attribute.path.rsplit("::", 1)[-1] == "entry" and (attribute.path.startswith("cutile") or attribute.path == "entry")


def _export_name(function: syntax.Function) -> str | None:
    """The symbol of an exported function; None for one that is put together in a way that is not known."""
    for attribute in function.attributes:
        if attribute.path.rsplit("::", 1)[-1] in ("export_name", "unsafe") and "export_name" in (attribute.path + attribute.text):
            return _joined(attribute.text.removeprefix("export_name").strip().removeprefix("=").strip())
    return function.name


def _joined(text: str) -> str | None:
    """``"symbol"`` or ``concat!("symbol_", stringify!(name))``."""
    whole = _CONCAT.fullmatch(text)
    pieces = [_PIECE.fullmatch(piece.strip()) for piece in (whole[1] if whole is not None else text).split(",")]
    if not all(pieces):
        return None
    return "".join(piece[1] or piece[2] or "" for piece in pieces)  # type: ignore[index]


@dataclass(slots=True, eq=False)
class Crate:
    """Items of all files of one kernel unit's Rust side. Own files come first, so that the nearest definition wins."""

    modules: list[syntax.Module]
    items: dict[str, list[Item]] = field(default_factory=dict)
    methods: dict[str, list[Item]] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    exports: list[Export] = field(default_factory=list)
    _entry_functions: dict[int, Entry] = field(default_factory=dict)
    #: macros that are invoked among the items, with their modules and files
    _invoked: list[tuple[syntax.Call, tuple[str, ...], Source]] = field(default_factory=list)
    #: what the metavariables of functions that macros make stand for, by the functions' identity
    _bound: dict[int, dict[str, Value]] = field(default_factory=dict)
    _answers: Answers = field(default_factory=Answers)

    def __post_init__(self) -> None:
        for module in self.modules:
            self._collect(module.body, (), module.source, "")
        for call, modules, source in self._invoked:
            self._expand(call, modules, source)

    def _collect(self, body: list[syntax.Stmt], modules: tuple[str, ...], source: Source, device: str) -> None:
        for node in body:
            if isinstance(node, syntax.FunctionDef):
                self._function(node, modules, source, device)
            elif isinstance(node, syntax.ExprStmt) and isinstance(node.value, syntax.Call) and node.value.macro:
                self._invoked.append((node.value, modules, source))
            elif isinstance(node, syntax.MacroDef):
                self._add(self.items, Item(f"{node.name}!", modules, node, source))
            elif isinstance(node, syntax.Assign) and node.declares and node.name:
                self._add(self.items, Item(node.name, modules, node, source))
            elif isinstance(node, syntax.ClassDef) and node.kind == "impl":
                self._collect_methods(node, source)
            elif isinstance(node, syntax.ModuleDef) and node.body is not None:
                if self._is_of_others(node, source):
                    continue
                is_device = any(attribute.path.endswith("module") for attribute in node.attributes)
                self._collect(node.body, (*modules, node.name), source, node.name if is_device else device)

    def _is_of_others(self, node: syntax.ModuleDef, source: Source) -> bool:
        """A block of the crate root that includes the files of another op: what else stands in it is that op's."""
        if not source.has(b"include!"):
            return False
        paths = [os.path.normpath(source.path.parent / name) for name in included(node)]
        own = {str(module.source.path) for module in self.modules}
        return bool(paths) and own.isdisjoint(paths)

    def _function(self, node: syntax.FunctionDef, modules: tuple[str, ...], source: Source, device: str) -> None:
        function = node.function
        self._add(self.items, Item(function.name, modules, node, source))
        for attribute in function.attributes:
            if _is_entry(attribute):
                entry = Entry(function, source, device, attribute)
                self.entries.setdefault(function.name, entry)
                self._entry_functions[id(function)] = entry
        self._export(function, source, Place(source, function.name_span or function.span))

    def _export(self, function: syntax.Function, source: Source, place: Place, catches: bool = False) -> None:
        symbol = _export_name(function) if function.abi in _FOREIGN else None
        if symbol is not None:
            self.exports.append(Export(function, source, symbol, place, catches))

    def _expand(self, call: syntax.Call, modules: tuple[str, ...], source: Source) -> None:
        """Take over the functions that a macro of the crate makes."""
        if not isinstance(call.func, syntax.Name) or self.find(call.func.last, source) is None:
            return
        from cutile_lint.unit.linking.item_macros import made_items

        for made in made_items(self, call, source):
            function = made.function.function
            self._add(self.items, Item(function.name, modules, made.function, made.source))
            self._bound[id(function)] = made.names
            self._export(function, made.source, made.place, made.catches)

    def _collect_methods(self, node: syntax.ClassDef, source: Source) -> None:
        for statement in node.body:
            if isinstance(statement, syntax.FunctionDef):
                item = Item(statement.function.name, (node.name,), statement, source)
                self._add(self.methods, item)
                self._add(self.items, item)
            elif isinstance(statement, syntax.Assign) and statement.name:
                self._add(self.items, Item(statement.name, (node.name,), statement, source))

    @staticmethod
    def _add(table: dict[str, list[Item]], item: Item) -> None:
        table.setdefault(item.name, []).append(item)

    def once(self, question: Hashable, answer: Callable[[], T]) -> T:
        """The answer to a question about the crate alone: found once, for all ops and analyses that have the crate."""
        return self._answers.once(question, answer)

    def forget(self) -> None:
        """Let go of all answers. Some lead back to the crate: they would wait for a collection of cycles."""
        self._answers.forget()

    # ── looking things up ──

    def entry_of(self, function: syntax.Function) -> Entry | None:
        return self._entry_functions.get(id(function))

    def own_path(self, path: str, source: Source) -> str:
        """The path with its first segment as that is called where it is defined (``Gpu::new`` → ``Device::new``)."""
        head, separator, rest = path.partition("::")
        own = self._renamings(source).get(head.removesuffix("!"))
        return path if own is None else f"{own}{'!' * head.endswith('!')}{separator}{rest}"

    def full_path(self, path: str, source: Source) -> str:
        """The path of what a file knows by an imported name, by the imports of this file and of those that hand it on."""
        for _ in range(_MAX_IMPORTS):
            head, separator, rest = path.partition("::")
            if head in ("crate", "self", "super"):
                handing_on = self._handing_on(path)
                if handing_on is None:
                    break
                source, path = handing_on, path.rsplit("::", 1)[-1]
                continue
            target = self._imported(source).get(head)
            if target is None or target.partition("::")[0] == head:
                return path if target is None else f"{target}{separator}{rest}"
            path = f"{target}{separator}{rest}"
        return path

    def import_of(self, name: str, source: Source) -> str | None:
        """The path by which a file imports a name."""
        return self._imported(source).get(name)

    def _handing_on(self, path: str) -> Source | None:
        """The file of the module that a path names, when it imports the path's last name itself."""
        *modules, name = path.split("::")
        found = [
            module.source
            for module in self.modules
            if module.source.path.stem == modules[-1] and name in self._imported(module.source)
        ]
        return found[0] if len(found) == 1 else None

    def _imported(self, source: Source) -> dict[str, str]:
        def found() -> dict[str, str]:
            module = next((module for module in self.modules if module.source is source), None)
            return imported(module) if module is not None else {}

        return self.once(("imported", id(source)), found)

    def _renamings(self, source: Source) -> dict[str, str]:
        def found() -> dict[str, str]:
            module = next((module for module in self.modules if module.source is source), None)
            return renamed(module) if module is not None else {}

        return self.once(("renamed", id(source)), found)

    def _exported_as(self, name: str) -> str | None:
        """What another file calls by this name and hands on (``pub use a::b as name``)."""
        bare = name.removesuffix("!")
        found = {names[bare] for module in self.modules if bare in (names := self._renamings(module.source))}
        return f"{found.pop()}{'!' * name.endswith('!')}" if len(found) == 1 else None

    def find(self, path: str, source: Source) -> Item | None:
        """The item that a path means in a file: the last segment names it, the one before it must agree if it is a module or type."""
        path = self.own_path(path, source)
        segments = [part for part in path.split("::") if part and part not in ("crate", "self", "super", "Self")]
        if not segments:
            return None
        found = self.items.get(segments[-1])
        if found is None:
            other = self._exported_as(segments[-1])
            found = self.items.get(other, []) if other is not None else []
        if len(segments) > 1:
            qualifier = segments[-2]
            files = [item for item in found if qualifier in item.modules or item.source.path.stem == qualifier]
            found = files or ([] if qualifier[:1].isupper() else [item for item in found if not item.modules])
        own = [item for item in found if item.source is source]
        pool = own or found
        return pool[0] if pool else None

    def value(self, machine: Machine, path: str, source: Source) -> Value | None:
        """The function or constant that a path means."""
        item = self.find(path, source)
        if item is None:
            return None
        if isinstance(item.node, syntax.FunctionDef):
            return self.closure(machine, item.node.function, item.source, Place(item.source, item.node.span))
        if isinstance(item.node, syntax.Assign) and item.node.value is not None:
            with machine.inside(scope=self.scope(machine, item.source)):
                return machine.evaluate(item.node.value)
        return None

    def macro(self, machine: Machine, name: str, source: Source) -> Macro | None:
        item = self.find(f"{name}!", source)
        if item is not None and isinstance(item.node, syntax.MacroDef):
            return Macro(item.node, self.scope(machine, item.source))
        return None

    def method(self, machine: Machine, name: str, count: int) -> Closure | None:
        """A method of one of the crate's own types, when only one has the name and takes that many arguments."""
        found = [
            item
            for item in self.methods.get(name, [])
            if isinstance(item.node, syntax.FunctionDef) and len(item.node.function.params) == count + 1
        ]
        if len(found) != 1 or not isinstance(found[0].node, syntax.FunctionDef):
            return None
        return Closure(found[0].node.function, self.scope(machine, found[0].source))

    def scope(self, machine: Machine, source: Source) -> Scope:
        """The file's scope (its items are found through the crate)."""
        scopes: dict[int, Scope] = machine.__dict__.setdefault("file_scopes", {})
        if id(source) not in scopes:
            scopes[id(source)] = Scope(source)
        return scopes[id(source)]

    def closure(self, machine: Machine, function: syntax.Function, source: Source, place: Place | None = None) -> Closure:
        """A function of the file, with what its metavariables stand for when a macro makes it."""
        scope = self.scope(machine, source)
        if names := self._bound.get(id(function)):
            scope = Scope(source, scope, transparent=True)
            scope.names.update(names)
        return Closure(function, scope, place)

    def functions(self) -> Iterator[tuple[syntax.Function, Source]]:
        for items in self.items.values():
            for item in items:
                if isinstance(item.node, syntax.FunctionDef):
                    yield item.node.function, item.source

    def constant(self, machine: Machine, path: str, source: Source) -> object:
        value = self.value(machine, path, source)
        return value.value if isinstance(value, Known) else None
