"""C declarations of a cffi ``cdef`` text, as pycparser (cffi's own parser) reads them.

Importing pycparser and building its tables costs about 75 ms a run, so the one shape that wrappers are written in,
``int32_t name(const T* a, int32_t b, …);``, is read by a small scanner of its own; everything else, and everything that is
wrong, goes to pycparser. Offsets are characters of the text; :func:`text_place` gives their place in the Python literal.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source, Span

_STDINT = [f"{sign}int{size}_t" for sign in ("", "u") for size in (8, 16, 32, 64)]
_NAMED = frozenset(
    [*_STDINT, "size_t", "ssize_t", "intptr_t", "uintptr_t", "ptrdiff_t", "wchar_t", "bool", "_Bool", "TensorDesc"]
)
_WORDS = frozenset(["void", "char", "short", "int", "long", "float", "double", "signed", "unsigned"])
_QUALIFIERS = frozenset(["const", "volatile", "restrict", "__restrict", "__restrict__", "extern"])

_MADE = ("struct", "union")
#: the types that names made by ``typedef`` stand for, as :func:`_parts` gives them
_Types: TypeAlias = dict[str, tuple[bool, str, int]]

_DIGITS = "0123456789"
_COMMENT = regex(r"/\*.*?(?:\*/|\Z)|//[^\n]*|^[ \t]*#[ \t]*define\b[^\n]*", re.DOTALL | re.MULTILINE)
_PLAIN = regex(r"\s*(?P<returns>(?:\w+[\s*]+)+?)(?P<name>[A-Za-z_]\w*)\s*\((?P<params>[^()]*)\)\s*;")
_PARAM = regex(r"\s*(?P<type>(?:\w+[\s*]+)+?)(?P<name>[A-Za-z_]\w*)\s*\Z")
#: characters that are looked at, and those that pycparser gets to see: it is quadratic where brackets follow brackets
_MAX_TEXT = 200_000
_MAX_PARSED = 20_000


@dataclass(frozen=True, slots=True)
class CParam:
    """One parameter: ``type`` is normalised (``const TensorDesc *``, ``int32_t``).

    ``span`` covers the declaration (as far as it is known), ``name_span`` the name.
    """

    name: str
    type: str
    span: Span
    name_span: Span

    @property
    def is_pointer(self) -> bool:
        return self.type.endswith("*")


@dataclass(frozen=True, slots=True)
class CFunction:
    """A function declaration."""

    name: str
    returns: str
    params: tuple[CParam, ...]
    span: Span
    name_span: Span


@dataclass(frozen=True, slots=True)
class CFault:
    """What is wrong with a text, and where."""

    span: Span
    message: str


@dataclass(slots=True)
class Declarations:
    """A read text; with a fault there are no functions."""

    functions: list[CFunction] = field(default_factory=list)
    fault: CFault | None = None

    def function(self, name: str) -> CFunction | None:
        return next((function for function in self.functions if function.name == name), None)


def parse(text: str) -> Declarations:
    """The function declarations of a ``cdef`` text. Never raises."""
    if len(text) > _MAX_TEXT:
        return Declarations(fault=CFault(Span(0, 0), "the declarations are too long to be read"))
    bare = _COMMENT.sub(_blanked, text)
    functions = _plain(bare)
    if functions is not None:
        return Declarations(functions)
    if len(text) > _MAX_PARSED:
        return Declarations(fault=CFault(Span(0, 0), "the declarations are too long to be read"))
    return _parsed(bare)


def _blanked(comment: re.Match[str]) -> str:
    """Blanks for a comment; one that never ends is left to pycparser, which says so."""
    text = comment.group()
    return text if text.startswith("/*") and not (len(text) > 3 and text.endswith("*/")) else re.sub(r"[^\n]", " ", text)


# ── the plain shape ────────────────────────────────────────────────────────


def _plain(text: str) -> list[CFunction] | None:
    """The declarations when all of them have the plain shape; None otherwise."""
    found: list[CFunction] = []
    position = 0
    while text[position:].strip():
        match = _PLAIN.match(text, position)
        if match is None:
            return None
        returns = _type(match["returns"])
        params = _params(match["params"], match.start("params"))
        if returns is None or params is None:
            return None
        found.append(
            CFunction(match["name"], returns, params, Span(match.start("returns"), match.end()), Span(*match.span("name")))
        )
        position = match.end()
    return found


def _params(text: str, start: int) -> tuple[CParam, ...] | None:
    if text.strip() in ("", "void"):
        return ()
    params = []
    for part in text.split(","):
        match = _PARAM.match(part)
        kind = _type(match["type"]) if match else None
        if match is None or kind is None or kind == "void" or match["name"] in (_WORDS | _QUALIFIERS | _NAMED):
            return None
        blank = len(part) - len(part.lstrip())
        span = Span(start + blank, start + len(part.rstrip()))
        params.append(CParam(match["name"], kind, span, Span(start + match.start("name"), start + match.end("name"))))
        start += len(part) + 1
    return tuple(params)


def _type(text: str) -> str | None:
    """A type's normal form, ``const`` first and stars last; None when it is not one of the known names."""
    words = text.replace("*", " * ").split()
    stars = [word for word in words if word == "*"]
    names = [word for word in words if word != "*"]
    if stars and names and words.index("*") < len(words) - len(stars):  # `T * const p`: the pointer is const, not the value
        first = words.index("*")
        names = words[:first]
        if any(word not in (*_QUALIFIERS, "*") for word in words[first:]):
            return None
    const = "const" in names
    base = [word for word in names if word not in _QUALIFIERS]
    if not base or not ((base == [base[0]] and base[0] in _NAMED) or all(word in _WORDS for word in base)):
        return None
    return " ".join([*(["const"] if const and stars else []), *base, *(["*"] if stars else [])]) + "*" * max(len(stars) - 1, 0)


