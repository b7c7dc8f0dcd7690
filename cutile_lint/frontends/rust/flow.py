"""Control flow, jumps and assignments in statement position, and the arms of any ``match``."""

from __future__ import annotations

from tree_sitter import Node

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust.patterns import target
from cutile_lint.frontends.rust.reader import STATEMENTS, Reader, parts, statement
from cutile_lint.frontends.rust.statements import ASSIGNMENTS, JUMPS, Tail, label_of, read_block, read_statement
from cutile_lint.sources import Span


@statement("if_expression")
def _if(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    test = reader.field(node, "condition")
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


@statement("match_expression")
def _match(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    return syntax.Match(span, reader.field(node, "value"), arms(reader, node, Tail.NOTHING))


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
    if value.type in JUMPS or value.type in ASSIGNMENTS or (tail is Tail.NOTHING and value.type in STATEMENTS):
        return [read_statement(reader, value, reader.span(value))]
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


@statement("for_expression")
def _for(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    pattern_node = node.child_by_field_name("pattern")
    found = reader.pattern(pattern_node) if pattern_node is not None else syntax.Pattern(span, "wildcard")
    name = target(found) or syntax.Opaque(found.span, "pattern", [*_captures(found)])
    loop = syntax.For(span, name, reader.field(node, "value"), _body(reader, node))
    return _labelled(reader, node, span, loop)


def _captures(found: syntax.Pattern) -> list[syntax.Expr]:
    return [syntax.Name(one.span, one.name) for one in found.walk() if isinstance(one, syntax.Pattern) and one.kind == "capture"]


@statement("while_expression")
def _while(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    test = reader.field(node, "condition")
    return _labelled(reader, node, span, syntax.While(span, test, _body(reader, node)))


@statement("loop_expression")
def _loop(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    word = next((child for child in node.children if child.type == "loop"), node)
    return _labelled(reader, node, span, syntax.While(span, syntax.Const(reader.span(word), True), _body(reader, node)))


@statement("return_expression")
def _return(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    below = parts(node)
    return syntax.Return(span, reader.expression(below[0]) if below else None)


@statement("break_expression")
def _break(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    below = [child for child in parts(node) if child.type != "label"]
    return syntax.Break(span, reader.expression(below[0]) if below else None, label_of(reader, node))


@statement("continue_expression")
def _continue(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    return syntax.Continue(span, label_of(reader, node))


@statement("assignment_expression", "compound_assignment_expr")
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


@statement("block", "unsafe_block")
def _plain_block(reader: Reader, node: Node, span: Span) -> syntax.Stmt:
    block = node if node.type == "block" else parts(node)[0]
    reader.depth += 1
    body = read_block(reader, block, Tail.NOTHING)
    reader.depth -= 1
    return syntax.ExprStmt(span, syntax.Block(reader.span(node), body, None, label_of(reader, node)))
