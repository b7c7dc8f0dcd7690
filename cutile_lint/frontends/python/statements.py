"""Statements, definitions and patterns, from the standard ``ast`` to :mod:`cutile_lint.frontends.syntax`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from cutile_lint.frontends import syntax as s
from cutile_lint.frontends.python.expressions import BINARY, MAX_DEPTH, Expressions, TooDeepError
from cutile_lint.regex import regex
from cutile_lint.sources import Span

_GAP = rb"(?:[ \t\f]|\\\r\n|\\[\r\n])+"
_DEF = regex(rb"(?:async" + _GAP + rb")?def" + _GAP)
_IDENTIFIER = regex(rb"[A-Za-z0-9_\x80-\xff]+")


class Builder(Expressions):
    """Builds the whole tree: :meth:`body` of the module's statements."""

    def body(self, nodes: Iterable[ast.stmt]) -> list[s.Stmt]:
        if self.depth >= MAX_DEPTH:
            raise TooDeepError
        self.depth += 1
        built = [_STATEMENTS[type(node)](self, node) for node in nodes]
        self.depth -= 1
        return built

    # ── functions and classes ─────────────────────────────────────────────

    def generics(self, node: Any) -> list[s.Generic]:
        """Type parameters (``def f[T: int]``, from Python 3.12 on)."""
        parameters = getattr(node, "type_params", ())
        return [s.Generic(self.span(item), item.name, "type", self.text(getattr(item, "bound", None))) for item in parameters]

    def decorators(self, node: Any, span: Span) -> tuple[list[s.Expr], Span]:
        """The decorators, and the span of the definition with them."""
        if not node.decorator_list:
            return [], span
        decorators = self.exprs(node.decorator_list)
        return decorators, Span(self.before(b"@", decorators[0].span.start), span.end)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> s.FunctionDef:
        span = self.span(node)
        decorators, whole = self.decorators(node, span)
        params = self.params(node.args)
        outer, self.yields = self.yields, False
        body = self.body(node.body)
        function = s.Function(
            span,
            node.name,
            params,
            body,
            decorators,
            generics=self.generics(node),
            returns=self.text(node.returns),
            is_async=type(node) is ast.AsyncFunctionDef,
            is_generator=self.yields,
            is_public=not node.name.startswith("_"),
            name_span=self.defined_name(span),
            docstring=docstring(body),
        )
        self.yields = outer
        return s.FunctionDef(whole, function)

    def defined_name(self, span: Span) -> Span | None:
        word = _DEF.match(self.data, span.start)
        name = _IDENTIFIER.match(self.data, word.end()) if word else None
        return Span(name.start(), name.end()) if name else None

    def klass(self, node: ast.ClassDef) -> s.ClassDef:
        decorators, whole = self.decorators(node, self.span(node))
        bases = [*self.exprs(node.bases), *(self.expr(item.value) for item in node.keywords)]
        return s.ClassDef(whole, node.name, bases, self.body(node.body), decorators)

    # ── statements ────────────────────────────────────────────────────────

    def statement(self, node: ast.Expr) -> s.ExprStmt:
        return s.ExprStmt(self.span(node), self.expr(node.value))

    def assign(self, node: ast.Assign) -> s.Assign:
        return s.Assign(self.span(node), self.exprs(node.targets), self.expr(node.value))

    def augmented(self, node: ast.AugAssign) -> s.Assign:
        return s.Assign(self.span(node), [self.expr(node.target)], self.expr(node.value), op=BINARY[type(node.op)])

    def annotated(self, node: ast.AnnAssign) -> s.Assign:
        targets, value = [self.expr(node.target)], self.maybe(node.value)
        return s.Assign(self.span(node), targets, value, declares=True, annotation=self.text(node.annotation))

    def type_alias(self, node: Any) -> s.Assign:
        """``type X = …`` (from Python 3.12 on)."""
        return s.Assign(self.span(node), [self.expr(node.name)], self.expr(node.value), declares=True, annotation="type")

    def branch(self, node: ast.If) -> s.If:
        return s.If(self.span(node), self.expr(node.test), self.body(node.body), self.body(node.orelse))

    def loop(self, node: ast.For | ast.AsyncFor) -> s.For:
        target, iterated = self.expr(node.target), self.expr(node.iter)
        return s.For(self.span(node), target, iterated, self.body(node.body), self.body(node.orelse))

    def repeat(self, node: ast.While) -> s.While:
        return s.While(self.span(node), self.expr(node.test), self.body(node.body), self.body(node.orelse))

    def leave(self, node: ast.Return) -> s.Return:
        return s.Return(self.span(node), self.maybe(node.value))

    def throw(self, node: ast.Raise) -> s.Raise:
        return s.Raise(self.span(node), self.maybe(node.exc), self.maybe(node.cause))

    def check(self, node: ast.Assert) -> s.Assert:
        return s.Assert(self.span(node), self.expr(node.test), self.maybe(node.msg))

    def delete(self, node: ast.Delete) -> s.Delete:
        return s.Delete(self.span(node), self.exprs(node.targets))

    def scope(self, node: ast.Global | ast.Nonlocal) -> s.Scope:
        return s.Scope(self.span(node), "global" if type(node) is ast.Global else "nonlocal", node.names)

    def nothing(self, node: ast.Pass) -> s.Pass:
        return s.Pass(self.span(node))

    def stop(self, node: ast.Break) -> s.Break:
        return s.Break(self.span(node))

    def again(self, node: ast.Continue) -> s.Continue:
        return s.Continue(self.span(node))

    def context(self, node: ast.With | ast.AsyncWith) -> s.With:
        items: list[s.WithItem] = []
        for item in node.items:
            value, target = self.expr(item.context_expr), self.maybe(item.optional_vars)
            items.append(s.WithItem(Span(value.span.start, (target or value).span.end), value, target))
        return s.With(self.span(node), items, self.body(node.body))

    def attempt(self, node: Any) -> s.Try:
        handlers = [s.Handler(self.span(item), self.maybe(item.type), item.name, self.body(item.body)) for item in node.handlers]
        return s.Try(self.span(node), self.body(node.body), handlers, self.body(node.orelse), self.body(node.finalbody))

    def importing(self, node: ast.Import) -> s.Import:
        """The alias of ``import a.b`` is "": it binds the package ``a``, not the module ``a.b``."""
        names = [
            s.ImportName(self.span(item), item.name, None, item.asname or ("" if "." in item.name else item.name))
            for item in node.names
        ]
        return s.Import(self.span(node), names)

    def importing_from(self, node: ast.ImportFrom) -> s.Import:
        module = node.module or ""
        names = [s.ImportName(self.span(item), module, item.name, item.asname or item.name) for item in node.names]
        return s.Import(self.span(node), names, node.level)

    # ── match ─────────────────────────────────────────────────────────────

    def matching(self, node: ast.Match) -> s.Match:
        return s.Match(self.span(node), self.expr(node.subject), [self.arm(item) for item in node.cases])

    def arm(self, node: ast.match_case) -> s.Arm:
        pattern, guard, body = self.pattern(node.pattern), self.maybe(node.guard), self.body(node.body)
        return s.Arm(Span(self.before(b"case", pattern.span.start), body[-1].span.end), pattern, guard, body)

    def pattern(self, node: Any) -> s.Pattern:
        if self.depth >= MAX_DEPTH:
            raise TooDeepError
        self.depth += 1
        built = self.pattern_of_kind(node, self.span(node))
        self.depth -= 1
        return built

    def pattern_of_kind(self, node: Any, span: Span) -> s.Pattern:
        kind = type(node)
        if kind is ast.MatchValue:
            return s.Pattern(span, "value", value=self.expr(node.value))
        if kind is ast.MatchSingleton:
            return s.Pattern(span, "value", value=s.Const(span, node.value))
        if kind is ast.MatchAs:
            items = [self.pattern(node.pattern)] if node.pattern else []
            return s.Pattern(span, "capture" if node.name else "wildcard", node.name or "", items=items)
        if kind is ast.MatchStar:
            return s.Pattern(span, "rest", node.name or "")
        if kind is ast.MatchMapping:
            fields = [(self.text(key), self.pattern(item)) for key, item in zip(node.keys, node.patterns, strict=True)]
            rest = [s.Pattern(span, "rest", node.rest)] if node.rest else []
            return s.Pattern(span, "mapping", items=rest, fields=fields)
        items = [self.pattern(item) for item in node.patterns]
        if kind is ast.MatchClass:
            fields = [(name, self.pattern(item)) for name, item in zip(node.kwd_attrs, node.kwd_patterns, strict=True)]
            return s.Pattern(span, "constructor", self.text(node.cls), items=items, fields=fields)
        return s.Pattern(span, "or" if kind is ast.MatchOr else "sequence", items=items)