# ── everything else: pycparser ─────────────────────────────────────────────


def _parsed(text: str) -> Declarations:
    from pycparser import c_ast, c_parser

    prelude = "".join(f"typedef int {name};" for name in sorted(_NAMED - {"_Bool", "TensorDesc"} - set(_types_made(text))))
    if "TensorDesc" not in _types_made(text):
        prelude += "typedef struct { int ptr; } TensorDesc;"
    try:
        tree = c_parser.CParser().parse(prelude + "\n" + text)
    except (c_parser.ParseError, RecursionError, AssertionError, ValueError) as error:
        return Declarations(fault=_fault(text, str(error)))
    result = Declarations()
    types: _Types = {}
    position = 0
    for node in tree.ext[prelude.count(";") - prelude.count("{ int ptr; }") :]:
        kind = getattr(node, "type", None)
        if isinstance(node, c_ast.Typedef) and node.name not in _NAMED:
            parts = _parts(kind, types, c_ast)
            if parts[2] or not parts[1].startswith(_MADE):  # a struct goes by the name that it has now
                types[node.name] = parts
        if isinstance(node, c_ast.Decl) and isinstance(kind, c_ast.FuncDecl):
            untyped = next((one.name for one in (kind.args.params if kind.args else ()) if isinstance(one, c_ast.ID)), None)
            if untyped is not None:  # C of before 1989; cffi takes none of it
                return Declarations(fault=CFault(_find(text, untyped, position), f"parameter `{untyped}` has no type"))
            function = _function(text, node, kind, position, types, c_ast)
            position = function.span.end
            result.functions.append(function)
    return result


def _types_made(text: str) -> list[str]:
    made = []
    for statement in re.sub(r"\{[^{}]*\}", " ", text).split(";")[:-1]:
        words = re.findall(r"\w+", statement.rpartition("}")[2])
        if "typedef" in words and "{" not in statement and statement.rstrip().endswith(words[-1]) and words[-1][0] not in _DIGITS:
            made.append(words[-1])
    return made


