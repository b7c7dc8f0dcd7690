"""Control flow in value position: ``if``, ``match``, blocks, loops, jumps, closures."""

from __future__ import annotations

from tree_sitter import Node

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust import parameters
from cutile_lint.frontends.rust.flow import arms
from cutile_lint.frontends.rust.reader import Reader, expression, parts
from cutile_lint.frontends.rust.statements import Tail, is_statement, label_of, read_block, read_statement, value_block


@expression("if_expression")
def _if(reader: Reader, node: Node) -> syntax.Expr:
    test = reader.field(node, "condition")
    then = node.child_by_field_name("consequence")
    other = node.child_by_field_name("alternative")
    orelse: syntax.Expr | None = None
    for branch in parts(other) if other is not None else ():
        orelse = reader.expression(branch)
    value = value_block(reader, then) if then is not None else syntax.Opaque(reader.span(node), "error")
    return syntax.Cond(reader.span(node), test, value, orelse)


@expression("match_expression")
def _match(reader: Reader, node: Node) -> syntax.Expr:
    subject = reader.field(node, "value")
    return syntax.MatchExpr(reader.span(node), subject, arms(reader, node, Tail.RESULT))


@expression("block")
def _block(reader: Reader, node: Node) -> syntax.Expr:
    return value_block(reader, node, label_of(reader, node))


@expression("unsafe_block", "const_block")
def _unsafe(reader: Reader, node: Node) -> syntax.Expr:
    inner = value_block(reader, parts(node)[-1], collapse=False)
    inner.span = reader.span(node)
    return inner


@expression("async_block", "try_block", "gen_block")
def _deferred(reader: Reader, node: Node) -> syntax.Expr:
    """The body runs later, or its ``?`` ends here: opaque, with the block as its part."""
    kind = node.type.partition("_")[0]
    return syntax.Opaque(reader.span(node), kind, [value_block(reader, parts(node)[-1], collapse=False)])


@expression("for_expression", "while_expression", "loop_expression")
def _loop(reader: Reader, node: Node) -> syntax.Expr:
    span = reader.span(node)
    made = read_statement(reader, node, span)
    if isinstance(made, syntax.ExprStmt):  # a labelled loop has its block already
        return made.value
    return syntax.Block(span, [made], None)


@expression("return_expression", "break_expression", "continue_expression")
def _jump(reader: Reader, node: Node) -> syntax.Expr:
    span = reader.span(node)
    return syntax.Jump(span, read_statement(reader, node, span))


@expression("assignment_expression", "compound_assignment_expr")
def _assignment(reader: Reader, node: Node) -> syntax.Expr:
    span = reader.span(node)
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and right is not None and reader.text(left) == ".." and reader.text(node).startswith("..="):
        return syntax.Range(span, None, reader.expression(right), inclusive=True)  # the grammar has no word for `..=n`
    return syntax.Block(span, [read_statement(reader, node, span)], None)


@expression("yield_expression")
def _yield(reader: Reader, node: Node) -> syntax.Expr:
    below = parts(node)
    return syntax.Yield(reader.span(node), reader.expression(below[0]) if below else None)


@expression("closure_expression")
def _closure(reader: Reader, node: Node) -> syntax.Expr:
    body = node.child_by_field_name("body")
    found = node.child_by_field_name("parameters")
    statements: list[syntax.Stmt] = []
    if body is not None:
        if body.type == "block":
            statements = read_block(reader, body, Tail.RETURN)
        elif is_statement(body):
            statements = [read_statement(reader, body, reader.span(body))]
        else:
            value = reader.expression(body)
            statements = [syntax.Return(value.span, value, implicit=True)]
    function = syntax.Function(
        reader.span(node),
        "",
        parameters.read(reader, found) if found is not None else [],
        statements,
        returns=reader.inline(node.child_by_field_name("return_type")),
        is_async=any(child.type == "async" for child in node.children[:3]),
    )
    return syntax.Lambda(function.span, function)
