"""The results as the client's texts have them now: findings by file, moved with what was typed since, as diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from lsprotocol import types as lsp

from cutile_lint.findings import Finding, Level
from cutile_lint.server.documents import Documents
from cutile_lint.server.pages import page_uri
from cutile_lint.server.positions import Moved
from cutile_lint.server.session import Key, Outcome, is_judgement
from cutile_lint.sources import Place, Source, Span
from cutile_lint.unit.suite.files import is_test_file

SOURCE = "cutile-lint"
_SEVERITY = {
    Level.ERROR: lsp.DiagnosticSeverity.Error,
    Level.WARNING: lsp.DiagnosticSeverity.Warning,
    Level.INFO: lsp.DiagnosticSeverity.Information,
}


class View:
    """All results so far. ``docs_url`` as in the client's settings."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self.docs_url = ""
        self.related = True
        self.code_description = True
        self.outcomes: dict[Key, Outcome] = {}
        self.broken: Mapping[Path, tuple[Source, tuple[Finding, ...]]] = {}
        self.problems: list[Finding] = []
        self._moved: dict[tuple[int, int], Moved] = {}

    # ── places ──

    def now(self, place: Place) -> Place | None:
        """The place in the client's present text; None when that has changed there."""
        document = self.documents.get(place.path)
        if document is None or document.source is place.source or document.source.data == place.source.data:
            return place if document is None else Place(document.source, place.span)
        key = (id(place.source), id(document.source))
        moved = self._moved.get(key)
        if moved is None or moved.old is not place.source.data or moved.new is not document.source.data:
            if len(self._moved) > 200:
                self._moved.clear()
            moved = self._moved[key] = Moved(place.source.data, document.source.data)
        return moved.place(place, document.source)

    def range(self, place: Place) -> lsp.Range:
        document = self.documents.get(place.path)
        shows_bom = document.shows_bom if document is not None else False
        return self.documents.encoding.range(place.source, place.span, shows_bom)

    def location(self, place: Place) -> lsp.Location:
        return lsp.Location(self.documents.uri(place.path), self.range(place))

    # ── findings ──

    def paths(self) -> set[Path]:
        """Files that anything is said about."""
        found = {one.path for outcome in self.outcomes.values() for one in outcome.findings}
        return found | set(self.broken) | {one.path for one in self.problems}

    def partners(self, path: Path) -> set[Path]:
        """The other files of the ops that a file belongs to or is read for."""
        return {other for outcome in self.outcomes.values() if path in outcome.read for other in outcome.files} - {path}

    def findings(self, path: Path) -> list[tuple[Finding, Place]]:
        """The findings of a file with their present places; the same one of several ops once."""
        found: dict[tuple[str, Span, str], tuple[Finding, Place]] = {}
        judged: dict[tuple[str, Span, str], int] = {}
        held = sum(path in outcome.held for outcome in self.outcomes.values())
        for outcome in self.outcomes.values():
            if path not in outcome.files:
                continue
            for finding in outcome.findings:
                if finding.path != path or (place := self.now(finding.place)) is None:
                    continue
                key = (finding.code, place.span, finding.message if is_judgement(finding) else "")
                if is_judgement(finding):
                    judged[key] = judged.get(key, 0) + 1
                found.setdefault(key, (finding, place))
        for key, count in judged.items():
            if count < held:
                del found[key]
        for finding in (*self._faults(path), *(one for one in self.problems if one.path == path)):
            place = self.now(finding.place) if finding.place.source.data else finding.place
            if place is not None:
                found.setdefault((finding.code, place.span, ""), (finding, place))
        return sorted(found.values(), key=lambda item: (item[1].span, item[0].code))

    def _faults(self, path: Path) -> tuple[Finding, ...]:
        """The syntax errors of an open file that the last good text stands for, if that is part of an op."""
        is_part = not is_test_file(path) and any(path in outcome.read for outcome in self.outcomes.values())
        return self.broken[path][1] if is_part and path in self.broken else ()

    def diagnostics(self, path: Path) -> list[lsp.Diagnostic]:
        return [self.diagnostic(finding, place) for finding, place in self.findings(path)]

    def diagnostic(self, finding: Finding, place: Place) -> lsp.Diagnostic:
        related = [
            lsp.DiagnosticRelatedInformation(self.location(now), one.message)
            for one in (finding.related if self.related else ())
            if (now := self.now(one.place)) is not None
        ]
        message = f"{finding.message}\nhelp: {finding.help}" if finding.help else finding.message
        url = (finding.url or page_uri(finding.code, finding.name, self.docs_url)) if self.code_description else None
        return lsp.Diagnostic(
            range=self.range(place),
            message=message,
            severity=_SEVERITY[finding.level],
            code=finding.code or None,
            code_description=lsp.CodeDescription(url) if url else None,
            source=SOURCE,
            related_information=related or None,
        )

    def touching(self, path: Path, span: Span) -> list[tuple[Finding, Place]]:
        """The findings whose place meets a span."""
        return [
            (finding, place)
            for finding, place in self.findings(path)
            if place.span.start <= span.end and span.start <= place.span.end
        ]


def codes_of(diagnostics: Iterable[lsp.Diagnostic]) -> set[str]:
    return {str(one.code) for one in diagnostics if one.source == SOURCE}
