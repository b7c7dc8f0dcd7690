"""What a metavariable takes of a macro invocation, read at its place: the machine asks once it knows the macro's arms."""

from __future__ import annotations

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust import arguments, parser  # noqa: F401  (it registers the handlers)
from cutile_lint.frontends.rust.mend import mend
from cutile_lint.frontends.rust.reader import Reader, TooDeep, TooSlow, start_clock
from cutile_lint.sources import Span

_WHOLE = {"stmt": (b"fn f(){", b"\n;}"), "ty": (b"type _f=", b"\n;"), "pat": (b"fn f(){match _f{", b"\n=>0}}")}


def is_fragment(data: bytes, span: Span, kind: str) -> bool:
    """The text of a macro invocation there is one whole "expr", "stmt", "ty" or "pat"."""
    before, after = _WHOLE.get(kind, (b"", b""))
    start_clock()
    try:
        reader = _reader(data, span)
        if kind == "expr":
            listed = arguments.expression_list(reader, 0, len(reader.buffer))
            return listed is not None and len(listed) == 1
        return arguments.reparsed(reader, before, 0, len(reader.buffer), after) is not None
    except (TooDeep, TooSlow):
        return False


def fragment(data: bytes, span: Span) -> syntax.Expr:
    """What a metavariable took of a macro invocation, read as an expression at its place."""
    start_clock()
    try:
        reader = _reader(data, span)
        end = len(reader.buffer)
        listed = arguments.expression_list(reader, 0, end) if reader.buffer.strip() else None
        if listed is not None and len(listed) == 1 and listed[0].name is None:
            return listed[0].value
        return arguments.statement_block(reader, 0, end) or arguments.opaque_argument(reader, 0, end).value
    except (TooDeep, TooSlow):
        return syntax.Opaque(span, "tokens")


def _reader(data: bytes, span: Span) -> Reader:
    mended, repetitions = mend(data[span.start : span.end], span.start, {})
    return Reader(data, mended, span.start, macros=1, repetitions=tuple(repetitions))
