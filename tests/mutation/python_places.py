"""Disguises of one Python expression or statement: what it does stays, where and how it is written changes.

A disguise gets a :class:`Site` and gives its edits, or None where it cannot be used.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from .python_file import COMPREHENSIONS, Edit, PythonFile, read_names

PART = "_disguised"


@dataclass
class Site:
    """An expression at which a disguise is made. ``number`` tells apart the sites of one file."""

    file: PythonFile
    node: ast.expr
    number: int = 0
    #: modules to be added beside the file: name → text
    added: dict[str, str] = field(default_factory=dict)
    in_package: bool = True

    @property
    def name(self) -> str:
        return f"{PART}{self.number or ''}"

    @property
    def text(self) -> str:
        return self.file.of(self.node)

    @cached_property
    def free(self) -> list[str]:
        return self.file.free(self.node)

    @property
    def args(self) -> str:
        return ", ".join(self.free)

    @cached_property
    def statement(self) -> ast.stmt:
        return self.file.statement(self.node)

    def replaced(self, new: str) -> Edit:
        return (*self.file.span(self.node), new)

    def at_top(self, text: str) -> Edit:
        """Lines before the module's statement that holds the site."""
        start = self.file.line_start(self.file.span(self.file.top(self.node))[0])
        return start, start, text

    def imported(self, text: str) -> Edit:
        place = self.file.after_imports()
        return place, place, text + "\n"

    def before(self, *lines: str) -> Edit | None:
        """Lines before the statement; None where they would see other names or run at another time than the site."""
        scopes = self.file.enclosing(self.node)
        if scopes and isinstance(scopes[0], (ast.Lambda, *COMPREHENSIONS)):
            return None
        for item in self.file.above(self.node):
            if item is self.statement:
                break
            if isinstance(item, (ast.BoolOp, ast.IfExp)):
                return None
        begun = self.file.own_line(self.statement)
        if isinstance(self.statement, (ast.While, ast.FunctionDef, ast.ClassDef)) or begun is None:
            return None
        return begun[0], begun[0], "".join(f"{begun[1]}{line}\n" for line in lines)


Disguise = Callable[[Site], "list[Edit] | None"]


def _function(name: str, args: str, text: str) -> str:
    return f"def {name}({args}):\n    return (\n        {text}\n    )\n\n\n"


# ── helpers ──


def helper(site: Site) -> list[Edit]:
    return [site.at_top(_function(site.name, site.args, site.text)), site.replaced(f"{site.name}({site.args})")]


def three_helpers(site: Site) -> list[Edit]:
    name, args = site.name, site.args
    text = _function(f"{name}_c", args, site.text)
    text += _function(f"{name}_b", args, f"{name}_c({args})") + _function(f"{name}_a", args, f"{name}_b({args})")
    return [site.at_top(text), site.replaced(f"{name}_a({args})")]


def keyword_helper(site: Site) -> list[Edit] | None:
    if len(site.free) < 1:
        return None
    passed = ", ".join(f"{name}_={name}" for name in reversed(site.free))
    taken = "".join(f"    {name} = {name}_\n" for name in site.free)
    text = f"def {site.name}(*, {', '.join(f'{name}_' for name in site.free)}):\n{taken}    return (\n        {site.text}\n    )\n\n\n"
    return [site.at_top(text), site.replaced(f"{site.name}({passed})")]


def sibling_module(site: Site) -> list[Edit] | None:
    return _sibling(site, "from .{module} import {name}", "{name}")


def sibling_under_another_name(site: Site) -> list[Edit] | None:
    return _sibling(site, "from .{module} import {name} as do{name}", "do{name}")


def attribute_of_sibling(site: Site) -> list[Edit] | None:
    return _sibling(site, "from . import {module}", "{module}.{name}")


