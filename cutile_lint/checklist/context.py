"""What verifiers ask about: the unit, the findings, gaps of the runs, and the files beside the source."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from cutile_lint.checklist.verdict import Open
from cutile_lint.engine.registry import find_rule
from cutile_lint.engine.rule_options import values_of
from cutile_lint.findings import Finding
from cutile_lint.frontends.ir import IrModule
from cutile_lint.sources import Place, Source, Span
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.launches import KernelLaunch
from cutile_lint.unit.linking.crate import Entry


class Context:
    """One op under the checklist."""

    def __init__(self, unit: KernelUnit, findings: list[Finding], known: Container[str] | None = None) -> None:
        self.unit = unit
        #: codes of the rules that there are; None: all of the table
        self.known = known
        self.findings = findings
        self.workspace = unit.program.workspace

    def options(self, code: str) -> dict[str, Any]:
        """The values of a rule's options: what is accepted there is accepted here."""
        info = find_rule(code)
        assert info is not None
        return values_of(info, self.unit.settings)

    # ── gaps: what makes silence worthless ──

    @cached_property
    def wrapper_gaps(self) -> list[Open]:
        unit = self.unit
        if not unit.runs:
            return [Open("no wrapper that launches it was found")]
        gaps = [Open(f"the wrapper could not be followed: {why}", place) for run in unit.runs for why, place in run.trace.gaps]
        gaps += [
            Open("the file has syntax errors", path=one.source.path) for one in unit.python_modules if one.faults or one.refused
        ]
        if not unit.launches:
            gaps.append(Open("no launch was seen in the wrapper", path=unit.layout.wrapper))
        return gaps

    @cached_property
    def export_gaps(self) -> list[Open]:
        unit = self.unit
        missing = dict.fromkeys(one.symbol for one in unit.launches if one.symbol not in unit.exports)
        gaps = [Open(f"no export of `{symbol}` was found") for symbol in missing]
        for boundary in unit.boundary:
            gaps += [Open(f"`{boundary.symbol}` could not be followed: {why}", place) for why, place in boundary.run.trace.gaps]
            if not boundary.kernel_launches:
                gaps.append(Open(f"no kernel launch was found in `{boundary.symbol}`", boundary.export.place))
        gaps += [
            Open("the file has syntax errors", path=one.source.path) for one in unit.rust_modules if one.faults or one.refused
        ]
        return gaps or ([] if unit.boundary else [Open("no export was found")])

    @cached_property
    def rust_faults(self) -> list[Open]:
        return [
            Open("the file has syntax errors", path=one.source.path)
            for one in self.unit.rust_modules
            if one.faults or one.refused
        ]

    @cached_property
    def kernel_gaps(self) -> list[Open]:
        unit = self.unit
        missing = dict.fromkeys(one.entry_name for _, one in self.launched if one.entry is None)
        gaps = [Open(f"the kernel `{name}` was not found") for name in missing]
        for entry in self.entries:
            run = unit.entry_run(entry)
            gaps += [Open(f"`{entry.name}` could not be followed: {why}", place) for why, place in run.trace.gaps]
        gaps += self.rust_faults
        return gaps or ([] if self.entries else [Open("no device kernel was found")])

    # ── the unit ──

    @cached_property
    def launched(self) -> list[tuple[Boundary, KernelLaunch]]:
        return [(boundary, one) for boundary in self.unit.boundary for one in boundary.kernel_launches]

    @cached_property
    def entries(self) -> list[Entry]:
        """The entries that are launched."""
        return list({id(one.entry): one.entry for _, one in self.launched if one.entry is not None}.values())

    # ── files beside the source ──

    @cached_property
    def folders(self) -> list[Path]:
        """Folders of the op's own files, the exports' first, and what is usual around them."""
        layout = self.unit.layout
        own = [path.parent for path in dict.fromkeys(layout.exports.values())]
        if layout.wrapper is not None:
            own.append(layout.wrapper.parent)
        return list(dict.fromkeys(own))

    @cached_property
    def generated(self) -> list[tuple[Path, IrModule | None]]:
        """Generated IR of the op: ``generated/*.mlir`` beside the export, read; None where it could not be."""
        for folder in self.folders:
            found = [path for path in self.workspace.entries(folder / "generated") if path.suffix == ".mlir"]
            # canonicalised and raw forms of one IR: each is read
            if found:
                return [(path, self.unit.program.ir_module(path)) for path in found]
        return []

    def report(self, *names: str) -> Path | None:
        """The first report of these names in ``reports/`` (or its ``agent_logs/``) beside the op's files."""
        return next((path for name in names for path in self.reports if path.name == name), None)

    @cached_property
    def reports(self) -> list[Path]:
        found = []
        for folder in self.folders:
            for place in (folder / "reports", folder / "reports" / "agent_logs"):
                found += [path for path in self.workspace.entries(place) if path.suffix in (".md", ".txt")]
        return found

    def first_line(self, path: Path) -> tuple[str, Place | None]:
        """The first line of a report that says anything, without markup."""
        source = self.workspace.source(path)
        if source is None:
            return "", None
        for row in range(1, len(source.line_starts) + 1):
            text = source.line(row).strip()
            if text:
                return text.strip("#*_` ").strip(), line_place(source, row)
        return "", None

    def modified(self, path: Path) -> float | None:
        """The file time; None when it has none (an editor's text)."""
        try:
            return os.stat(path).st_mtime
        except OSError:
            return None

    def newer_than(self, path: Path, others: list[Path]) -> Iterator[Open]:
        """What is newer than a file that was made from it, by file times."""
        made = self.modified(path)
        late = [other for other in others if made is not None and (self.modified(other) or 0) > made]
        if late:
            yield Open(f"`{path.name}` is older than `{late[0].name}`: made before the last change, by file times", path=path)


def line_place(source: Source, row: int) -> Place:
    start = source.line_starts[row - 1]
    text = source.line(row).encode()
    return Place(source, Span(start, start + len(text)))
