"""Rewrites of a whole Python file that change its shape: order, nesting, layout, what stands in functions."""

from __future__ import annotations

import ast
import subprocess
import sys

from .python_file import Edit, PythonFile, locals_of, needed_early, parameters, read_names


def unparsed(file: PythonFile) -> str | None:
    """As Python prints its own tree: other quotes, parentheses and line breaks, no comments."""
    return None if "cutile-lint" in file.text else ast.unparse(file.tree) + "\n"


def narrow(file: PythonFile) -> str:
    """As ruff formats it for short lines."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--no-cache", "--isolated", "--line-length", "50", "-"]
    return subprocess.run(command, input=file.data, capture_output=True, check=True).stdout.decode()


def reverse_keywords(file: PythonFile) -> str | None:
    edits: list[Edit] = []
    taken: set[ast.AST] = set()
    for node in reversed(list(ast.walk(file.tree))):
        if not isinstance(node, ast.Call) or len(node.keywords) < 2 or any(item.arg is None for item in node.keywords):
            continue
        strings = any(isinstance(item, ast.JoinedStr) for item in file.above(node))
        if strings or any(sub in taken for sub in ast.walk(node)):
            continue
        taken.add(node)
        spans = [file.span(item) for item in node.keywords]
        edits += [(*span, file.data[slice(*other)].decode()) for span, other in zip(spans, reversed(spans), strict=True)]
    return file.edited(edits) if edits else None


def pass_by_keyword(file: PythonFile) -> str | None:
    """Arguments of the module's own functions are named where they are passed."""
    functions = {item.name: item for item in file.tree.body if isinstance(item, ast.FunctionDef) and not item.decorator_list}
    edits: list[Edit] = []
    for node in ast.walk(file.tree):
        function = functions.get(node.func.id) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
        if function is None or function.args.vararg or function.args.posonlyargs or not node.args:
            continue
        if any(isinstance(item, ast.Starred) for item in node.args) or len(node.args) > len(function.args.args):
            continue
        if any(node.func.id in locals_of(scope) for scope in file.enclosing(node)):
            continue
        for value, arg in zip(node.args, function.args.args, strict=False):
            start = file.span(value)[0]
            if file.data[:start].rstrip().endswith(b"("):
                start -= 0 if value is node.args[0] else 1
            edits.append((start, start, f"{arg.arg}="))
    text = file.edited(edits) if edits else None
    return text if text and _parses(text) else None


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _passed_on(function: ast.FunctionDef) -> str:
    args = function.args
    given = [item.arg for item in (*args.posonlyargs, *args.args)] + ([f"*{args.vararg.arg}"] if args.vararg else [])
    given += [f"{item.arg}={item.arg}" for item in args.kwonlyargs] + ([f"**{args.kwarg.arg}"] if args.kwarg else [])
    return ", ".join(given)


def _is_generator(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in ast.walk(function))


def wrap_bodies(file: PythonFile) -> str | None:
    """Every function of the module hands its parameters to another one, which has its body."""
    edits: list[Edit] = []
    for function in file.tree.body:
        if not isinstance(function, ast.FunctionDef) or _is_generator(function) or function.name.startswith("test"):
            continue
        if file.own_line(function.body[0]) is None or any(item.arg in file.in_strings for item in parameters(function)[:0]):
            continue
        bare = ast.arguments(**{name: getattr(function.args, name) for name in function.args._fields})
        bare = ast.parse(f"def f({ast.unparse(bare)}): pass").body[0].args
        for item in (*bare.posonlyargs, *bare.args, *bare.kwonlyargs):
            item.annotation = None
        start, end = file.span(function)
        body = file.own_line(function.body[0])[0]
        head = file.data[start:body].decode()
        inner = f"_{function.name.strip('_')}_body"
        call = f"    return {inner}({_passed_on(function)})"
        text = f"def {inner}({ast.unparse(bare)}):\n{file.data[body:end].decode()}\n\n\n{head}{call}"
        edits.append((start, end, text))
    return file.edited(edits) if edits else None


def decorate(file: PythonFile) -> str | None:
    """Private and nested functions get a decorator that hands everything on."""
    edits: list[Edit] = []
    for function in file.functions():
        scopes = file.enclosing(function)
        private = function.name.startswith("_") if not scopes else isinstance(scopes[0], ast.FunctionDef)
        begun = file.own_line(function)
        if private and not function.decorator_list and begun and not _is_generator(function):
            edits.append((begun[0], begun[0], f"{begun[1]}@_handed_on\n"))
    inner = "    @_wraps(function)\n    def inner(*args, **kwargs):\n        return function(*args, **kwargs)\n\n    return inner\n\n\n"
    place = file.after_imports()
    text = f"from functools import wraps as _wraps\n\n\ndef _handed_on(function):\n{inner}"
    return file.edited([(place, place, text), *edits]) if edits else None


