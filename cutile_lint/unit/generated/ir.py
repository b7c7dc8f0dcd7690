"""The Tile IR that was generated from an op's kernels, beside the kernels and the reference IR that it must agree with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source
from cutile_lint.unit.linking.crate import Entry
from cutile_lint.unit.reference.files import find_reference_ir

if TYPE_CHECKING:
    from cutile_lint.frontends.ir import IrEntry, IrOp, Operand, TensorView
    from cutile_lint.unit.model import KernelUnit

_NAME = regex(r"generated(?:_(?P<variant>.*?))??(?P<canonical>_canon)?")


@dataclass(slots=True, eq=False)
class GeneratedEntry:
    """An entry of generated IR. ``entry`` is the device kernel of the same name, None when there is none.

    ``references``: the entries of the reference IR of its variant; empty without one.
    """

    ir: IrEntry
    source: Source
    variant: str
    entry: Entry | None = None
    references: list[tuple[IrEntry, Source]] = field(default_factory=list)

    @property
    def place(self) -> Place:
        return Place(self.source, self.ir.name_span)

    @property
    def symbol(self) -> str:
        return self.ir.name


@dataclass(slots=True)
class GeneratedIr:
    """All generated IR of a unit. ``whole``: every text was read to its end, so that what is not in it is not there.

    ``folder`` is where it lies; ``files`` are the texts it was read from (the canonical one where a variant has both).
    """

    folder: Path | None = None
    files: list[Source] = field(default_factory=list)
    entries: list[GeneratedEntry] = field(default_factory=list)
    whole: bool = True
    #: the folder may hold the IR of other ops too
    shared: bool = False


def generated_ir(unit: KernelUnit) -> GeneratedIr:
    """The unit's generated IR; empty when there is none (nothing is parsed then)."""
    found = GeneratedIr()
    for folder, shared in _folders(unit):
        files = _files(unit, folder)
        if files:
            found.folder, found.shared = folder, shared
            references = _references(unit)
            for variant, path in files.items():
                _read(unit, variant, path, references, found)
            break
    if found.shared:
        found.entries = [one for one in found.entries if one.entry is not None]
    return found


def _folders(unit: KernelUnit) -> Iterator[tuple[Path, bool]]:
    """``generated/`` beside the kernels, then beside the wrapper and one folder up; True where other ops may share it."""
    seen: set[Path] = set()
    exporting = list(dict.fromkeys(unit.layout.exports.values()))
    near = [(path.parent, False) for path in exporting]
    if unit.layout.wrapper is not None:
        near.append((unit.layout.wrapper.parent, bool(exporting)))
    near += [(path.parent.parent, True) for path in exporting]
    for base, shared in near:
        folder = base / "generated"
        if folder not in seen:
            seen.add(folder)
            if unit.program.workspace.exists(folder):
                yield folder, shared


def _files(unit: KernelUnit, folder: Path) -> dict[str, Path]:
    """``generated[_<variant>][_canon].mlir`` by variant; the canonical one is taken where there are both."""
    found: dict[str, Path] = {}
    for path in sorted(unit.program.workspace.entries(folder)):
        match = _NAME.fullmatch(path.stem) if path.suffix == ".mlir" else None
        if match is not None:
            variant = match["variant"] or ""
            if match["canonical"] or variant not in found:
                found[variant] = path
    return found


def _references(unit: KernelUnit) -> dict[str, list[tuple[IrEntry, Source]]]:
    exporting = list(dict.fromkeys(unit.layout.exports.values()))
    found: dict[str, list[tuple[IrEntry, Source]]] = {}
    for variant, path in find_reference_ir(unit.program.workspace, unit.layout.wrapper, exporting).items():
        module = unit.program.ir_module(path)
        if module is not None and not module.faults and not module.refused:
            found[variant] = [(entry, module.source) for entry in module.entries]
    return found