def docstring(body: list[s.Stmt]) -> str:
    """The docstring that a body starts with, as written; "" without one."""
    if body and isinstance(body[0], s.ExprStmt) and isinstance(body[0].value, s.Const) and isinstance(body[0].value.value, str):
        return body[0].value.value
    return ""


_Handler = Callable[[Builder, Any], Any]
_STATEMENTS: dict[type[ast.AST], _Handler] = {
    ast.FunctionDef: Builder.function, ast.AsyncFunctionDef: Builder.function, ast.ClassDef: Builder.klass,
    ast.Expr: Builder.statement, ast.Assign: Builder.assign, ast.AugAssign: Builder.augmented, ast.AnnAssign: Builder.annotated,
    ast.If: Builder.branch, ast.For: Builder.loop, ast.AsyncFor: Builder.loop, ast.While: Builder.repeat,
    ast.Return: Builder.leave, ast.Raise: Builder.throw, ast.Assert: Builder.check, ast.Delete: Builder.delete,
    ast.Global: Builder.scope, ast.Nonlocal: Builder.scope, ast.Pass: Builder.nothing, ast.Break: Builder.stop,
    ast.Continue: Builder.again, ast.With: Builder.context, ast.AsyncWith: Builder.context, ast.Try: Builder.attempt,
    ast.Match: Builder.matching, ast.Import: Builder.importing, ast.ImportFrom: Builder.importing_from,
}  # fmt: skip
for _name, _handler in (("TryStar", Builder.attempt), ("TypeAlias", Builder.type_alias)):  # 3.11, 3.12
    if hasattr(ast, _name):
        _STATEMENTS[getattr(ast, _name)] = _handler
