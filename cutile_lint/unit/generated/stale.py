"""Generated IR that was made from an older state of the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.unit.generated.ir import GeneratedEntry, ir_signature, signature
from cutile_lint.unit.linking.crate import Entry

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


def missing_entries(unit: KernelUnit) -> list[Entry]:
    """Kernels of the op that none of its generated texts has; empty when not every text could be read, or others share the folder."""
    generated = unit.generated
    if not generated.whole or generated.shared or not generated.files or any(module.faults for module in unit.rust_modules):
        return []
    there = {id(one.entry) for one in generated.entries if one.entry is not None}
    launched = {id(kernel.entry) for boundary in unit.boundary for kernel in boundary.run.launches if kernel.entry is not None}
    folders = {path.parent for path in unit.layout.exports.values()}
    return [
        entry
        for entry in unit.entries
        if id(entry) not in there and entry.source.path.parent in folders and (not launched or id(entry) in launched)
    ]


def changed_signatures(unit: KernelUnit) -> Iterator[tuple[GeneratedEntry, str, str]]:
    """Entries whose parameters are not the kernel's: with what the IR has and what the kernel declares."""
    for one in unit.generated.entries:
        declared = signature(one.entry) if one.entry is not None else None
        said = ir_signature(one.ir)
        if declared is None or said is None:
            continue
        pointers, others = said
        if pointers != declared.pointers:
            yield one, _count(pointers, "pointer"), _count(declared.pointers, "buffer")
        elif others not in declared.others:
            few = min(declared.others)
            yield one, f"{_count(others, 'number')} beside its pointers", f"parameters that make {few}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