def _function(text: str, node, kind, position: int, types: _Types, c_ast) -> CFunction:
    name_span = _find(text, node.name, position)
    at = name_span.end
    params = []
    for param in kind.args.params if kind.args is not None else ():
        if isinstance(param, c_ast.EllipsisParam):
            continue
        type_text = _spelled(param.type, types, c_ast)
        if type_text == "void" and not getattr(param, "name", None):
            continue
        name = getattr(param, "name", None) or ""
        span = _find(text, name, at) if name else Span(at, at)
        at = max(at, span.end)
        params.append(CParam(name, type_text, span, span))
    end = text.find(";", at)
    end = len(text) if end == -1 else end + 1
    return CFunction(node.name, _spelled(kind.type, types, c_ast), tuple(params), Span(name_span.start, end), name_span)


def _find(text: str, name: str, position: int) -> Span:
    found = re.compile(rf"\b{re.escape(name)}\b").search(text, position)
    return Span(*found.span()) if found else Span(position, position)


def _spelled(node, types: _Types, c_ast) -> str:
    """A type's normal form, as :func:`_type` gives it."""
    const, base, stars = _parts(node, types, c_ast)
    return f"{'const ' if const and stars else ''}{base}{' ' + '*' * stars if stars else ''}"


def _parts(node, types: _Types, c_ast) -> tuple[bool, str, int]:
    """Whether the value is const, its type's name, and how many pointers lead to it."""
    stars = 0
    while isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        stars += 1
        node = node.type
    if isinstance(node, c_ast.FuncDecl):
        return False, "function", 1
    const = "const" in (getattr(node, "quals", None) or [])
    inner = getattr(node, "type", node)
    if not isinstance(inner, c_ast.IdentifierType):
        return const, f"{type(inner).__name__.lower()} {getattr(inner, 'name', '') or ''}".strip(), stars
    base = " ".join(inner.names)
    if base in types:  # `const` before a pointer's name is the pointer's
        made, base, more = types[base]
        const, stars = made or (const and not more), stars + more
    return const, base, stars


def _fault(text: str, message: str) -> CFault:
    """pycparser's message (``:3:14: before: x``) with its place."""
    found = re.match(r"[^:]*:(\d+):(?:(\d+):)?\s*(.*)", message, re.DOTALL)
    if found is None:
        early = "end of input" in message.lower()
        return CFault(Span(0, len(text)), "the declarations end too early" if early else _told(message))
    lines = text.split("\n")
    row = min(max(int(found[1]) - 2, 0), len(lines) - 1)
    column = min(max(int(found[2] or 1) - 1, 0), len(lines[row]))
    start = sum(len(line) + 1 for line in lines[:row]) + column
    return CFault(Span(start, min(start + 1, len(text))), _told(found[3]))


def _told(message: str) -> str:
    text = " ".join(message.split()).lstrip(": ")
    return text[:1].lower() + text[1:] or "the declarations cannot be read"


# ── places ─────────────────────────────────────────────────────────────────

_LITERAL = regex(rb"""(?P<prefix>[A-Za-z]{0,2})(?P<quote>'''|\"""|'|")""")


def text_place(literal: Place, text: str, span: Span) -> Place:
    """Place of a part of ``text`` inside the Python literal that it came from.

    Falls back to the whole literal when its text is not the source's own one to one (escapes, f-strings, concatenations, dedent).
    """
    start = _content_start(literal.source, literal.span, text)
    if start is None:
        return literal
    data = literal.source.raw  # the literal's own part, read above
    first = _advance(data, start, text[: span.start])
    last = _advance(data, first, text[span.start : span.end])
    return Place(literal.source, Span(first, last))


def _content_start(source: Source, span: Span, text: str) -> int | None:
    data = source.slice(span).encode()
    opening = _LITERAL.match(data)
    if opening is None or b"f" in opening["prefix"].lower():
        return None
    content = data[opening.end() : -len(opening["quote"])]
    if content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").decode("utf-8", "replace") != text:
        return None
    return span.start + opening.end()


def _advance(data: bytes, offset: int, text: str) -> int:
    """The offset behind ``text``, whose line feeds may be CRLF in the file."""
    for part in text.split("\n")[:-1]:
        offset += len(part.encode())
        offset += 2 if data[offset : offset + 2] == b"\r\n" else 1
    return offset + len(text.rsplit("\n", 1)[-1].encode())