def _sibling(site: Site, statement: str, call: str) -> list[Edit] | None:
    file, module = site.file, f"{site.name}_module"
    needed = [name for name in read_names(site.node) if name in file.globals and name not in site.free]
    holders = list(dict.fromkeys(file.globals[name] for name in needed))
    if not site.in_package or any(not isinstance(item, (ast.Import, ast.ImportFrom)) for item in holders):
        return None
    if file.top(site.node) in holders:
        return None
    imports = "".join(file.of(item) + "\n" for item in holders)
    site.added[module] = f"{imports}\n\n{_function(site.name, site.args, site.text).rstrip()}\n"
    names = {"module": module, "name": site.name}
    return [site.imported(statement.format(**names)), site.replaced(f"{call.format(**names)}({site.args})")]


def closure(site: Site) -> list[Edit] | None:
    place = site.before(f"def {site.name}():", "    return (", f"        {site.text}", "    )")
    return place and [place, site.replaced(f"{site.name}()")]


def named_lambda(site: Site) -> list[Edit] | None:
    place = site.before(f"{site.name} = lambda: ({site.text})")
    return place and [place, site.replaced(f"{site.name}()")]


def called_lambda(site: Site) -> list[Edit]:
    return [site.replaced(f"(lambda {site.args}: ({site.text}))({site.args})")]


def module_lambda(site: Site) -> list[Edit]:
    return [site.at_top(f"{site.name} = lambda {site.args}: ({site.text})\n\n\n"), site.replaced(f"{site.name}({site.args})")]


def partial(site: Site) -> list[Edit]:
    bound = "".join(f", {name}" for name in site.free)
    return [
        site.imported("import functools as _functools"),
        site.at_top(_function(site.name, site.args, site.text)),
        site.replaced(f"_functools.partial({site.name}{bound})()"),
    ]


def bound_method(site: Site) -> list[Edit]:
    kept = "".join(f"        self.{name} = {name}\n" for name in site.free) or "        pass\n"
    taken = "".join(f"        {name} = self.{name}\n" for name in site.free)
    init = f"    def __init__(self{''.join(f', {name}' for name in site.free)}):\n{kept}\n"
    text = f"class {site.name}:\n{init}    def run(self):\n{taken}        return (\n            {site.text}\n        )\n\n\n"
    return [site.at_top(text), site.replaced(f"{site.name}({site.args}).run()")]


def static_method(site: Site) -> list[Edit]:
    text = f"class {site.name}:\n    @staticmethod\n    def run({site.args}):\n        return (\n            {site.text}\n        )\n\n\n"
    return [site.at_top(text), site.replaced(f"{site.name}.run({site.args})")]


def callable_object(site: Site) -> list[Edit]:
    args = "".join(f", {name}" for name in site.free)
    text = f"class {site.name}:\n    def __call__(self{args}):\n        return (\n            {site.text}\n        )\n\n\n"
    return [site.at_top(text), site.replaced(f"{site.name}()({site.args})")]


def decorated_helper(site: Site) -> list[Edit]:
    inner = "    @_functools.wraps(function)\n    def inner(*args, **kwargs):\n        return function(*args, **kwargs)\n\n    return inner\n"
    text = f"def {site.name}_around(function):\n{inner}\n\n@{site.name}_around\n{_function(site.name, site.args, site.text)}"
    return [
        site.imported("import functools as _functools"),
        site.at_top(text),
        site.replaced(f"{site.name}({site.args})"),
    ]


def default_argument(site: Site) -> list[Edit] | None:
    place = site.before(f"def {site.name}(value={site.text}):", "    return value")
    return place and [place, site.replaced(f"{site.name}()")]


# ── other expressions ──


def first_local(site: Site) -> list[Edit] | None:
    """A local of its own, where nothing else is worked out before it."""
    if getattr(site.statement, "value", None) is not site.node or isinstance(site.statement, ast.Expr):
        return None
    place = site.before(f"{site.name} = {site.text}")
    return place and [place, site.replaced(site.name)]


def conditional(site: Site) -> list[Edit]:
    return [site.replaced(f"(({site.text}) if True else None)")]


def comprehension(site: Site) -> list[Edit]:
    return [site.replaced(f"[({site.text}) for _ in range(1)][0]")]


