"""Code actions: fixes, all safe fixes of a file, comments that silence, explanations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from pathlib import Path

from lsprotocol import types as lsp

from cutile_lint.findings import Applicability, Edit, Finding, Fix
from cutile_lint.server.view import View, codes_of
from cutile_lint.sources import Place, Source, Span

FIX_ALL = "source.fixAll.cutile-lint"
EXPLAIN = "cutile-lint.explain"


class Actions:
    """``versioned``: the client takes document changes with versions."""

    def __init__(self, view: View, versioned: bool) -> None:
        self.view = view
        self.versioned = versioned

    def at(self, path: Path, span: Span, context: lsp.CodeActionContext) -> list[lsp.CodeAction]:
        """The actions for what is found in a span of an open file."""
        actions: list[lsp.CodeAction] = []
        given = codes_of(context.diagnostics)
        wanted = [(one, place) for one, place in self.view.touching(path, span) if not given or one.code in given]
        if _asks(context, lsp.CodeActionKind.QuickFix):
            for finding, place in wanted:
                diagnostic = self.view.diagnostic(finding, place)
                actions += self._fix(finding, diagnostic)
            for finding, place in wanted:
                diagnostic = self.view.diagnostic(finding, place)
                actions += self._ignore(finding, place, diagnostic)
            for code in dict.fromkeys(finding.code for finding, _ in wanted):
                actions.append(self._explain(code))
        is_whole = path not in self.view.broken  # fixes are made for the text as it is
        if _asks(context, FIX_ALL) and is_whole and any(_is_safe(finding) for finding, _ in self.view.findings(path)):
            uri = self.view.documents.uri(path)
            actions.append(lsp.CodeAction("cutile-lint: fix all that is safe to fix", FIX_ALL, data={"fixAll": uri}))
        return actions

    def _fix(self, finding: Finding, diagnostic: lsp.Diagnostic) -> list[lsp.CodeAction]:
        fix = finding.fix
        edit = self.workspace_edit(fix.edits) if fix is not None else None
        if fix is None or edit is None:
            return []
        safe = fix.applicability is Applicability.SAFE
        title = f"{finding.code}: {fix.message}" + ("" if safe else " (unsafe)")
        return [lsp.CodeAction(title, lsp.CodeActionKind.QuickFix, [diagnostic], is_preferred=safe or None, edit=edit)]

    def _ignore(self, finding: Finding, place: Place, diagnostic: lsp.Diagnostic) -> list[lsp.CodeAction]:
        from cutile_lint.fixes.suppress import plan

        document = self.view.documents.get(place.path)
        if document is None or not document.source.data == finding.place.source.data:
            return []
        edit = self.workspace_edit(plan([finding]).edits)
        if edit is None:
            return []
        return [lsp.CodeAction(f"{finding.code}: ignore on this line", lsp.CodeActionKind.QuickFix, [diagnostic], edit=edit)]

    def _explain(self, code: str) -> lsp.CodeAction:
        command = lsp.Command(f"{code}: explain", EXPLAIN, arguments=[code])
        return lsp.CodeAction(command.title, lsp.CodeActionKind.QuickFix, command=command)

    # ── edits ──

    def workspace_edit(self, edits: Iterable[Edit]) -> lsp.WorkspaceEdit | None:
        """One edit for all files; None without edits, or when a text is no longer the one that they were made for."""
        by_file: dict[Path, list[lsp.TextEdit]] = {}
        for edit in edits:
            if not self._is_present(edit.source):
                return None
            content = edit.content.replace("\r\n", "\n").replace("\n", edit.source.newline)
            place = Place(edit.source, Span(edit.start, edit.end))
            by_file.setdefault(edit.path, []).append(lsp.TextEdit(self.view.range(place), content))
        return self._made(by_file) if by_file else None

    def changed_texts(self, changed: Mapping[Path, bytes], originals: Mapping[Path, bytes]) -> lsp.WorkspaceEdit | None:
        """The edit from texts to texts, line by line; None when a file is no longer what it was."""
        by_file: dict[Path, list[lsp.TextEdit]] = {}
        for path, data in changed.items():
            source = Source(path, originals[path])
            if not self._is_present(source):
                return None
            by_file[path] = [
                lsp.TextEdit(self.view.range(Place(source, span)), text) for span, text in _differences(source, data)
            ]
        return self._made(by_file) if by_file else None

    def _is_present(self, source: Source) -> bool:
        document = self.view.documents.get(source.path)
        if document is not None:
            return document.source.data == source.data
        try:
            return source.path.read_bytes() == source.data
        except OSError:
            return False

    def _made(self, by_file: Mapping[Path, list[lsp.TextEdit]]) -> lsp.WorkspaceEdit:
        documents = self.view.documents
        if not self.versioned:
            return lsp.WorkspaceEdit(changes={documents.uri(path): edits for path, edits in by_file.items()})
        changes = []
        for path, edits in by_file.items():
            document = documents.get(path)
            identifier = lsp.OptionalVersionedTextDocumentIdentifier(
                documents.uri(path), document.version if document is not None else None
            )
            changes.append(lsp.TextDocumentEdit(identifier, list(edits)))
        return lsp.WorkspaceEdit(document_changes=changes)


def _asks(context: lsp.CodeActionContext, kind: str) -> bool:
    """Whether the client wants actions of a kind: all, the kind itself or one above it."""
    return not context.only or any(kind == one or kind.startswith(f"{one}.") or one == "" for one in map(_text, context.only))


def _text(kind: str | lsp.CodeActionKind) -> str:
    return kind.value if isinstance(kind, lsp.CodeActionKind) else str(kind)


def _is_safe(finding: Finding) -> bool:
    return isinstance(finding.fix, Fix) and finding.fix.applicability is Applicability.SAFE


def _differences(source: Source, data: bytes) -> list[tuple[Span, str]]:
    """What to replace by what, in whole lines."""
    old, new = source.data.splitlines(keepends=True), data.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    return [
        (Span(starts[first], starts[last]), b"".join(new[start:end]).decode("utf-8", "replace"))
        for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
