"""Helpers of these tests: read Rust text, show nodes as short text, check that spans are true."""

from __future__ import annotations

from pathlib import Path

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust import parse
from cutile_lint.sources import Source


def source(text: str | bytes) -> Source:
    return Source(Path("/suite/ffi.rs"), text.encode() if isinstance(text, str) else text)


def module(text: str | bytes) -> syntax.Module:
    return parse(source(text))


def body(text: str, returns: str = "-> i32") -> list[syntax.Stmt]:
    """The statements of a function with this body."""
    read = module(f"fn outer() {returns} {{ {text} }}")
    assert not read.faults, read.faults
    (definition,) = read.body
    assert isinstance(definition, syntax.FunctionDef)
    return definition.function.body


def value(text: str) -> syntax.Expr:
    """The expression ``text``."""
    (statement,) = body(f"let _v = {text};")
    assert isinstance(statement, syntax.Assign) and statement.value is not None
    return statement.value


def show(node: object) -> str:
    """A compact reading of expressions, patterns and statements."""
    match node:
        case None:
            return "-"
        case list() | tuple():
            return "[" + ", ".join(show(one) for one in node) + "]"
        case syntax.Name():
            return node.id
        case syntax.Const():
            return f"{node.value!r}{node.suffix}"
        case syntax.Attr():
            return f"{show(node.base)}.{node.name}"
        case syntax.Arg():
            return (f"{node.name}=" if node.name else "") + show(node.value)
        case syntax.Call():
            generics = f"::<{', '.join(node.generics)}>" if node.generics else ""
            return f"{show(node.func)}{generics}({', '.join(show(one) for one in node.args)})"
        case syntax.Unary():
            return f"({node.op} {show(node.operand)})"
        case syntax.Binary() | syntax.Compare():
            return f"({show(node.left)} {node.op} {show(node.right)})"
        case syntax.Logic():
            return "(" + f" {node.op} ".join(show(one) for one in node.items) + ")"
        case syntax.Sequence():
            return node.kind + show(node.items)
        case syntax.Repeat():
            return f"[{show(node.value)}; {show(node.count)}]"
        case syntax.Range():
            return f"{show(node.start)}{'..=' if node.inclusive else '..'}{show(node.end)}"
        case syntax.Cast():
            return f"({show(node.value)} as {node.type})"
        case syntax.Index():
            return f"{show(node.base)}[{show(node.index)}]"
        case syntax.Cond():
            return f"cond({show(node.test)}, {show(node.then)}, {show(node.orelse)})"
        case syntax.MatchExpr():
            return f"match({show(node.subject)}, {show(node.arms)})"
        case syntax.Arm():
            guard = f" if {show(node.guard)}" if node.guard else ""
            return ("$" if node.repeated else "") + f"{show(node.pattern)}{guard} => {show(node.body)}"
        case syntax.Block():
            label = f"'{node.label} " if node.label else ""
            return f"{label}block({show(node.body)}, {show(node.value)})"
        case syntax.PatternTest():
            guard = f" if {show(node.guard)}" if node.guard else ""
            return f"({show(node.value)} is {show(node.pattern)}{guard})"
        case syntax.Struct():
            return f"{node.name}{{{', '.join(f'{name}: {show(one)}' for name, one in node.items)}}}"
        case syntax.Lambda():
            return f"fn({', '.join(one.name for one in node.function.params)}) {show(node.function.body)}"
        case syntax.Jump():
            return f"jump({show(node.statement)})"
        case syntax.Links(base=base, link=link):
            return f"links({show(base)}, {show(link)})"
        case syntax.Opaque():
            return f"<{node.kind}>"
        case syntax.Pattern():
            return _pattern(node)
    return _statement(node)


def _pattern(node: syntax.Pattern) -> str:
    match node.kind:
        case "wildcard":
            return "_"
        case "rest":
            return ".."
        case "capture":
            return node.name + (f"@{show(node.items[0])}" if node.items else "")
        case "value" | "range":
            return f"={show(node.value)}"
        case "or":
            return " | ".join(show(one) for one in node.items)
        case "sequence":
            return show(node.items)
    fields = "{" + ", ".join(f"{name}: {show(one)}" for name, one in node.fields) + "}" if node.fields else ""
    return f"{node.name}{show(node.items)}{fields}"


def _statement(node: object) -> str:
    match node:
        case syntax.Assign():
            word = "let " if node.declares else ""
            orelse = f" else {show(node.orelse)}" if node.orelse else ""
            shown = show(node.targets[0]) if node.targets else show(node.pattern)
            return f"{word}{shown} {node.op}= {show(node.value)}{orelse}"
        case syntax.ExprStmt():
            return f"{show(node.value)};"
        case syntax.Result():
            return f"result {show(node.value)}"
        case syntax.Return():
            return f"{'tail' if node.implicit else 'return'} {show(node.value)}"
        case syntax.If():
            return f"if {show(node.test)} {show(node.body)} {show(node.orelse)}"
        case syntax.Match():
            return f"match {show(node.subject)} {show(node.arms)}"
        case syntax.For():
            return f"for {show(node.target)} in {show(node.iter)} {show(node.body)}"
        case syntax.While():
            return f"while {show(node.test)} {show(node.body)}"
        case syntax.Break():
            return f"break{' ' + node.label if node.label else ''} {show(node.value)}"
        case syntax.Continue():
            return f"continue {node.label}".strip()
        case syntax.Repetition():
            return f"${show(node.body)}"
        case syntax.MacroDef():
            return f"macro {node.name}"
        case syntax.FunctionDef():
            return f"fn {node.function.name}"
    raise AssertionError(f"no short form for {node!r}")


def text_of(read: syntax.Module, node: syntax.Node) -> str:
    return read.source.slice(node.span)


def calls(read: syntax.Module) -> dict[str, syntax.Call]:
    """Calls by the text of what is called (the last of equals)."""
    return {show(node.func): node for node in read.walk() if isinstance(node, syntax.Call)}


def macro(text: str, name: str = "m") -> syntax.MacroDef:
    """The macro ``name`` anywhere in the text."""
    read = module(text)
    assert not read.faults, read.faults
    return next(node for node in read.walk() if isinstance(node, syntax.MacroDef) and node.name == name)