def generator(site: Site) -> list[Edit]:
    return [site.replaced(f"next(({site.text}) for _ in (0,))")]


def in_a_dict(site: Site) -> list[Edit]:
    return [site.replaced(f'{{"part": {site.text}}}["part"]')]


def in_a_tuple(site: Site) -> list[Edit]:
    return [site.replaced(f"({site.text}, 0)[0]")]


def walrus(site: Site) -> list[Edit] | None:
    scopes = site.file.enclosing(site.node)
    if scopes and not isinstance(scopes[0], ast.FunctionDef):
        return None
    return [site.replaced(f"({site.name} := ({site.text}))")]


# ── other names for what is called ──


def _is_imported(site: Site) -> ast.expr | None:
    """What a call calls, if that is an import's name or an attribute of it."""
    function = site.node.func if isinstance(site.node, ast.Call) else None
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    known = isinstance(root, ast.Name) and isinstance(site.file.globals.get(root.id), (ast.Import, ast.ImportFrom))
    return function if known and root.id not in site.free else None


def local_alias(site: Site) -> list[Edit] | None:
    function = site.node.func if isinstance(site.node, ast.Call) else None
    if not isinstance(function, (ast.Name, ast.Attribute)):
        return None
    if isinstance(function, ast.Attribute) and not isinstance(function.value, ast.Name):
        return None
    place = site.before(f"{site.name} = {site.file.of(function)}")
    return place and [place, (*site.file.span(function), site.name)]


def module_alias(site: Site) -> list[Edit] | None:
    function = _is_imported(site)
    return function and [site.imported(f"{site.name} = {site.file.of(function)}"), (*site.file.span(function), site.name)]


def from_import(site: Site) -> list[Edit] | None:
    function = _is_imported(site)
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return None
    holder = site.file.globals[function.value.id]
    alias = next(item for item in holder.names if function.value.id in (item.asname, item.name))
    if isinstance(holder, ast.ImportFrom) and not holder.module:
        return None
    module = alias.name if isinstance(holder, ast.Import) else f"{'.' * holder.level}{holder.module}.{alias.name}"
    return [
        site.imported(f"from {module} import {function.attr} as {site.name}"),
        (*site.file.span(function), site.name),
    ]


def from_getattr(site: Site) -> list[Edit] | None:
    function = site.node.func if isinstance(site.node, ast.Call) else None
    if not isinstance(function, ast.Attribute):
        return None
    return [(*site.file.span(function), f'getattr({site.file.of(function.value)}, "{function.attr}")')]


def from_a_table(site: Site) -> list[Edit] | None:
    function = _is_imported(site)
    table = f'_TABLE{site.number or ""} = {{"part": {function and site.file.of(function)}}}'
    return function and [site.imported(table), (*site.file.span(function), f'_TABLE{site.number or ""}["part"]')]


def spread_arguments(site: Site) -> list[Edit] | None:
    """Positional arguments from a tuple, keywords from a dict."""
    node = site.node
    if not isinstance(node, ast.Call) or not (node.args or node.keywords):
        return None
    if any(isinstance(item, ast.Starred) for item in node.args) or any(item.arg is None for item in node.keywords):
        return None
    parts = [f"*({', '.join(map(site.file.of, node.args))},)"] if node.args else []
    if node.keywords:
        parts.append("**{" + ", ".join(f'"{item.arg}": {site.file.of(item.value)}' for item in node.keywords) + "}")
    return [site.replaced(f"{site.file.of(node.func)}({', '.join(parts)})")]


EXPRESSIONS: dict[str, Disguise] = {
    function.__name__.replace("_", "-"): function
    for function in (
        helper, three_helpers, keyword_helper, sibling_module, sibling_under_another_name, attribute_of_sibling, closure,
        named_lambda, called_lambda, module_lambda, partial, bound_method, static_method, callable_object, decorated_helper,
        default_argument, first_local, conditional, comprehension, generator, in_a_dict, in_a_tuple, walrus, local_alias,
        module_alias, from_import, from_getattr, from_a_table, spread_arguments,
    )
}  # fmt: skip
