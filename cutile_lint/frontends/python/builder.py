"""From the standard ``ast`` to :mod:`cutile_lint.frontends.syntax`.

Every span is made of ``ast``'s own (line, column) pairs. Columns of ``ast`` are UTF-8 bytes of the line, so an offset is
``line start + column`` whatever the file's line endings; only a BOM shifts the first line.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from cutile_lint.frontends import syntax as s
from cutile_lint.frontends.python.fstrings import field_spans
from cutile_lint.sources import Source, Span

#: deepest nesting of the tree (statements and expressions together; each term of ``a + b + …`` and each ``elif`` counts
#: as one). CPython allows 200 nested brackets and 100 indentations; behind it a file is refused, so that no walk overflows.
MAX_DEPTH = 200

#: before 3.12 ``ast`` places what stands in an f-string wrongly (always when it has several lines)
EXACT_FSTRINGS = sys.version_info >= (3, 12)

_GAP = rb"(?:[ \t\f]|\\\r\n|\\[\r\n])+"
_DEF = re.compile(rb"(?:async" + _GAP + rb")?def" + _GAP)
_IDENTIFIER = re.compile(rb"[A-Za-z0-9_\x80-\xff]+")
_LAST_IDENTIFIER = re.compile(rb"[A-Za-z0-9_\x80-\xff]+\Z")
#: what may stand between a callee and its ``(``: blanks, continuations, comments, closing parentheses of the callee
_BEFORE_ARGUMENTS = re.compile(rb"(?:[\s\\)]|#[^\r\n]*)*")

_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^",
}  # fmt: skip
_UNARY: dict[type[ast.AST], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_COMPARE: dict[type[ast.AST], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


class TooDeepError(Exception):
    """The tree is nested deeper than :data:`MAX_DEPTH`."""


class Builder:
    """Builds the nodes of one ``ast`` tree. ``bases[line - 1]`` is the byte offset in ``source`` of column 0 of that line."""

    def __init__(self, source: Source, bases: list[int]) -> None:
        self.source = source
        self.data = source.data
        self.bases = bases
        self.depth = 0
        self.yields = False

    # ── shared ────────────────────────────────────────────────────────────

    def span(self, node: Any) -> Span:
        bases = self.bases
        return Span(bases[node.lineno - 1] + node.col_offset, bases[node.end_lineno - 1] + node.end_col_offset)

    def text(self, node: ast.expr | None) -> str:
        return "" if node is None else self.source.slice(self.span(node))

    def expr(self, node: ast.expr) -> s.Expr:
        if self.depth >= MAX_DEPTH:
            raise TooDeepError
        self.depth += 1
        built = _EXPRESSIONS[type(node)](self, node)
        self.depth -= 1
        return built

    def maybe(self, node: ast.expr | None) -> s.Expr | None:
        return None if node is None else self.expr(node)

    def exprs(self, nodes: Iterable[ast.expr]) -> list[s.Expr]:
        return [self.expr(node) for node in nodes]

    def body(self, nodes: Iterable[ast.stmt]) -> list[s.Stmt]:
        if self.depth >= MAX_DEPTH:
            raise TooDeepError
        self.depth += 1
        built = [_STATEMENTS[type(node)](self, node) for node in nodes]
        self.depth -= 1
        return built

    def before(self, word: bytes, offset: int) -> int:
        """Offset of the keyword that introduces what starts at ``offset`` (only blanks and ``(`` stand between them)."""
        found = self.data.rfind(word, 0, offset)
        return offset if found == -1 else found

    # ── expressions ───────────────────────────────────────────────────────

    def name(self, node: ast.Name) -> s.Name:
        return s.Name(self.span(node), node.id)

    def constant(self, node: ast.Constant) -> s.Const:
        return s.Const(self.span(node), node.value)

    def attribute(self, node: ast.Attribute) -> s.Attr:
        span = self.span(node)
        start = span.end - len(node.attr)
        if self.data[start : span.end] != node.attr.encode():  # not ASCII, or normalised by the parser (NFKC)
            found = _LAST_IDENTIFIER.search(self.data, span.start, span.end)
            start = found.start() if found else start
        return s.Attr(span, self.expr(node.value), node.attr, Span(start, span.end))

    def call(self, node: ast.Call) -> s.Call:
        func = self.expr(node.func)
        span = self.span(node)
        opening = func.span.end
        if self.data[opening] != 0x28:
            between = _BEFORE_ARGUMENTS.match(self.data, opening)
            opening = between.end() if between else opening
        args = [self.argument(item) for item in node.args]
        if node.keywords:
            args.extend(map(self.keyword, node.keywords))
            args.sort(key=_start)  # `f(a=1, *b)`: the tree keeps source order
        return s.Call(span, func, args, args_span=Span(opening, span.end))

    def argument(self, node: ast.expr) -> s.Arg:
        if type(node) is ast.Starred:
            return s.Arg(self.span(node), self.expr(node.value), None, "*")
        value = self.expr(node)
        return s.Arg(value.span, value)

    def keyword(self, node: ast.keyword) -> s.Arg:
        return s.Arg(self.span(node), self.expr(node.value), node.arg, "" if node.arg else "**")

    def subscript(self, node: ast.Subscript) -> s.Index:
        return s.Index(self.span(node), self.expr(node.value), self.expr(node.slice))

    def slice(self, node: ast.Slice) -> s.Slice:
        return s.Slice(self.span(node), self.maybe(node.lower), self.maybe(node.upper), self.maybe(node.step))

    def tuple(self, node: ast.Tuple) -> s.Sequence:
        return s.Sequence(self.span(node), "tuple", self.exprs(node.elts))

    def list(self, node: ast.List) -> s.Sequence:
        return s.Sequence(self.span(node), "list", self.exprs(node.elts))

    def set(self, node: ast.Set) -> s.Sequence:
        return s.Sequence(self.span(node), "set", self.exprs(node.elts))

    def dict(self, node: ast.Dict) -> s.Mapping:
        items = [(self.maybe(key), self.expr(value)) for key, value in zip(node.keys, node.values, strict=True)]
        return s.Mapping(self.span(node), items)

    def starred(self, node: ast.Starred) -> s.Unary:
        return s.Unary(self.span(node), "*splat", self.expr(node.value))

    def unary(self, node: ast.UnaryOp) -> s.Unary:
        return s.Unary(self.span(node), _UNARY[type(node.op)], self.expr(node.operand))

    def wait(self, node: ast.Await) -> s.Unary:
        return s.Unary(self.span(node), "await", self.expr(node.value))

    def binary(self, node: ast.BinOp) -> s.Binary:
        chain = [node]
        while type(left := chain[-1].left) is ast.BinOp:
            chain.append(left)
        if self.depth + len(chain) > MAX_DEPTH:
            raise TooDeepError
        built = self.expr(left)
        for item in reversed(chain):
            built = s.Binary(self.span(item), _BINARY[type(item.op)], built, self.expr(item.right))
        return built  # type: ignore[return-value]

    def logic(self, node: ast.BoolOp) -> s.Logic:
        return s.Logic(self.span(node), "and" if type(node.op) is ast.And else "or", self.exprs(node.values))

    def compare(self, node: ast.Compare) -> s.Compare | s.Logic:
        left = self.expr(node.left)
        parts: list[s.Expr] = []
        for operator, item in zip(node.ops, node.comparators, strict=True):
            right = self.expr(item)
            parts.append(s.Compare(Span(left.span.start, right.span.end), _COMPARE[type(operator)], left, right))
            left = right
        span = self.span(node)
        if len(parts) > 1:
            return s.Logic(span, "and", parts)
        parts[0].span = span  # with the parentheses around its ends
        return parts[0]  # type: ignore[return-value]

    def conditional(self, node: ast.IfExp) -> s.Cond:
        return s.Cond(self.span(node), self.expr(node.test), self.expr(node.body), self.expr(node.orelse))

    def walrus(self, node: ast.NamedExpr) -> s.Walrus:
        return s.Walrus(self.span(node), self.name(node.target), self.expr(node.value))

    def give(self, node: ast.Yield | ast.YieldFrom) -> s.Yield:
        self.yields = True
        return s.Yield(self.span(node), self.maybe(node.value), type(node) is ast.YieldFrom)

    def comprehension(self, node: Any) -> s.Comprehension:
        kind = _COMPREHENSIONS[type(node)]
        key = self.expr(node.key) if kind == "dict" else None
        element = self.expr(node.value if kind == "dict" else node.elt)
        return s.Comprehension(self.span(node), kind, key, element, [self.clause(item) for item in node.generators])

    def clause(self, node: ast.comprehension) -> s.Clause:
        target, iterated, conditions = self.expr(node.target), self.expr(node.iter), self.exprs(node.ifs)
        last = conditions[-1] if conditions else iterated
        return s.Clause(Span(self.before(b"for", target.span.start), last.span.end), target, iterated, conditions)

    def format(self, node: ast.JoinedStr) -> s.Format:
        span = self.span(node)
        fields = None if EXACT_FSTRINGS else iter(field_spans(self.data, span))
        parts: list[s.Expr] = []
        for item in node.values:
            if type(item) is not ast.FormattedValue:
                parts.append(s.Const(span, getattr(item, "value", "")))
            elif fields is None:
                parts.append(self.expr(item.value))
            else:
                parts.append(self.relocated(next(fields)))
        return s.Format(span, parts)

    def relocated(self, span: Span) -> s.Expr:
        """The expression at ``span``, parsed again in place (it stands in an f-string)."""
        text = self.source.slice(span)
        tree = ast.parse(f"({text}\n)", mode="eval")
        starts = [0, *(match.end() for match in re.finditer(rb"\r\n?|\n", self.data[span.start : span.end]))]
        bases = [span.start + start for start in starts]
        bases[0] -= 1  # for the parenthesis
        outer, self.bases = self.bases, bases
        try:
            return self.expr(tree.body)
        finally:
            self.bases = outer

    def template(self, node: Any) -> s.Opaque:
        span = self.span(node)
        parts = [self.expr(item.value) if hasattr(item, "conversion") else s.Const(span, item.value) for item in node.values]
        return s.Opaque(span, "template", parts)

    def anonymous(self, node: ast.Lambda) -> s.Lambda:
        span, params = self.span(node), self.params(node.args)
        outer, self.yields = self.yields, False
        value = self.expr(node.body)
        function = s.Function(span, "", params, [s.Return(value.span, value, True)], is_generator=self.yields)
        self.yields = outer
        return s.Lambda(span, function)

    # ── functions and classes ─────────────────────────────────────────────

    def params(self, node: ast.arguments) -> list[s.Param]:
        plain = [*node.posonlyargs, *node.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(node.defaults)) + node.defaults  # type: ignore[operator]
        first = len(node.posonlyargs)
        params = [
            self.param(item, "positional_only" if index < first else "positional", default)
            for index, (item, default) in enumerate(zip(plain, defaults, strict=True))
        ]
        if node.vararg:
            params.append(self.param(node.vararg, "*"))
        params.extend(
            self.param(item, "keyword", default) for item, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)
        )
        if node.kwarg:
            params.append(self.param(node.kwarg, "**"))
        return params

    def param(self, node: ast.arg, kind: str, default: ast.expr | None = None) -> s.Param:
        span, value = self.span(node), self.maybe(default)
        if value is not None:
            span = Span(span.start, value.span.end)
        noted = self.span(node.annotation) if node.annotation else None
        return s.Param(span, node.arg, self.source.slice(noted) if noted else "", value, kind, annotation_span=noted)

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
        return s.Assign(self.span(node), [self.expr(node.target)], self.expr(node.value), op=_BINARY[type(node.op)])

    def annotated(self, node: ast.AnnAssign) -> s.Assign:
        targets, value = [self.expr(node.target)], self.maybe(node.value)
        return s.Assign(self.span(node), targets, value, declares=True, annotation=self.text(node.annotation))

    def alias(self, node: Any) -> s.Assign:
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

    def match(self, node: ast.Match) -> s.Match:
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


def _start(node: s.Node) -> int:
    return node.span.start


_COMPREHENSIONS = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict", ast.GeneratorExp: "generator"}

_Handler = Callable[[Builder, Any], Any]
_EXPRESSIONS: dict[type[ast.AST], _Handler] = {
    ast.Name: Builder.name, ast.Constant: Builder.constant, ast.Attribute: Builder.attribute, ast.Call: Builder.call,
    ast.Subscript: Builder.subscript, ast.Slice: Builder.slice, ast.Tuple: Builder.tuple, ast.List: Builder.list,
    ast.Set: Builder.set, ast.Dict: Builder.dict, ast.Starred: Builder.starred, ast.UnaryOp: Builder.unary,
    ast.Await: Builder.wait, ast.BinOp: Builder.binary, ast.BoolOp: Builder.logic, ast.Compare: Builder.compare,
    ast.IfExp: Builder.conditional, ast.NamedExpr: Builder.walrus, ast.Yield: Builder.give, ast.YieldFrom: Builder.give,
    ast.ListComp: Builder.comprehension, ast.SetComp: Builder.comprehension, ast.DictComp: Builder.comprehension,
    ast.GeneratorExp: Builder.comprehension, ast.JoinedStr: Builder.format, ast.Lambda: Builder.anonymous,
}  # fmt: skip
_STATEMENTS: dict[type[ast.AST], _Handler] = {
    ast.FunctionDef: Builder.function, ast.AsyncFunctionDef: Builder.function, ast.ClassDef: Builder.klass,
    ast.Expr: Builder.statement, ast.Assign: Builder.assign, ast.AugAssign: Builder.augmented, ast.AnnAssign: Builder.annotated,
    ast.If: Builder.branch, ast.For: Builder.loop, ast.AsyncFor: Builder.loop, ast.While: Builder.repeat,
    ast.Return: Builder.leave, ast.Raise: Builder.throw, ast.Assert: Builder.check, ast.Delete: Builder.delete,
    ast.Global: Builder.scope, ast.Nonlocal: Builder.scope, ast.Pass: Builder.nothing, ast.Break: Builder.stop,
    ast.Continue: Builder.again, ast.With: Builder.context, ast.AsyncWith: Builder.context, ast.Try: Builder.attempt,
    ast.Match: Builder.match, ast.Import: Builder.importing, ast.ImportFrom: Builder.importing_from,
}  # fmt: skip
for _name, _handler, _table in (
    ("TryStar", Builder.attempt, _STATEMENTS),  # 3.11
    ("TypeAlias", Builder.alias, _STATEMENTS),  # 3.12
    ("TemplateStr", Builder.template, _EXPRESSIONS),  # 3.14
):
    if hasattr(ast, _name):
        _table[getattr(ast, _name)] = _handler
