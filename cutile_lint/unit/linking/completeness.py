"""Whether a unit was followed to its end: only then does the silence of a rule mean *no*."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: evidence that a rule may need, and how the unit tells that it is there
_EVIDENCE = {"reference": lambda unit: unit.reference is not None}


def followed(unit: KernelUnit, layer: str, needs: Iterable[str]) -> bool:
    """Whether a rule whose places are in ``layer`` (a word of the rule format) and that ``needs`` evidence could see all it asks."""
    if layer == "test" or not unit.runs or any(module.faults or module.refused for module in unit.modules):
        return False
    if any(run.trace.gaps for run in unit.runs) or any(launch.symbol not in unit.exports for launch in unit.launches):
        return False
    if any(unit.export_run(export).trace.gaps for export in unit.launched_exports):
        return False
    if layer == "kernel" and any(unit.entry_run(entry).trace.gaps for entry in unit.entries):
        return False
    wanted = {*needs, "reference"} if layer in ("reference", "ir") else set(needs)
    return all(need in _EVIDENCE and _EVIDENCE[need](unit) for need in wanted)
