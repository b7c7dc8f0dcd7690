"""The tensor descriptor on both sides: the runtime's typedef, rank limit, dtype codes and messages against ``ffi_util.rs``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.signatures import agrees
from cutile_lint.unit.linking.runtime_files import runtime_files

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

_TYPEDEF = regex(r"typedef\s+struct\b\s*(?:\w+\s*)?\{(?P<body>[^{}]*)\}\s*TensorDesc\s*;")
_FIELD = regex(r"\s*(?P<type>(?:\w+\s+)+?)(?P<name>\w+)(?:\s*\[\s*(?P<count>\w+)\s*\])?\s*\Z")
#: PyTorch's dtypes by the name of the Rust type that stores them
_STORED = {
    "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f64": "float64", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "f8e5m2": "float8_e5m2", "f8e4m3fn": "float8_e4m3fn", "bool": "bool",
}  # fmt: skip
#: what a Rust file has that says something about descriptors or codes
_RUST_SIDE = (b"struct TensorDesc", b"fn dtype_str", b"mod rc")
#: names that one code may bear on the two sides: they are stored alike
_ALIKE = ({"uint8", "f4e2m1fnx2"}, {"uint8", "u8"}, {"int8", "i8"}, {"bool", "u8"})


@dataclass(frozen=True, slots=True)
class Member:
    """``count``: the elements of an array; 0 for a single one."""

    name: str
    type: str
    count: int
    place: Place


@dataclass(slots=True)
class Descriptor:
    """What one side says."""

    members: list[Member] = field(default_factory=list)
    ranks: list[tuple[int, Place]] = field(default_factory=list)
    dtypes: dict[int, tuple[str, Place]] = field(default_factory=dict)
    codes: dict[int, tuple[str, Place]] = field(default_factory=dict)
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Drift:
    place: Place
    message: str
    other: Place


def drifts(unit: KernelUnit) -> Iterator[Drift]:
    files = runtime_files(unit, "make-tensor-desc", "bind-kernel-function-cffi")
    shared = [module for module in unit.rust_modules if any(module.source.has(word) for word in _RUST_SIDE)]
    key = (drifts, *files, *(module.source.path for module in shared))  # both are shared by all ops of a run
    yield from unit.program.once(key, lambda: list(_drifts(unit, files, shared)))


def _drifts(unit: KernelUnit, files: list[Path], shared: list[syntax.Module]) -> Iterator[Drift]:
    python = next((found for path in files if (found := _python_side(unit, path)).members), None)
    if python is None:
        return
    rust = _rust_side(shared)
    if rust.members:
        yield from _layout(python, rust)
    yield from _dtypes(python, rust)
    yield from _codes(python, rust)


# ── Python ─────────────────────────────────────────────────────────────────


def _python_side(unit: KernelUnit, path: Path) -> Descriptor:
    side = Descriptor()
    module = unit.program.module(path)
    if module is None:
        return side
    constants = {
        target.id: node.value
        for node in module.body
        if isinstance(node, syntax.Assign) and node.value is not None
        for target in node.targets
        if isinstance(target, syntax.Name)
    }
    for node in module.walk():
        if isinstance(node, syntax.Const) and isinstance(node.value, str) and "typedef" in node.value and not side.members:
            _read_typedef(side, node.value, Place(module.source, node.span))
        elif isinstance(node, syntax.Mapping):
            _read_table(side, node, module)
        elif isinstance(node, syntax.Compare) and node.op in (">", ">=") and _is_rank(node.left):
            bound = node.right
            if isinstance(bound, syntax.Name):
                bound = constants.get(bound.id, bound)
            if isinstance(bound, syntax.Const) and isinstance(bound.value, int):
                side.ranks.append((bound.value if node.op == ">" else bound.value - 1, Place(module.source, bound.span)))
    return side


def _is_rank(node: syntax.Expr) -> bool:
    if isinstance(node, syntax.Call) and isinstance(node.func, syntax.Attr):
        return node.func.name in ("dim", "ndimension")
    return isinstance(node, syntax.Attr) and node.name == "ndim"


def _read_typedef(side: Descriptor, text: str, place: Place) -> None:
    found = _TYPEDEF.search(re.sub(r"/\*.*?(?:\*/|\Z)|//[^\n]*", "", text, flags=re.DOTALL))
    if found is None:
        return
    members = []
    for part in found["body"].split(";")[:-1]:
        one = _FIELD.match(part)
        if one is None or (one["count"] or "0").isdigit() is False:
            return
        members.append(Member(one["name"], " ".join(one["type"].split()), int(one["count"] or 0), place))
    side.members, side.place = members, place


def _read_table(side: Descriptor, node: syntax.Mapping, module: syntax.Module) -> None:
    """A dict from dtype (or its name) to code, or from return code to message."""
    for key, value in node.items:
        if key is None:
            continue
        name = key.value if isinstance(key, syntax.Const) else f"torch.{key.name}" if isinstance(key, syntax.Attr) else None
        place = Place(module.source, value.span)
        if isinstance(name, str) and name.startswith("torch.") and isinstance(value, syntax.Const) and type(value.value) is int:
            side.dtypes[value.value] = (name.removeprefix("torch."), place)
        code = _number(key)
        if code is not None and code < 0 and isinstance(value, syntax.Const) and isinstance(value.value, str):
            side.codes[code] = (value.value, place)


def _number(node: syntax.Expr | None) -> int | None:
    if isinstance(node, syntax.Unary) and node.op == "-":
        inner = _number(node.operand)
        return -inner if inner is not None else None
    return node.value if isinstance(node, syntax.Const) and type(node.value) is int else None


# ── Rust ───────────────────────────────────────────────────────────────────


def _rust_side(modules: list[syntax.Module]) -> Descriptor:
    side = Descriptor()
    for module in modules:
        numbers = {
            target.id: value
            for node in module.walk()
            if isinstance(node, syntax.Assign) and node.declares and (value := _number(node.value)) is not None
            for target in node.targets
            if isinstance(target, syntax.Name)
        }
        for node in module.walk():
            if isinstance(node, syntax.ClassDef) and node.kind == "struct" and node.name == "TensorDesc" and not side.members:
                side.place = Place(module.source, node.span)
                side.members = list(_struct(node, module, numbers))
            elif isinstance(node, syntax.FunctionDef) and node.function.name == "dtype_str":
                _read_names(side, node.function, module)
            elif isinstance(node, syntax.ModuleDef) and node.name == "rc" and node.body is not None:
                for one in node.body:
                    if isinstance(one, syntax.Assign) and (code := _number(one.value)) is not None:
                        side.codes.update(
                            (code, (target.id, Place(module.source, one.span)))
                            for target in one.targets
                            if isinstance(target, syntax.Name)
                        )
    return side


def _struct(node: syntax.ClassDef, module: syntax.Module, numbers: dict[str, int]) -> Iterator[Member]:
    for one in node.body:
        if not isinstance(one, syntax.Assign) or not one.name:
            continue
        text, count = one.annotation.strip(), 0
        array = re.fullmatch(r"\[\s*([\w:]+)\s*;\s*(\w+)\s*\]", text)
        if array is not None:
            text = array[1]
            count = int(array[2]) if array[2].isdigit() else numbers.get(array[2], -1)
        yield Member(one.name, text, count, Place(module.source, one.span))


def _read_names(side: Descriptor, function: syntax.Function, module: syntax.Module) -> None:
    """``match code { 0 => Some("f32"), … }`` or a table of pairs."""
    for node in function.walk():
        if isinstance(node, syntax.Arm):
            patterns = node.pattern.items if node.pattern.kind == "or" else [node.pattern]
            texts = [
                part for one in node.body for part in one.walk() if isinstance(part, syntax.Const) and isinstance(part.value, str)
            ]
            for pattern in patterns:
                code = _number(pattern.value)
                if code is not None and len(texts) == 1:
                    side.dtypes[code] = (str(texts[0].value), Place(module.source, texts[0].span))
        elif isinstance(node, syntax.Sequence) and node.kind == "tuple" and len(node.items) == 2:
            code, text = _number(node.items[0]), node.items[1]
            if code is not None and isinstance(text, syntax.Const) and isinstance(text.value, str):
                side.dtypes[code] = (text.value, Place(module.source, text.span))


# ── comparing ──────────────────────────────────────────────────────────────


def _layout(python: Descriptor, rust: Descriptor) -> Iterator[Drift]:
    assert python.place is not None and rust.place is not None
    if [one.name for one in python.members] != [one.name for one in rust.members]:
        told = ", ".join(one.name for one in python.members)
        yield Drift(
            python.place,
            f"the members of `TensorDesc` are {told} here and {', '.join(one.name for one in rust.members)} in Rust",
            rust.place,
        )
        return
    for one, other in zip(python.members, rust.members, strict=True):
        if agrees(other.type, one.type) is False:
            yield Drift(one.place, f"`TensorDesc.{one.name}` is `{one.type}` here and `{other.type}` in Rust", other.place)
        elif other.count >= 0 and one.count != other.count:
            yield Drift(
                one.place, f"`TensorDesc.{one.name}` has {one.count} elements here and {other.count} in Rust", other.place
            )
    room = [one.count for one in rust.members if one.count > 0]
    for rank, place in python.ranks:
        if room and rank > min(room):
            yield Drift(place, f"tensors of up to {rank} dimensions are packed into a `TensorDesc` of {min(room)}", rust.place)


def _dtypes(python: Descriptor, rust: Descriptor) -> Iterator[Drift]:
    if not rust.dtypes:
        return
    for code, (name, place) in python.dtypes.items():
        other = rust.dtypes.get(code)
        if other is None:
            first = next(iter(rust.dtypes.values()))[1]
            yield Drift(place, f"the dtype code {code} of `{name}` is unknown to `dtype_str`", first)
        elif (
            _STORED.get(other[0], other[0]) != name
            and not any({name, other[0]} <= pair for pair in _ALIKE)
            and other[0] in _STORED
        ):
            yield Drift(place, f"the dtype code {code} is `{name}` here and `{other[0]}` in Rust", other[1])


def _codes(python: Descriptor, rust: Descriptor) -> Iterator[Drift]:
    """Messages that fit another code's name better than their own."""
    if not rust.codes:
        return
    for code, (text, place) in python.codes.items():
        other = rust.codes.get(code)
        if other is None:
            first = next(iter(rust.codes.values()))[1]
            yield Drift(place, f"no export returns {code}, which is told as `{text}`", first)
            continue
        fits = {at: _likeness(text, name) for at, (name, _) in rust.codes.items()}
        best = max(fits.values())
        if fits[code] == 0 and best > 0:
            yield Drift(place, f"the return code {code} is `{other[0]}` in Rust and told as `{text}`", other[1])


def _likeness(text: str, name: str) -> int:
    said = re.findall(r"[a-z]+", text.lower())
    return sum(any(word[:4] == one[:4] for one in said) for word in name.lower().split("_"))