def inline_functions(file: PythonFile) -> str | None:
    """Calls of functions that only return an expression become that expression, where the arguments are plain."""
    bodies: dict[str, tuple[ast.FunctionDef, ast.expr]] = {}
    for item in file.tree.body:
        if isinstance(item, ast.FunctionDef) and not item.decorator_list and isinstance(item.body[-1], ast.Return):
            documented = (
                len(item.body) == 2 and isinstance(item.body[0], ast.Expr) and isinstance(item.body[0].value, ast.Constant)
            )
            value = item.body[-1].value
            simple = (len(item.body) == 1 or documented) and value is not None
            if simple and not any(
                isinstance(node, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.JoinedStr)) for node in ast.walk(value)
            ):
                bodies[item.name] = (item, value)
    edits: list[Edit] = []
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in bodies or node.keywords:
            continue
        function, value = bodies[node.func.id]
        names = [item.arg for item in function.args.args]
        plain = all(isinstance(item, (ast.Name, ast.Constant, ast.Attribute)) for item in node.args)
        if not plain or len(names) != len(node.args) or len(parameters(function)) != len(names) or not file.enclosing(node):
            continue
        hidden = set().union(*(locals_of(scope) for scope in file.enclosing(node)))
        if (set(read_names(value)) - set(names)) & hidden or any(isinstance(item, ast.JoinedStr) for item in file.above(node)):
            continue
        given = {name: file.of(item) for name, item in zip(names, node.args, strict=True)}
        start = file.span(value)[0]
        inner = [
            (s - start, e - start, f"{given[n.id]}")
            for n in ast.walk(value)
            if isinstance(n, ast.Name) and n.id in given
            for s, e in [file.span(n)]
        ]
        data = file.of(value).encode()
        for s, e, new in sorted(inner, reverse=True):
            data = data[:s] + new.encode() + data[e:]
        edits.append((*file.span(node), f"({data.decode()})"))
    return file.edited(edits) if edits else None


def reorder_functions(file: PythonFile) -> str | None:
    """The functions of the module that nothing needs while it is imported, in the opposite order."""
    early = needed_early(file.tree)
    moved = [f for f in file.tree.body if isinstance(f, ast.FunctionDef) and not f.decorator_list and f.name not in early]
    if len(moved) < 2 or len({item.name for item in moved}) < len(moved):
        return None
    return file.edited([(*file.span(item), file.of(other)) for item, other in zip(moved, reversed(moved), strict=True)])


#: calls that may change places with each other
_QUIET = {"int", "float", "max", "min", "make_tensor_desc", "_cdiv", "bool", "str"}


def swap_statements(file: PythonFile) -> str | None:
    """Neighbours that bind a local each, and do not use each other's, change places."""
    edits: list[Edit] = []
    for function in file.functions():
        body = list(function.body)
        while len(body) > 1:
            first, second = body[0], body[1]
            if _is_quiet(first) and _is_quiet(second) and _independent(first, second):
                edits += [(*file.span(first), file.of(second)), (*file.span(second), file.of(first))]
                body = body[2:]
            else:
                body = body[1:]
    return file.edited(edits) if edits else None


def _is_quiet(item: ast.stmt) -> bool:
    if not isinstance(item, ast.Assign) or len(item.targets) != 1 or not isinstance(item.targets[0], ast.Name):
        return False
    calls = [node.func for node in ast.walk(item.value) if isinstance(node, ast.Call)]
    return all(isinstance(call, ast.Name) and call.id in _QUIET for call in calls)


def _independent(first: ast.Assign, second: ast.Assign) -> bool:
    one, two = first.targets[0].id, second.targets[0].id
    return one != two and one not in read_names(second.value) and two not in read_names(first.value)


def unrelated_code(file: PythonFile) -> str:
    """More code that has nothing to do with the op."""
    place = file.after_imports()
    more = (
        '\n\n_UNRELATED_TABLE = {name: len(name) for name in ("zeros", "clone", "synchronize")}\n\n\n'
        'class _Unrelated:\n    """Calls torch.zeros(4) in words only."""\n\n    def __init__(self, size=3):\n        self.size = size\n\n'
        "    def zeros(self):\n        return [0] * self.size\n\n    def clone(self):\n        return _Unrelated(self.size)\n\n\n"
        'def _unrelated_report(values):\n    lines = [f"{key}: {value}" for key, value in sorted(values.items())]\n'
        "    for line in lines:\n        print(line)\n    return len(lines)\n"
    )
    end = "" if file.text.endswith("\n") or not file.text else "\n"
    tail = '\n\nif __name__ == "__main__":\n    _unrelated_report(_UNRELATED_TABLE)\n    print(_Unrelated(2).clone().zeros())\n'
    return file.edited([(place, place, more + "\n\n")]) + end + tail


def invert_ifs(file: PythonFile) -> str | None:
    """`if a: b` becomes `if not (a): pass else: b`."""
    edits: list[Edit] = []
    taken: list[tuple[int, int]] = []
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.If) or node.orelse or file.own_line(node) is None or file.own_line(node.body[0]) is None:
            continue
        start, end = file.span(node)
        if any(s <= start < e for s, e in taken) or not file.enclosing(node):
            continue
        taken.append((start, end))
        indent = file.own_line(node)[1]
        body = file.own_line(node.body[0])[0]
        text = f"if not ({file.of(node.test)}):\n{indent}    pass\n{indent}else:\n{file.data[body:end].decode()}"
        edits.append((start, end, text))
    return file.edited(edits) if edits else None


def conditional_statements(file: PythonFile) -> str | None:
    """`x = a if c else b` becomes an `if` statement."""
    edits: list[Edit] = []
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.IfExp) or file.own_line(node) is None:
            continue
        indent, target, value = file.own_line(node)[1], " = ".join(map(file.of, node.targets)), node.value
        body, other = (f"{indent}    {target} = {file.of(part)}" for part in (value.body, value.orelse))
        text = f"if {file.of(value.test)}:\n{body}\n{indent}else:\n{other}"
        edits.append((*file.span(node), text))
    return file.edited(edits) if edits else None