def _read(
    unit: KernelUnit, variant: str, path: Path, references: dict[str, list[tuple[IrEntry, Source]]], found: GeneratedIr
) -> None:
    module = unit.program.ir_module(path)
    if module is None or module.faults or module.refused:
        found.whole = False
        return
    found.files.append(module.source)
    own = references.get(variant)
    if own is None and len(references) == 1:
        own = next(iter(references.values()))
    for ir in module.entries:
        kernel = _kernel(unit, ir.name)
        # a reference with several kernels: the one of the same name, if any
        same = [one for one in own or [] if kernel is not None and _stem(one[0].name) == _stem(kernel.name)]
        found.entries.append(GeneratedEntry(ir, module.source, variant, kernel, same or list(own or [])))


def _kernel(unit: KernelUnit, name: str) -> Entry | None:
    """The device kernel behind an entry's name: the compiler writes ``<kernel>_entry``."""
    return unit.crate.entries.get(name) or unit.crate.entries.get(name.removesuffix("_entry"))


def _stem(name: str) -> str:
    """A kernel's name without what compilers put behind it (``_entry``, a mangled signature)."""
    return re.sub(r"_K[a-z]*\d\w*$", "", name).removesuffix("_entry").removesuffix("_kernel")


# ── what IR says about tensors ──────────────────────────────────────────────


def origin(ir: IrEntry, operand: Operand | None) -> int | None:
    """The index of the entry's parameter that a pointer is, through assumptions and casts; None when it is computed."""
    seen: set[int] = set()
    while operand is not None and operand.param is None:
        made = operand.producer
        if made is None or id(made) in seen or made.name not in ("assume", "reshape", "broadcast", "ptr_to_ptr", "bitcast"):
            return None
        seen.add(id(made))
        operand = made.operands[0] if made.operands else None
    return next((at for at, param in enumerate(ir.params) if operand is not None and param is operand.param), None)


def pointer_number(ir: IrEntry, view: TensorView) -> int | None:
    """Which of the entry's pointers a view is over, from 0; None when that cannot be told."""
    at = origin(ir, view.base)
    if at is None:
        return None
    return sum(1 for param in ir.params[:at] if param.type is not None and param.type.pointer)


def accumulates_like(op: IrOp, element: str, others: list[IrOp]) -> bool:
    """One of the operations of a reference has the accumulator's type too."""
    return any(other.name == op.name and any(kind.element == element for kind in other.result_types) for other in others)


# ── signatures ──────────────────────────────────────────────────────────────

_SHAPE = regex(r"\[([^\[\]]*)\]")
_TENSOR = regex(r"&\s*(?P<mutable>mut\s+)?(?:'\w+\s+)?(?:\w+::)*Tensor\s*<")
_SCALAR = regex(r"(?:[iu](?:8|16|32|64)|f(?:16|32|64)|bf16|tf32|bool|usize)")


@dataclass(frozen=True, slots=True)
class Signature:
    """What a kernel's parameters become: how many pointers, and how many numbers beside them (several compilers differ)."""

    pointers: int
    others: frozenset[int]


def signature(entry: Entry) -> Signature | None:
    """The parameters that an entry has in IR; None when a type is not known to expand in one way.

    A tensor of rank R becomes its pointer, R sizes and R strides; a mutable one has R more of each for its partition.
    """
    pointers, least, most = 0, 0, 0
    for param in entry.function.params:
        text = param.annotation.strip()
        if (tensor := _TENSOR.match(text)) is not None:
            shape = _SHAPE.findall(text)
            rank = len([part for part in shape[0].split(",") if part.strip()]) if len(shape) == 1 else None
            if not rank:
                return None
            pointers += 1
            least += 2 * rank
            most += (4 if tensor["mutable"] else 2) * rank + 1  # older compilers pass an offset
        elif text.startswith("*"):
            pointers += 1
        elif _SCALAR.fullmatch(text) or text in {generic.name for generic in entry.generics}:
            least += 1
            most += 1
        else:
            return None
    return Signature(pointers, frozenset(range(least, most + 1)))


def ir_signature(ir: IrEntry) -> tuple[int, int] | None:
    """(pointers, other parameters) of an entry in IR."""
    if any(param.type is None for param in ir.params):
        return None
    pointers = sum(1 for param in ir.params if param.type is not None and param.type.pointer)
    return pointers, len(ir.params) - pointers
