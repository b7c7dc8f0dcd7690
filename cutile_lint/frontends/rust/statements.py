"""Statements and blocks.

A block is read for what its tail is worth (:class:`Tail`): the value of a function or closure, the value of an arm or of an
expression, or nothing. In a block worth nothing, a tail ``if``/``match`` is an :class:`If`/:class:`Match` like any other in
statement position.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from tree_sitter import Node

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust import attributes
from cutile_lint.frontends.rust.patterns import target
from cutile_lint.frontends.rust.reader import COMMENTS, ITEMS, Reader, parts
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
                body.append(statement(reader, inner, reader.span(node)))
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
    if node.type in _JUMPS or node.type in _ASSIGNMENTS:
        return statement(reader, node, reader.span(node))
    value = reader.expression(node)
    if tail is Tail.RETURN:
        return syntax.Return(value.span, value, implicit=True)
    return syntax.Result(value.span, value)


_JUMPS = frozenset({"return_expression", "break_expression", "continue_expression"})
_ASSIGNMENTS = frozenset({"assignment_expression", "compound_assignment_expr", "for_expression", "while_expression"})


def statement(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    """An expression in statement position, its value unused."""
    if handler := _CONTROL.get(node.type):
        return handler(reader, node, span)
    return syntax.ExprStmt(span, reader.expression(node))


def is_statement(node: Node) -> bool:
    """The node is a jump, an assignment or a loop, which in value position need a word of their own."""
    return node.type in _JUMPS or node.type in _ASSIGNMENTS or node.type == "loop_expression"


def value_block(reader: Reader, block: Node, label: str = "", collapse: bool = True) -> syntax.Expr:
    """A block in value position: its value alone when it has no statements."""
    body = read_block(reader, block, Tail.RESULT)
    value: syntax.Expr | None = None
    if body and isinstance(body[-1], syntax.Result):
        value = body.pop().value
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


def _if(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    test = reader.expression(node.child_by_field_name("condition") or node)
    then = node.child_by_field_name("consequence")
    body = read_block(reader, then, Tail.NOTHING) if then is not None else []
    orelse: list[syntax.Stmt] = []
    other = node.child_by_field_name("alternative")
    if other is not None:
        for branch in parts(other):
            if branch.type == "if_expression":
                reader.depth += 1
                orelse = [_if(reader, branch, reader.span(branch))]
                reader.depth -= 1
            else:
                orelse = read_block(reader, branch, Tail.NOTHING)
    return syntax.If(span, test, body, orelse)


def _match(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    subject = node.child_by_field_name("value")
    return syntax.Match(span, reader.expression(subject or node), arms(reader, node, Tail.NOTHING))


def arms(reader: Reader, node: Node, tail: Tail) -> list[syntax.Arm]:
    """The arms of a ``match``; a value ``=> expr`` is ``Result(expr)``."""
    body = node.child_by_field_name("body")
    result: list[syntax.Arm] = []
    for arm in body.named_children if body is not None else ():
        if arm.type != "match_arm":
            continue
        head = arm.child_by_field_name("pattern")
        value = arm.child_by_field_name("value")
        if head is None or value is None:
            continue
        around = next((one for one in reader.repetitions if one.covers(arm.start_byte + reader.shift)), None)
        outside = reader.repetitions
        if around is not None:
            reader.repetitions = tuple(one for one in outside if one is not around)
        guard = head.child_by_field_name("condition")
        result.append(
            syntax.Arm(
                reader.span(arm),
                reader.pattern(head),
                reader.expression(guard) if guard is not None else None,
                _arm_body(reader, value, tail),
                repeated=around is not None,
            )
        )
        reader.repetitions = outside
    return result


def _arm_body(reader: Reader, value: Node, tail: Tail) -> list[syntax.Stmt]:
    if value.type == "block" and not (value.named_children and value.named_children[0].type == "label"):
        reader.depth += 1
        body = read_block(reader, value, tail)
        reader.depth -= 1
        return body
    if value.type in _JUMPS or value.type in _ASSIGNMENTS or (tail is Tail.NOTHING and value.type in _CONTROL):
        return [statement(reader, value, reader.span(value))]
    made = reader.expression(value)
    return [syntax.Result(made.span, made)]


def _labelled(reader: Reader, node: Node, span: Span, loop: syntax.Stmt) -> syntax.Stmt:
    """A labelled loop stands in a block of its own, which has the label."""
    if node.children[0].type != "label":
        return loop
    return syntax.ExprStmt(span, syntax.Block(span, [loop], None, label_of(reader, node)))


def _body(reader: Reader, node: Node) -> list[syntax.Stmt]:
    block = node.child_by_field_name("body")
    return read_block(reader, block, Tail.NOTHING) if block is not None else []


def _for(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    pattern_node = node.child_by_field_name("pattern")
    found = reader.pattern(pattern_node) if pattern_node is not None else syntax.Pattern(span, "wildcard")
    name = target(found) or syntax.Opaque(found.span, "pattern", [*_captures(found)])
    loop = syntax.For(span, name, reader.expression(node.child_by_field_name("value") or node), _body(reader, node))
    return _labelled(reader, node, span, loop)


def _captures(found: syntax.Pattern) -> list[syntax.Expr]:
    return [syntax.Name(one.span, one.name) for one in found.walk() if isinstance(one, syntax.Pattern) and one.kind == "capture"]


def _while(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    test = reader.expression(node.child_by_field_name("condition") or node)
    return _labelled(reader, node, span, syntax.While(span, test, _body(reader, node)))


def _loop(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    word = next((child for child in node.children if child.type == "loop"), node)
    return _labelled(reader, node, span, syntax.While(span, syntax.Const(reader.span(word), True), _body(reader, node)))


def _return(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    below = parts(node)
    return syntax.Return(span, reader.expression(below[0]) if below else None)


def _break(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    below = [child for child in parts(node) if child.type != "label"]
    return syntax.Break(span, reader.expression(below[0]) if below else None, label_of(reader, node))


def _continue(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    return syntax.Continue(span, label_of(reader, node))


def _assign(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    left = node.child_by_field_name("left")
    right = node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    return syntax.Assign(
        span,
        [reader.expression(left)] if left is not None else [],
        reader.expression(right) if right is not None else None,
        op=operator.type[:-1] if operator is not None else "",
    )


def _plain_block(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    block = node if node.type == "block" else parts(node)[0]
    reader.depth += 1
    body = read_block(reader, block, Tail.NOTHING)
    reader.depth -= 1
    return syntax.ExprStmt(span, syntax.Block(reader.span(node), body, None, label_of(reader, node)))


_CONTROL: dict[str, Callable[[Reader, Node, Span], syntax.Stmt]] = {
    "if_expression": _if,
    "match_expression": _match,
    "for_expression": _for,
    "while_expression": _while,
    "loop_expression": _loop,
    "return_expression": _return,
    "break_expression": _break,
    "continue_expression": _continue,
    "assignment_expression": _assign,
    "compound_assignment_expr": _assign,
    "block": _plain_block,
    "unsafe_block": _plain_block,
}
