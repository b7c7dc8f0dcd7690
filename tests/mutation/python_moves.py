"""Rewrites that move Python functions: to a sibling module, into a class, out of the function around them; other forms of `kernel_fn`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .python_file import Edit, PythonFile, locals_of, needed_early, read_names
from .python_names import IMPORTS, binder


def split_module(file: PythonFile, module: str) -> tuple[str, str] | None:
    """What stays, and a module with the private functions and constants that the rest asks for."""
    body = file.tree.body
    words = {name for node in ast.walk(file.tree) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    moved: list[ast.stmt] = []
    for item in body:
        constant = isinstance(item, ast.Assign) and all(isinstance(target, ast.Name) for target in item.targets)
        private = isinstance(item, (ast.FunctionDef, ast.ClassDef)) and item.name.startswith("_") and not item.decorator_list
        names = [target.id for target in item.targets] if constant else [getattr(item, "name", "")]
        if (constant or private) and names[0].startswith("_") and not set(names) & words and not names[0].startswith("__"):
            moved.append(item)
    imports = [item for item in body if isinstance(item, IMPORTS)]
    while True:
        there = {name for item in (*moved, *imports) for name in _binds(item)}
        stay = {name for item in body if item not in moved and item not in imports for name in _binds(item)}
        keep = [item for item in moved if not ({n for n in read_names(item) if n in stay} - there)]
        if keep == moved:
            break
        moved = keep
    if not moved or not any(isinstance(item, ast.FunctionDef) for item in moved):
        return None
    bound = [name for item in moved for name in _binds(item)]
    used = [name for name in dict.fromkeys(bound) if any(name in read_names(item) for item in body if item not in moved)]
    if not used or len(bound) != len(set(bound)):
        return None
    place = file.after_imports()
    edits = [(*file.span(item), "") for item in moved]
    text = file.edited([(place, place, f"from .{module} import {', '.join(used)}\n"), *edits])
    needed = {name for item in moved for name in read_names(item)}
    parts = [file.of(item) for item in imports if needed & set(_binds(item))] + ["\n\n" + file.of(item) + "\n" for item in moved]
    return text, "\n".join(parts)


def _binds(item: ast.stmt) -> list[str]:
    if isinstance(item, IMPORTS):
        return [alias.asname or alias.name.partition(".")[0] for alias in item.names]
    if isinstance(item, ast.Assign):
        return [node.id for target in item.targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return [item.name] if isinstance(item, (ast.FunctionDef, ast.ClassDef)) else []


def into_a_class(file: PythonFile) -> str | None:
    """Private functions of the module become static methods."""
    edits: list[Edit] = []
    early = needed_early(file.tree, IMPORTS)
    for item in file.tree.body:
        private = isinstance(item, ast.FunctionDef) and item.name.startswith("_") and not item.decorator_list
        strings = [n for n in ast.walk(item) if isinstance(n, ast.Constant) and n.lineno != n.end_lineno]
        if not private or strings or item.name in early or item.name in file.in_strings:
            continue
        lines = file.of(item).split("\n")
        body = "\n".join(f"    {line}" if line.strip() else line for line in lines)
        edits.append((*file.span(item), f"class {item.name.strip('_').title()}Holder:\n    @staticmethod\n{body}"))
        if any(node.id == item.name for node in ast.walk(item) if isinstance(node, ast.Name)):
            return None
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Name) and node.id == item.name and binder(file, node) is None:
                edits.append((*file.span(node), f"{item.name.strip('_').title()}Holder.{item.name}"))
    try:
        return file.edited(edits) if edits else None
    except ValueError:  # functions that call each other
        return None


def lift_nested(file: PythonFile) -> str | None:
    """Functions inside of functions become functions of the module; what they took from around is bound by `partial`."""
    edits: list[Edit] = []
    for function in file.tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        for nested in [item for item in function.body if isinstance(item, ast.FunctionDef)]:
            begun = file.own_line(nested)
            words = [n for n in ast.walk(nested) if isinstance(n, (ast.Nonlocal, ast.Global))]
            strings = [n for n in ast.walk(nested) if isinstance(n, ast.Constant) and n.lineno != n.end_lineno]
            if nested.decorator_list or words or strings or begun is None or nested.name in file.in_strings:
                continue
            outer = locals_of(function)
            free = [name for name in read_names(nested) if name in outer and name != nested.name]
            siblings = {item.name for item in function.body if isinstance(item, ast.FunctionDef)}
            bound_later = {
                name
                for item in function.body[function.body.index(nested) + 1 :]
                for node in ast.walk(item)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
                for name in [node.id]
            }
            if set(free) & (siblings | bound_later) or nested.name in read_names(ast.Module(nested.body, [])):
                continue
            start, end = begun[0], file.span(nested)[1]
            lines = [line[len(begun[1]) :] for line in file.data[start:end].decode().split("\n")]
            head = f"def {nested.name}("
            if not lines[0].startswith(head):
                continue
            name = f"_{nested.name}_of_{function.name.strip('_')}"
            args = "".join(f"{item}, " for item in free)
            lines[0] = f"def {name}({args}{lines[0][len(head) :]}"
            top = file.line_start(file.span(function)[0])
            edits.append((top, top, "\n".join(lines) + "\n\n\n"))
            edits.append((start, end, f"{begun[1]}{nested.name} = _functools.partial({', '.join([name, *free])})"))
    place = file.after_imports()
    return file.edited([(place, place, "import functools as _functools\n"), *edits]) if edits else None


# ── what is given to the tuner ──


def _tuned(file: PythonFile) -> list[ast.expr]:
    """The functions that calls of the tuner get."""
    found = []
    for node in ast.walk(file.tree):
        name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
        if name == "autotune_launch":
            named = [item.value for item in node.keywords if item.arg == "kernel_fn"]
            found += named or [item for item in node.args[:1] if not isinstance(item, ast.Starred)]
    return found


def _given(form: str, top: str = "", imported: str = "") -> Callable[[PythonFile], str | None]:
    def change(file: PythonFile) -> str | None:
        places = _tuned(file)
        start = file.after_imports()
        edits = [(*file.span(node), form.format(file.of(node))) for node in places]
        return file.edited([(start, start, imported + top), *edits]) if places else None

    return change


_HOLDER = """

class _TimedTrial:
    def __init__(self, inner):
        self.inner = inner

    def {0}(self, cfg):
        return self.inner(cfg)


"""
_MAKER = """

def _timed_trial(inner):
    def run(cfg):
        return inner(cfg)

    return run


"""
TUNED = {
    "tuned-lambda": _given("lambda cfg: ({0})(cfg)"),
    "tuned-partial": _given("_partial({0})", imported="from functools import partial as _partial\n"),
    "tuned-method": _given("_TimedTrial({0}).run", _HOLDER.format("run")),
    "tuned-object": _given("_TimedTrial({0})", _HOLDER.format("__call__")),
    "tuned-closure": _given("_timed_trial({0})", _MAKER),
    "tuned-choice": _given("({0} if True else None)"),
}
