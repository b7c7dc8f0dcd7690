"""What the span tests share: a span is right when the text there, parsed alone, gives the same tree."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

from cutile_lint.frontends import syntax as s
from cutile_lint.frontends.python import parse
from cutile_lint.sources import Source, Span


def source(text: str | bytes) -> Source:
    return Source(Path("/virtual/file.py"), text if isinstance(text, bytes) else text.encode())


def dump(node: object) -> object:
    """A tree without its places."""
    if isinstance(node, s.Node):
        return (type(node).__name__, *(dump(getattr(node, name)) for name in node.FIELDS if not name.endswith("span")))
    if isinstance(node, (list, tuple)):
        return [dump(item) for item in node]
    return repr(node)


def alone(data: bytes, node: s.Expr) -> object:
    """The dump of what ``data``, the text of ``node``, is by itself."""
    text = data.decode().encode()
    if isinstance(node, s.Slice) or (isinstance(node, s.Sequence) and b":" in text and not text.startswith(b"(")):
        wrapped, strip = b"x[" + text + b"\n]", "index"
    elif isinstance(node, s.Sequence) and node.kind == "tuple" and not text.startswith(b"("):
        wrapped, strip = b"x[" + text + b"\n]", "index"
    elif isinstance(node, s.Unary) and node.op == "*splat":
        wrapped, strip = b"[" + text + b"\n]", "item"
    elif isinstance(node, s.Yield) or (isinstance(node, s.Unary) and node.op == "await"):
        wrapped, strip = b"async def f():\n (" + text + b"\n)", "body"
    else:
        wrapped, strip = b"(" + text + b"\n)", ""
    module = parse(source(wrapped))
    assert not module.faults, (data, module.faults[0].message)
    statement = module.body[0]
    if isinstance(statement, s.FunctionDef):
        statement = statement.function.body[0]
    assert isinstance(statement, s.ExprStmt)
    value = statement.value
    if strip == "index":
        assert isinstance(value, s.Index)
        value = value.index
    elif strip == "item":
        assert isinstance(value, s.Sequence)
        value = value.items[0]
    return dump(value)


def wrong_spans(module: s.Module) -> Iterator[str]:
    """Each expression whose span is not exact, and each name or argument list that does not stand where it should."""
    data = module.source.data
    formats = [node for node in module.walk() if isinstance(node, (s.Format, s.Opaque))]
    inexact = {part.span for node in formats for part in node.parts if isinstance(part, s.Const)}
    for node in module.walk():
        text = data[node.span.start : node.span.end]
        if isinstance(node, s.Attr) and not _named(data, node.name_span, node.name):
            yield f"name of {text!r}"
        if isinstance(node, s.Function) and node.name_span and not _named(data, node.name_span, node.name):
            yield f"name of {node.name}"
        if isinstance(node, s.Call):
            assert node.args_span is not None
            args = data[node.args_span.start : node.args_span.end]
            if not (args.startswith(b"(") and args.endswith(b")") and node.args_span.end == node.span.end):
                yield f"arguments of {text!r}"
            between = data[node.func.span.end : node.args_span.start]
            if b"(" in between and b"#" not in between:
                yield f"arguments of {text!r}: {between!r} before"
        if isinstance(node, s.Expr) and not (isinstance(node, s.Const) and node.span in inexact):
            if alone(text, node) != dump(node):
                yield f"{type(node).__name__} at {node.span}: {text!r}"


def _named(data: bytes, span: Span, name: str) -> bool:
    return unicodedata.normalize("NFKC", data[span.start : span.end].decode()) == name
