"""Arguments of macro invocations, parsed as expressions at their places.

Tried in this order: plain names and numbers (most of them), a list of expressions, ``[value; count]``, statements; then each
argument of the list alone, where one that is no expression (a type, loose tokens) is :class:`Opaque` with its span.
"""

from __future__ import annotations

from tree_sitter import Node

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust.expressions import repeated
from cutile_lint.frontends.rust.literals import number
from cutile_lint.frontends.rust.reader import COMMENTS, EXTRAS, MAX_MACRO_DEPTH, Reader, expression, tree
from cutile_lint.frontends.rust.statements import Tail, read_block, split_value
from cutile_lint.regex import regex
from cutile_lint.sources import Span

_SIMPLE = regex(rb"\s*(?:[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*|\d\w*)(?:\s*,\s*(?:[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*|\d\w*))*\s*,?\s*")
_PIECE = regex(rb"[\w:]+")
_KEYWORDS = frozenset("return break continue if match loop while for fn let struct unsafe move async const static as in".split())
_MAX_LOOSE = 256
_PATTERN_MACROS = frozenset({"matches!", "assert_matches!", "debug_assert_matches!"})


@expression("macro_invocation")
def invocation(reader: Reader, node: Node) -> syntax.Expr:
    below = node.children
    path, tokens = below[0], below[-1]
    if tokens.type != "token_tree":
        return syntax.Opaque(reader.span(node), "macro")
    bang = next((child for child in below if child.type == "!"), path)
    name = syntax.Name(reader.span_between(path, bang), reader.inline(path) + "!")
    call = syntax.Call(reader.span(node), name, [], macro=True, args_span=reader.span(tokens))
    if name.last in _PATTERN_MACROS:
        test = _pattern_test(reader, node, tokens)
        if test is not None:
            return test
    if reader.macros >= MAX_MACRO_DEPTH:
        call.args = [opaque_argument(reader, tokens.start_byte + 1, tokens.end_byte - 1)]
    else:
        call.args = _arguments(reader, tokens)
    return call


def _arguments(reader: Reader, tokens: Node) -> list[syntax.Arg]:
    start, end = tokens.start_byte + 1, tokens.end_byte - 1
    text = reader.buffer[start:end]
    if not reader.repetitions and _SIMPLE.fullmatch(text):
        return [_simple(reader, start + piece.start(), piece[0].decode()) for piece in _PIECE.finditer(text)]
    if not text.strip():
        return []
    kinds = [child.type for child in tokens.children[1:-1]]
    if b"=>" not in text and ";" not in kinds and "let" not in kinds:
        listed = expression_list(reader, start, end)
        if listed is not None:
            return listed
    if kinds.count(";") == 1 and tokens.children[0].type != "{":
        repeat = _repeat(reader, start, end)
        if repeat is not None:
            return [syntax.Arg(repeat.span, repeat)]
    if ";" in kinds or tokens.children[0].type == "{" or "," not in kinds:
        block = statement_block(reader, start, end)
        if block is not None:
            return [syntax.Arg(block.span, block)]
    return _one_by_one(reader, tokens)


def _simple(reader: Reader, start: int, text: str) -> syntax.Arg:
    span = Span(start + reader.shift, start + reader.shift + len(text.encode()))
    value: syntax.Expr
    if text[0].isdigit():
        value = syntax.Const(span, *number(text))
    elif text in ("true", "false"):
        value = syntax.Const(span, text == "true")
    elif text in _KEYWORDS:
        value = syntax.Opaque(span, "tokens")
    else:
        value = syntax.Name(span, reader.data[span.start : span.end].decode("utf-8", "replace"))
    return syntax.Arg(span, value)


def opaque_argument(reader: Reader, start: int, end: int, kind: str = "tokens") -> syntax.Arg:
    """The stripped text between two offsets of the tree as one opaque argument."""
    text = reader.buffer[start:end]
    start += len(text) - len(text.lstrip())
    span = Span(start + reader.shift, start + len(text.strip()) + reader.shift)
    return syntax.Arg(span, syntax.Opaque(span, kind))


def reparsed(
    reader: Reader, before: bytes, start: int, end: int, after: bytes, text: bytes | None = None
) -> tuple[Reader, Node] | None:
    """Parse ``before + text + after`` as a file; None when it doesn't parse."""
    buffer = before + (reader.buffer[start:end] if text is None else text) + after
    root = tree(buffer)
    if root.has_error:
        return None
    return reader.below(buffer, start + reader.shift - len(before)), root


