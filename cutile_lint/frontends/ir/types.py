"""Tile IR types, read from their text: tiles, pointers, tensor views and the views cut from them.

Both spellings are read: ``tile<64x32xf16>`` and ``!cuda_tile.tile<64x32xf16>``. A size or stride that is only known at run time
(``?``) is None.
"""

from __future__ import annotations

import re

from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Span

PREFIX = "cuda_tile."
VIEWS = frozenset({"partition_view", "strided_view", "gather_scatter_view"})
KINDS = VIEWS | {"tile", "ptr", "tensor_view", "token"}

_SCALAR = regex(r"(?:i|ui|si|f|bf|tf)\d\w*|index|none")
_DIMENSIONS = regex(r"((?:(?:\d+|\?)x)*)(.*)", re.DOTALL)
_STRIDES = regex(r"(?<!\w)strides\s*=\s*\[([^\]]*)\]")
_TILE = regex(r"(?<!\w)tile\s*=\s*\(([^)]*)\)")
_DIM_MAP = regex(r"(?<!\w)dim_map\s*=\s*\[([^\]]*)\]")
_PADDING = regex(r"(?<!\w)padding_value\s*=\s*(\w+)")
_TENSOR = regex(r"tensor_view\s*<")


@dataclass(frozen=True, slots=True)
class IrType:
    """One type and its place.

    ``kind`` is "tile", "ptr", "tensor_view", "partition_view", "strided_view", "gather_scatter_view", "token", or "other"
    (scalars).
    ``element`` is the scalar ("f16"); with ``pointer`` a tile (or ptr) holds addresses of such scalars.
    ``shape`` of a tile or tensor view in elements; for a cut view it is the tile's shape. ``tensor`` is what a view was cut from.
    """

    span: Span
    text: str
    kind: str
    element: str = ""
    shape: tuple[int | None, ...] = ()
    pointer: bool = False
    #: of a tensor view, in elements; None when the text gives none
    strides: tuple[int | None, ...] | None = None
    #: of a cut view: which tensor dimension each tile dimension walks; None is the identity
    dim_map: tuple[int | None, ...] | None = None
    #: of a cut view: "zero", "neg_inf", …; "" when out-of-bounds elements are undefined
    padding: str = ""
    tensor: IrType | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_view(self) -> bool:
        return self.kind in VIEWS


def plain(word: str) -> str:
    """A name without its dialect: ``!cuda_tile.tile`` → ``tile``, ``cuda_tile.mmaf`` → ``mmaf``."""
    word = word.lstrip("!#")
    return word[len(PREFIX) :] if word.startswith(PREFIX) else word


def is_type_name(word: str) -> bool:
    name = plain(word)
    return name in KINDS or word.startswith("!") or _SCALAR.fullmatch(name) is not None


def read_type(text: str, start: int) -> IrType:
    """The type that ``text`` is; ``start`` is its byte offset (types are ASCII)."""
    span = Span(start, start + len(text.encode()))
    head, bracket, rest = text.partition("<")
    kind = plain(head.strip())
    inner = rest.rpartition(">")[0] if bracket else ""
    if kind == "tile":
        shape, element, pointer = _elements(inner)
        return IrType(span, text, kind, element, shape, pointer)
    if kind == "ptr":
        return IrType(span, text, kind, inner.strip(), pointer=True)
    if kind == "tensor_view":
        shape, element, pointer = _elements(inner.split(",", 1)[0])
        return IrType(span, text, kind, element, shape, pointer, strides=_numbers(_STRIDES.search(inner)))
    if kind in VIEWS:
        return _cut_view(span, text, kind, start)
    return IrType(span, text, "token" if kind == "token" else "other", "" if kind == "token" else kind)


def _cut_view(span: Span, text: str, kind: str, start: int) -> IrType:
    tensor = None
    outer = text
    found = _TENSOR.search(text)
    if found:
        end = _closing(text, found.end() - 1)
        tensor = read_type(text[found.start() : end], start + found.start())
        outer = text[: found.start()] + text[end:]
    tile = _TILE.search(outer)
    shape = tuple(_number(part) for part in tile.group(1).split("x") if part.strip()) if tile else ()
    padding = _PADDING.search(outer)
    return IrType(
        span,
        text,
        kind,
        tensor.element if tensor else "",
        shape,
        dim_map=_numbers(_DIM_MAP.search(outer)),
        padding=padding.group(1) if padding else "",
        tensor=tensor,
    )


def _elements(inner: str) -> tuple[tuple[int | None, ...], str, bool]:
    """Shape, scalar and whether they are addresses, of ``64x32xptr<f16>``."""
    found = _DIMENSIONS.match(inner.strip())
    dimensions, element = found.groups() if found else ("", inner)
    shape = tuple(_number(part) for part in dimensions.split("x") if part)
    element = plain(element.strip())
    if element.startswith("ptr"):
        return shape, element[3:].strip().strip("<>").strip(), True
    return shape, element, False


def _closing(text: str, opening: int) -> int:
    """Offset behind the ``>`` that closes the ``<`` at ``opening``; the text's end if none does."""
    depth = 0
    for index in range(opening, len(text)):
        if text[index] == "<":
            depth += 1
        elif text[index] == ">" and text[index - 1] != "-":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(text)


def _numbers(found: re.Match[str] | None) -> tuple[int | None, ...] | None:
    return tuple(_number(part) for part in found.group(1).split(",") if part.strip()) if found else None


def _number(text: str) -> int | None:
    text = text.strip()
    # eighteen digits: beyond any size, and int() of a text that long may refuse
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
