"""What of a unit could not be read: syntax errors with their places, and files that were refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends.syntax import Fault
from cutile_lint.sources import Place, Source, Span
from cutile_lint.unit.machine.machine import TOO_LARGE
from cutile_lint.unit.reference.files import find_analysis

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


class Health:
    """``errors``: (place, what the parser says); ``refused``: (the file's start, why it was not analysed); ``cut``: the functions,
    or starts of modules, that were not followed to their end because of their size."""

    def __init__(self, unit: KernelUnit) -> None:
        self.errors: list[tuple[Place, str]] = []
        self.refused: list[tuple[Place, str]] = []
        self.cut = list(dict.fromkeys(_cut(unit)))
        for source, faults, refused in _read(unit):
            if refused:
                self.refused.append((Place(source, Span(0, 0)), refused))
            for fault in faults:
                if _is_limit(fault):
                    self.refused.append((Place(source, Span(0, 0)), fault.message))
                else:
                    self.errors.append((Place(source, fault.span), fault.message))


def _cut(unit: KernelUnit) -> Iterator[Place]:
    """Where runs were given up for their size."""
    runs = [run.trace for run in unit.runs]
    runs += [unit.export_run(export).trace for export in unit.launched_exports]
    runs += [unit.entry_run(entry).trace for entry in unit.entries]
    for trace in runs:
        for reason, place in trace.gaps:
            if place is not None and reason.startswith(TOO_LARGE):
                yield place


def _read(unit: KernelUnit) -> Iterator[tuple[Source, list[Fault], str]]:
    """Source, faults and refusal of every file that the unit is made of."""
    list(unit.modules)
    reference = unit.reference
    for module in list(unit.program.modules.values()):
        if module is not None:
            yield module.source, module.faults, module.refused
    for ir in list(unit.program.ir_modules.values()):
        if ir is not None:
            yield ir.source, ir.faults, ir.refused
    if (manifest := unit.__dict__.get("manifest")) is not None:
        yield manifest.source, manifest.faults, ""
    if reference is None or reference.analysis is None:
        yield from _analysis(unit)


def _analysis(unit: KernelUnit) -> Iterator[tuple[Source, list[Fault], str]]:
    """An ``analysis.json`` that gave no evidence."""
    workspace = unit.program.workspace
    path = find_analysis(workspace, unit.layout.wrapper, list(dict.fromkeys(unit.layout.exports.values())), unit.name)
    source = workspace.source(path) if path is not None else None
    if source is not None:
        from cutile_lint.frontends.reference import read_analysis

        yield source, read_analysis(source).faults, ""


def _is_limit(fault: Fault) -> bool:
    return fault.span == Span(0, 0) and ("more than the limit" in fault.message or "too deep" in fault.message)
