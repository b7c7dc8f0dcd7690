"""Statements and blocks.

A block is read for what its tail is worth (:class:`Tail`): the value of a function or closure, the value of an arm or of an
expression, or nothing. In a block worth nothing, a tail ``if``/``match`` is an :class:`If`/:class:`Match` like any other in
statement position.
"""

from __future__ import annotations

from enum import Enum

from tree_sitter import Node

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust import attributes
from cutile_lint.frontends.rust.patterns import target
from cutile_lint.frontends.rust.reader import COMMENTS, ITEMS, STATEMENTS, Reader, parts
from cutile_lint.sources import Span


class Tail(Enum):
    """What the last expression of a block is."""

    RETURN = "the value of a function"
    RESULT = "the value of an arm, a macro or a block"
    NOTHING = "not used"


def read_block(reader: Reader, block: Node, tail: Tail) -> list[syntax.Stmt]:
    """The statements of a ``{ … }`` node; of a metavariable ``$b:block`` that stands for one, its name."""
    if reader.is_metavariable(block):
        name = reader.name(block)
        if tail is Tail.NOTHING:
            return [syntax.ExprStmt(name.span, name)]
        return [syntax.Return(name.span, name, implicit=True) if tail is Tail.RETURN else syntax.Result(name.span, name)]
    return read_all(reader, block.named_children, tail)


def read_all(reader: Reader, nodes: list[Node], tail: Tail = Tail.NOTHING) -> list[syntax.Stmt]:
    """Statements and items in order; those of a repetition ``$( … )*`` are wrapped in :class:`Repetition`."""
    if not reader.repetitions:
        return _read_run(reader, nodes, tail)
    body: list[syntax.Stmt] = []
    position = 0
    while position < len(nodes):
        offset = nodes[position].start_byte + reader.shift
        around = next((repeated for repeated in reader.repetitions if repeated.covers(offset)), None)
        end = position + 1
        while end < len(nodes) and _same(reader, around, nodes[end].start_byte + reader.shift):
            end += 1
        run = nodes[position:end]
        last = tail if end == len(nodes) else Tail.NOTHING
        if around is None:
            body += _read_run(reader, run, last)
        else:
            outside = reader.repetitions
            reader.repetitions = tuple(repeated for repeated in outside if repeated is not around)
            body.append(syntax.Repetition(around.outer, read_all(reader, run, last)))
            reader.repetitions = outside
        position = end
    return body


def _same(reader: Reader, around: object, offset: int) -> bool:
    return next((repeated for repeated in reader.repetitions if repeated.covers(offset)), None) is around


def _read_run(reader: Reader, nodes: list[Node], tail: Tail) -> list[syntax.Stmt]:
    body: list[syntax.Stmt] = []
    pending: list[syntax.Attribute] = []
    last = _last(nodes) if tail is not Tail.NOTHING else None
    for node in nodes:
        kind = node.type
        if kind in COMMENTS or kind in _SKIPPED:
            continue
        if kind == "attribute_item":
            pending += attributes.read(reader, node)
            continue
        if kind == "let_declaration":
            body.append(_let(reader, node))
        elif handler := ITEMS.get(kind):
            made = handler(reader, node, pending)
            if made is not None:
                body.append(made)
        elif kind == "ERROR":
            body += read_error(reader, node)
        else:
            inner = node
            closed = False
            if kind == "expression_statement":
                below = parts(node)
                if not below:
                    continue
                inner = below[0]
                closed = node.children[-1].type == ";"
            if node is last and not closed:
                body.append(_tail(reader, inner, tail))
            else:
                body.append(read_statement(reader, inner, reader.span(node)))
        if pending:
            pending = []
    return body


_SKIPPED = frozenset({"empty_statement", "label", "visibility_modifier", "inner_attribute_item"})


def _last(nodes: list[Node]) -> Node | None:
    for node in reversed(nodes):
        if node.type not in COMMENTS:
            return node
    return None


def read_error(reader: Reader, node: Node) -> list[syntax.Stmt]:
    """What stands in a place that doesn't parse: whole statements and items in it are still read, the rest is opaque."""
    statements = [child for child in node.named_children if child.type in _STATEMENTS or child.type in ITEMS]
    span = reader.span(node)
    reader.depth += 1
    below = read_all(reader, statements)
    reader.depth -= 1
    return [syntax.ExprStmt(span, syntax.Opaque(span, "error")), *below]


_STATEMENTS = frozenset({"let_declaration", "expression_statement", "macro_definition", "attribute_item"})


def _tail(reader: Reader, node: Node, tail: Tail) -> syntax.Stmt:
    if node.type in JUMPS or node.type in ASSIGNMENTS:
        return read_statement(reader, node, reader.span(node))
    value = reader.expression(node)
    if tail is Tail.RETURN:
        return syntax.Return(value.span, value, implicit=True)
    return syntax.Result(value.span, value)


JUMPS = frozenset({"return_expression", "break_expression", "continue_expression"})
ASSIGNMENTS = frozenset({"assignment_expression", "compound_assignment_expr", "for_expression", "while_expression"})


def read_statement(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    """An expression in statement position, its value unused."""
    if handler := STATEMENTS.get(node.type):
        return handler(reader, node, span)
    return syntax.ExprStmt(span, reader.expression(node))


def is_statement(node: Node) -> bool:
    """The node is a jump, an assignment or a loop, which in value position need a word of their own."""
    return node.type in JUMPS or node.type in ASSIGNMENTS or node.type == "loop_expression"


def split_value(body: list[syntax.Stmt]) -> syntax.Expr | None:
    """Take the value off the end of a block's statements (None when it has none)."""
    last = body[-1] if body else None
    if not isinstance(last, syntax.Result):
        return None
    body.pop()
    return last.value


def value_block(reader: Reader, block: Node, label: str = "", collapse: bool = True) -> syntax.Expr:
    """A block in value position: its value alone when it has no statements."""
    body = read_block(reader, block, Tail.RESULT)
    value = split_value(body)
    if collapse and value is not None and not body and not label:
        return value
    return syntax.Block(reader.span(block), body, value, label)


def label_of(reader: Reader, node: Node) -> str:
    """The label of a loop, block or jump without its quote."""
    for child in node.named_children:
        if child.type == "label":
            return reader.text(child).lstrip("'").strip()
    return ""


def _let(reader: Reader, node: Node) -> syntax.Assign:
    pattern_node = node.child_by_field_name("pattern")
    type_node = node.child_by_field_name("type")
    value_node = node.child_by_field_name("value")
    other = node.child_by_field_name("alternative")
    targets: list[syntax.Expr] = []
    found: syntax.Pattern | None = None
    mutable = False
    if pattern_node is not None and pattern_node.type == "identifier":
        targets.append(reader.name(pattern_node))
        mutable = b"mut" in reader.buffer[node.start_byte : pattern_node.start_byte]
    elif pattern_node is not None:
        found = reader.pattern(pattern_node)
        mutable = pattern_node.type == "mut_pattern" or any(child.type == "mutable_specifier" for child in node.children[:4])
        if (name := target(found)) is not None:
            targets.append(name)
            if found.kind == "wildcard":
                found = None
    return syntax.Assign(
        reader.span(node),
        targets,
        reader.expression(value_node) if value_node is not None else None,
        declares=True,
        annotation=reader.inline(type_node),
        mutable=mutable,
        pattern=found,
        orelse=read_block(reader, other, Tail.NOTHING) if other is not None else [],
    )
