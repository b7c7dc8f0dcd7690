"""Expressions, from the standard ``ast`` to :mod:`cutile_lint.frontends.syntax`.

Every span is made of ``ast``'s own (line, column) pairs. Columns of ``ast`` are UTF-8 bytes of the line, so an offset is
``line start + column`` whatever the file's line endings; only a BOM shifts the first line.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from cutile_lint.frontends import syntax as s
from cutile_lint.frontends.python.fstrings import field_spans
from cutile_lint.regex import regex
from cutile_lint.sources import Source, Span

#: deepest nesting of the tree (statements and expressions together; each term of ``a + b + …`` and each ``elif`` counts
#: as one). CPython allows 200 nested brackets and 100 indentations; behind it a file is refused, so that no walk overflows.
MAX_DEPTH = 200

#: before 3.12 ``ast`` places what stands in an f-string wrongly (always when it has several lines)
EXACT_FSTRINGS = sys.version_info >= (3, 12)

_LAST_IDENTIFIER = regex(rb"[A-Za-z0-9_\x80-\xff]+\Z")
#: what may stand between a callee and its ``(``: blanks, continuations, comments, closing parentheses of the callee
_BEFORE_ARGUMENTS = regex(rb"(?:[\s\\)]|#[^\r\n]*)*")

_COMMENT = regex(rb"#[^\r\n]*")
_NEW = tuple.__new__

BINARY: dict[type[ast.AST], str] = {
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


class Expressions:
    """Builds the expressions of one ``ast`` tree. ``bases[line - 1]`` is the byte offset of that line's column 0."""

    def __init__(self, source: Source, bases: list[int]) -> None:
        self.source = source
        self.data = source.data
        self.bases = bases
        self.depth = 0
        self.yields = False

    # ── shared ────────────────────────────────────────────────────────────

    def span(self, node: Any) -> Span:
        bases = self.bases
        ends = (bases[node.lineno - 1] + node.col_offset, bases[node.end_lineno - 1] + node.end_col_offset)
        return _NEW(Span, ends)  # as `Span(*ends)`, without the call in between: there is one for every node

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

    def slicing(self, node: ast.Slice) -> s.Slice:
        return s.Slice(self.span(node), self.maybe(node.lower), self.maybe(node.upper), self.maybe(node.step))

    def tuple_display(self, node: ast.Tuple) -> s.Sequence:
        return s.Sequence(self.span(node), "tuple", self.exprs(node.elts))

    def list_display(self, node: ast.List) -> s.Sequence:
        return s.Sequence(self.span(node), "list", self.exprs(node.elts))

    def set_display(self, node: ast.Set) -> s.Sequence:
        return s.Sequence(self.span(node), "set", self.exprs(node.elts))

    def dict_display(self, node: ast.Dict) -> s.Mapping:
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
            built = s.Binary(self.span(item), BINARY[type(item.op)], built, self.expr(item.right))
        return built  # type: ignore[return-value]

    def logic(self, node: ast.BoolOp) -> s.Logic:
        return s.Logic(self.span(node), "and" if type(node.op) is ast.And else "or", self.exprs(node.values))

    def compare(self, node: ast.Compare) -> s.Compare | s.Logic:
        span, operands = self.span(node), [self.expr(node.left), *self.exprs(node.comparators)]
        if len(operands) == 2:
            return s.Compare(span, _COMPARE[type(node.ops[0])], *operands)
        starts, ends = [span.start], []
        for left, right in itertools.pairwise(operands):  # with their parentheses
            between = _COMMENT.sub(_blank, self.data[left.span.end : right.span.start])
            closing, opening = between.rfind(b")") + 1, between.find(b"(")
            ends.append(left.span.end + closing)
            starts.append(right.span.start if opening == -1 else left.span.end + opening)
        ends = [*ends[1:], span.end]
        parts: list[s.Expr] = [
            s.Compare(Span(starts[index], ends[index]), _COMPARE[type(operator)], operands[index], operands[index + 1])
            for index, operator in enumerate(node.ops)
        ]
        return s.Logic(span, "and", parts)

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

    def formatted(self, node: ast.JoinedStr) -> s.Format:
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


def _blank(match: re.Match[bytes]) -> bytes:
    return b" " * len(match.group())


def _start(node: s.Node) -> int:
    return node.span.start


_COMPREHENSIONS = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict", ast.GeneratorExp: "generator"}

_Handler = Callable[[Expressions, Any], Any]
_EXPRESSIONS: dict[type[ast.AST], _Handler] = {
    ast.Name: Expressions.name,
    ast.Constant: Expressions.constant,
    ast.Attribute: Expressions.attribute,
    ast.Call: Expressions.call,
    ast.Subscript: Expressions.subscript,
    ast.Slice: Expressions.slicing,
    ast.Tuple: Expressions.tuple_display,
    ast.List: Expressions.list_display,
    ast.Set: Expressions.set_display,
    ast.Dict: Expressions.dict_display,
    ast.Starred: Expressions.starred,
    ast.UnaryOp: Expressions.unary,
    ast.Await: Expressions.wait,
    ast.BinOp: Expressions.binary,
    ast.BoolOp: Expressions.logic,
    ast.Compare: Expressions.compare,
    ast.IfExp: Expressions.conditional,
    ast.NamedExpr: Expressions.walrus,
    ast.Yield: Expressions.give,
    ast.YieldFrom: Expressions.give,
    ast.ListComp: Expressions.comprehension,
    ast.SetComp: Expressions.comprehension,
    ast.DictComp: Expressions.comprehension,
    ast.GeneratorExp: Expressions.comprehension,
    ast.JoinedStr: Expressions.formatted,
    ast.Lambda: Expressions.anonymous,
}
if hasattr(ast, "TemplateStr"):  # 3.14
    _EXPRESSIONS[ast.TemplateStr] = Expressions.template