def expression_list(reader: Reader, start: int, end: int) -> list[syntax.Arg] | None:
    parsed = reparsed(reader, b"_(", start, end, b"\n);")
    if parsed is None:
        return None
    inner, root = parsed
    call = root.named_children[0].named_children[0] if root.named_child_count == 1 else None
    listed = call.child_by_field_name("arguments") if call is not None and call.type == "call_expression" else None
    if listed is None or listed.end_byte != len(inner.buffer) - 1:
        return None
    return [_argument(inner, child) for child in listed.named_children if child.type not in EXTRAS]


def _argument(reader: Reader, node: Node) -> syntax.Arg:
    """``name = value`` of a format macro is a keyword argument."""
    if node.type == "assignment_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None and left.type == "identifier":
            return syntax.Arg(reader.span(node), reader.expression(right), reader.text(left))
    value = repeated(reader, node)
    return syntax.Arg(value.span, value)


def _repeat(reader: Reader, start: int, end: int) -> syntax.Expr | None:
    """``value; count``"""
    parsed = reparsed(reader, b"_=[", start, end, b"\n];")
    if parsed is None:
        return None
    inner, root = parsed
    array = root.named_children[0].named_children[0].child_by_field_name("right")
    if array is None or array.type != "array_expression":
        return None
    value = inner.expression(array)
    value.span = Span(start + reader.shift, end + reader.shift)
    return value


def statement_block(reader: Reader, start: int, end: int) -> syntax.Expr | None:
    parsed = reparsed(reader, b"fn f(){", start, end, b"\n}") or reparsed(reader, b"fn f(){", start, end, b"\n;}")
    if parsed is None:
        return None
    inner, root = parsed
    body = root.named_children[0].child_by_field_name("body") if root.named_child_count == 1 else None
    if body is None:
        return None
    statements = read_block(inner, body, Tail.RESULT)
    value = split_value(statements)
    return syntax.Block(Span(start + reader.shift, end + reader.shift), statements, value)


def _one_by_one(reader: Reader, tokens: Node) -> list[syntax.Arg]:
    """Each argument between the commas of this level by itself."""
    cuts = [child.end_byte for child in tokens.children[1:-1] if child.type == ","]
    if len(cuts) > _MAX_LOOSE:
        return [opaque_argument(reader, tokens.start_byte + 1, tokens.end_byte - 1)]
    starts = [tokens.start_byte + 1, *cuts]
    ends = [*(cut - 1 for cut in cuts), tokens.end_byte - 1]
    found: list[syntax.Arg] = []
    several = len(starts) > 1
    for start, end in zip(starts, ends, strict=True):
        if not reader.buffer[start:end].strip():
            continue
        listed = expression_list(reader, start, end) if several else None
        if listed is not None and len(listed) == 1:
            found += listed
            continue
        block = statement_block(reader, start, end) if several else None
        if block is not None:
            found.append(syntax.Arg(block.span, block))
        elif reparsed(reader, b"type _f=", start, end, b"\n;") is not None:
            found.append(opaque_argument(reader, start, end, "type"))
        else:
            found.append(opaque_argument(reader, start, end))
    return found


def _pattern_test(reader: Reader, node: Node, tokens: Node) -> syntax.Expr | None:
    """``matches!(value, pattern if guard)`` read as ``match value { pattern if guard => … }``."""
    start, end = tokens.start_byte + 1, tokens.end_byte - 1
    comma = next((child.start_byte for child in tokens.children if child.type == ","), None)
    if comma is None or reader.macros >= MAX_MACRO_DEPTH:
        return None
    text = bytearray(reader.buffer[start:end])
    text[comma - start : comma - start + 1] = b"{"
    rest = bytes(text).rstrip()
    if rest.endswith(b","):
        rest = rest[:-1]
    parsed = reparsed(reader, b"match ", start, end, b"\n=>0}", text=rest)
    if parsed is None:
        return None
    inner, root = parsed
    match = next((child for child in root.named_children[0].named_children if child.type not in COMMENTS), None)
    value = match.child_by_field_name("value") if match is not None and match.type == "match_expression" else None
    body = match.child_by_field_name("body") if match is not None else None
    arm = next((child for child in body.named_children if child.type == "match_arm"), None) if body is not None else None
    head = arm.child_by_field_name("pattern") if arm is not None else None
    if value is None or head is None:
        return None
    guard = head.child_by_field_name("condition")
    return syntax.PatternTest(
        reader.span(node),
        inner.expression(value),
        inner.pattern(head),
        inner.expression(guard) if guard is not None else None,
    )
