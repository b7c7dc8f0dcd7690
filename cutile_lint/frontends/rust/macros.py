"""``macro_rules!``: its arms as functions over their metavariables, the bodies parsed again in place."""

from __future__ import annotations

from tree_sitter import Node

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust.mend import mend
from cutile_lint.frontends.rust.reader import MAX_MACRO_DEPTH, Reader, item, parts, tree
from cutile_lint.frontends.rust.statements import Tail, read_block
from cutile_lint.sources import Span

_WRAPPER = b"fn f()"


@item("macro_definition")
def definition(reader: Reader, node: Node, found: list[syntax.Attribute]) -> syntax.Stmt:
    span = reader.span(node)
    if reader.buffer is not reader.data and reader.data[span.start : span.end] != reader.buffer[node.start_byte : node.end_byte]:
        # a macro defined in a macro's body: its own patterns were mended away, so read it from the file's text
        text = reader.data[span.start : span.end]
        inner = next((child for child in tree(text).named_children if child.type == "macro_definition"), None)
        if inner is not None and reader.macros < MAX_MACRO_DEPTH:
            reader, node = reader.below(text, span.start), inner
    exported = any(attribute.path == "macro_export" for attribute in found)
    arms = [_arm(reader, rule) for rule in node.named_children if rule.type == "macro_rule"]
    return syntax.MacroDef(span, reader.text(node.child_by_field_name("name")), arms, exported)


def _arm(reader: Reader, rule: Node) -> syntax.MacroArm:
    left = rule.child_by_field_name("left")
    right = rule.child_by_field_name("right")
    variables: list[syntax.MetaVariable] = []
    if left is not None:
        _bindings(reader, left, False, variables)
    pattern = Span(left.start_byte + reader.shift + 1, left.end_byte + reader.shift - 1) if left is not None else None
    arm = syntax.MacroArm(reader.span(rule), variables, [], block=False, pattern=pattern)
    if right is None or reader.macros >= MAX_MACRO_DEPTH:
        return arm
    start = right.start_byte + reader.shift
    fragments = {**reader.fragments, **{variable.name: variable.fragment for variable in variables}}
    inside = reader.data[start + 1 : right.end_byte + reader.shift - 1]
    mended, repetitions = mend(inside, start + 1, fragments)
    buffer = _WRAPPER + b"{" + mended + b"}"
    inner = reader.below(buffer, start - len(_WRAPPER), fragments, tuple(repetitions))
    root = tree(buffer)
    body = next((child.child_by_field_name("body") for child in root.named_children if child.type == "function_item"), None)
    if body is None:
        span = Span(start, right.end_byte + reader.shift)
        arm.body = [syntax.ExprStmt(span, syntax.Opaque(span, "tokens"))]
        return arm
    below = parts(body)
    if len(below) == 1 and below[0].type == "expression_statement" and below[0].children[-1].type != ";":
        below = parts(below[0])
    if len(below) == 1 and below[0].type == "block":
        arm.block = True
        body = below[0]
    arm.body = read_block(inner, body, Tail.RESULT)
    return arm


def _bindings(reader: Reader, node: Node, repeated: bool, found: list[syntax.MetaVariable]) -> None:
    """Metavariables of the arm's pattern, in order."""
    for child in node.named_children:
        if child.type == "token_binding_pattern":
            name = reader.text(child.child_by_field_name("name"))
            fragment = reader.text(child.child_by_field_name("type"))
            found.append(syntax.MetaVariable(reader.span(child), name, fragment, repeated))
        elif child.type in ("token_repetition_pattern", "token_tree_pattern"):
            _bindings(reader, child, repeated or child.type == "token_repetition_pattern", found)
