"""Between the protocol and the analysis: what is open, when it is analysed, what is told the client about it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from cutile_lint.server.actions import Actions
from cutile_lint.server.documents import Document, Documents, path_of
from cutile_lint.server.navigation import Navigation
from cutile_lint.server.positions import Encoding
from cutile_lint.server.protocol import CONTENT_MODIFIED, SERVER_CANCELLED, Server, log
from cutile_lint.server.rubbish import Rubbish
from cutile_lint.server.session import Key, Outcome, Session, Stale, Update
from cutile_lint.server.settings import ClientSettings, read_settings, section
from cutile_lint.server.view import View
from cutile_lint.server.watched import patterns_for, registration
from cutile_lint.sources import Source

T = TypeVar("T")
_PROGRESS = "cutile-lint/analysis"
#: seconds without a change after which doubtful results are made anew, or else cycles collected
_PAUSE = 0.5


class Service:
    """One client's state. All methods run on the event loop; the analysis runs on one thread behind it."""

    def __init__(self, server: Server, session: Session) -> None:
        self.server = server
        self.session = session
        self.settings = ClientSettings()
        #: what the client said at the start
        self._initial: object = None
        self.documents = Documents(Encoding())
        self.view = View(self.documents)
        self.navigation = Navigation(self.view)
        self.actions = Actions(self.view, True)
        self.folders: list[Path] = []
        self.pulls = False
        self._capabilities = lsp.ClientCapabilities()
        self._thread = ThreadPoolExecutor(1, "cutile-lint")
        self._rubbish = Rubbish()
        self._generation = 0
        self._on_disk: set[Path] = set()
        self._look = False
        #: files of the configuration that the client was asked to watch
        self._watched: set[Path] = set()
        self._last = self._first = 0.0
        self._wake: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None
        self._news: list[asyncio.Future[None]] = []
        #: the state of the texts (a generation) that the findings of an open file are complete for
        self._analysed: dict[Path, int] = {}
        self._complete = False
        self._published: dict[Path, tuple[int | None, list[lsp.Diagnostic]]] = {}
        #: the URIs that findings were last published under
        self._told_under: dict[Path, str] = {}
        self._told: set[str] = set()

    # ── life ──

    def initialize(self, params: lsp.InitializeParams, encoding: str) -> None:
        """Take over what the client says of itself."""
        self._capabilities = capabilities = params.capabilities
        self.documents.encoding.name = encoding
        text = capabilities.text_document or lsp.TextDocumentClientCapabilities()
        edits = capabilities.workspace.workspace_edit if capabilities.workspace else None
        self.pulls = text.diagnostic is not None
        self.actions.versioned = bool(edits and edits.document_changes)
        told = text.publish_diagnostics
        self.view.related = bool(told and told.related_information) or self.pulls
        self.view.code_description = told is None or told.code_description_support is not False
        uris = [folder.uri for folder in params.workspace_folders or []]
        if not uris and params.root_uri:
            uris = [params.root_uri]
        self.folders = [path for uri in uris if (path := path_of(uri)) is not None]
        self.documents.set_folders(uris)
        if not uris and params.root_path:
            self.folders = [Path(params.root_path).absolute()]
        self._initial = params.initialization_options
        self._configure()
        self.set_settings(None)

    def set_settings(self, given: object) -> None:
        """The client's settings, those of the start when it says nothing; mistakes in them are shown, the rest holds."""
        before, base = self.settings, self.folders[0] if self.folders else None
        self.settings = read_settings(self._initial if section(given) is None else given, base)
        self.view.docs_url = self.settings.docs_url
        if self.settings != before:
            self._configure()
        for mistake in self.settings.mistakes:
            self.tell(mistake)

    def set_folders(self, added: list[str], removed: list[str]) -> None:
        gone = {path_of(uri) for uri in removed}
        self.folders = [path for path in self.folders if path not in gone]
        self.folders += [path for uri in added if (path := path_of(uri)) is not None and path not in self.folders]
        self.documents.set_folders(added, removed)
        self._configure()

    def _configure(self) -> None:
        self._thread.submit(self.session.set_client, self.settings, list(self.folders))
        self._told.clear()
        self.touch()

    def start(self) -> None:
        """Begin to analyse."""
        self._wake = asyncio.Event()
        self._task = asyncio.ensure_future(self._run())
        self.touch()

    def stop(self) -> None:
        self._generation += 1
        if self._task is not None:
            self._task.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def tell(self, message: str, kind: lsp.MessageType = lsp.MessageType.Error) -> None:
        """Show a message, each once until the configuration changes."""
        if message not in self._told:
            self._told.add(message)
            self.server.window_show_message(lsp.ShowMessageParams(kind, f"cutile-lint: {message}"))

    # ── changes ──

    def touch(self, on_disk: Iterable[Path] = (), look: bool = False) -> None:
        """Something has changed: what is being analysed is stale. ``look``: a time to see what a client that does not watch missed."""
        self._generation += 1
        self._on_disk.update(on_disk)
        self._look = self._look or (look and not self.watches())
        self._complete = False
        if self._wake is not None:
            now = asyncio.get_running_loop().time()
            if not self._wake.is_set():
                self._first = now
            self._last = now
            self._wake.set()

    def close(self, uri: str) -> None:
        document = self.documents.close(uri)
        if document is not None:
            self._analysed.pop(document.path, None)
            self.touch([document.path], look=True)

    # ── analysis ──

    async def _run(self) -> None:
        assert self._wake is not None
        while True:
            await self._pause()
            await self._quiet()
            self._wake.clear()
            try:
                await self._analyse(self._generation)
            except Stale:
                self._wake.set()
            except Exception as error:
                log(f"internal error: {type(error).__name__}: {error}")
                self.tell(f"internal error: {type(error).__name__}: {error}")

    async def _pause(self) -> None:
        """Wait for the next change; make sure of what was found, and clear up, meanwhile."""
        assert self._wake is not None
        if self._rubbish.checks:
            try:
                await asyncio.wait_for(self._wake.wait(), _PAUSE)
            except TimeoutError:
                if await self._behind(self.session.doubt):
                    self.touch()
                else:
                    await self._behind(self._rubbish.clear)
        await self._wake.wait()

    async def _quiet(self) -> None:
        """Wait until nothing has changed for a while, but not for ever."""
        pause = self.settings.debounce / 1000
        loop = asyncio.get_running_loop()
        while (left := min(self._last + pause, self._first + 10 * pause) - loop.time()) > 0:
            await asyncio.sleep(left)

    async def _analyse(self, generation: int) -> None:
        opened = {document.path: document.source for document in self.documents}
        on_disk, self._on_disk = self._on_disk, set()
        look, self._look = self._look, False
        update = await self._behind(self.session.update, opened, on_disk, look)
        self._take_update(update)
        progress = _Progress(self, update.waiting)

        def proceed() -> None:
            if self._generation != generation:
                raise Stale

        try:
            while True:
                self._mark(await self._behind(self._settled, opened), generation)
                key = await self._behind(self.session.next)
                if key is None:
                    break
                proceed()
                outcome = await self._behind(self._checked, key, proceed)
                self._take(key, outcome, generation)
                progress.step()
            self._mark(await self._behind(self._settled, opened), generation)
            for message in await self._behind(self.session.settings_messages):
                self.tell(message)
            self._watch(await self._behind(self.session.configured))
            self._complete = self._generation == generation
            if self._complete:
                self._publish()
            self._refresh()
            await self._behind(self._rubbish.settle)
        finally:
            progress.end()
            self._tell_news()

    def _watch(self, files: set[Path]) -> None:
        """Have the client watch the files that the configuration rests on."""
        if not self.watches() or files == self._watched:
            return
        name, method = "cutile-lint-configuration", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
        before, now = (patterns_for(some, self._watches_relative()) for some in (self._watched, files))
        self._watched = files
        if before != now:
            if before:
                self.server.client_unregister_capability(lsp.UnregistrationParams([lsp.Unregistration(name, method)]))
            if now:
                self.server.client_register_capability(lsp.RegistrationParams([registration(name, now)]))

    def _checked(self, key: Key, proceed: Callable[[], None]) -> Outcome:
        outcome = self.session.check(key, proceed)
        self._rubbish.more()
        for finding in outcome.findings:  # their pages are read here, not on the event loop
            self.view.diagnostic(finding, finding.place)
        return outcome

    def _settled(self, opened: dict[Path, Source]) -> dict[Path, Source]:
        """Open texts whose ops are all checked."""
        self.view.problems = self.session.problems()
        return {path: source for path, source in opened.items() if not self.session.is_waiting(path)}

    def _mark(self, settled: dict[Path, Source], generation: int) -> None:
        """Open files whose ops are all checked: publish them, and answer who waits for them."""
        fresh = {path for path in settled if self._analysed.get(path) != generation}
        if self._generation != generation or not fresh:
            return
        self._analysed.update(dict.fromkeys(fresh, generation))
        self._publish(fresh)
        self._publish({other for path in fresh for other in self.view.partners(path)})
        self._tell_news()
        self._refresh()

    def _take_update(self, update: Update) -> None:
        for message in update.messages:
            self.tell(message)
        self.view.broken = update.broken
        for key in update.gone:
            self.view.outcomes.pop(key, None)

    def _take(self, key: Key, outcome: Outcome, generation: int) -> None:
        before = self.view.outcomes.get(key)
        self.view.outcomes[key] = outcome
        for error in outcome.errors:
            log(error)
            self.tell(error)
        if self._generation == generation:  # a file that was open then may be closed now
            paths = {one.path for one in (*outcome.findings, *(before.findings if before else ()))}
            self._publish(path for path in paths if self.documents.get(path) is None)

    async def _behind(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do something on the analysing thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    # ── push ──

    def _publish(self, paths: Iterable[Path] | None = None) -> None:
        """Tell what has changed for the files (None: for all that anything was or is to be said of)."""
        if self.pulls:
            return
        if paths is None:
            paths = self.view.paths() | set(self._published)
        for path in sorted(paths):
            document = self.documents.get(path)
            if document is not None and self._analysed.get(path) != self._generation:
                continue
            version = document.version if document is not None else None
            now = (version, self.view.diagnostics(path))
            if self._published.get(path, (None, [])) == now:
                continue
            uri = self.documents.uri(path)
            if self._told_under.setdefault(path, uri) != uri:  # the client spells it in another way
                self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(self._told_under[path], []))
            self._told_under[path], self._published[path] = uri, now
            self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, now[1], version))
            if not now[1] and document is None:
                del self._published[path]

    # ── pull ──

    def _tell_news(self) -> None:
        waiting, self._news = self._news, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def _until_news(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._news.append(future)
        await future

    async def analysed(self, path: Path) -> None:
        """Wait until the present text of a file is analysed. Raises when it changes meanwhile."""
        if not await self._until_analysed(path):
            raise JsonRpcException("the text has changed", SERVER_CANCELLED, {"retriggerRequest": True})

    async def _until_analysed(self, path: Path) -> bool:
        """Wait until the present text of a file is analysed; False when it changes meanwhile."""
        document = self.documents.get(path)
        source = document.source if document is not None else None
        while not (self._complete if document is None else self._analysed.get(path) == self._generation):
            await self._until_news()
            now = self.documents.get(path)
            if now is not document or (now is not None and now.source is not source):
                return False
        return True

    async def pull(self, params: lsp.DocumentDiagnosticParams) -> lsp.DocumentDiagnosticReport:
        path = path_of(params.text_document.uri)
        if path is None:
            return lsp.RelatedFullDocumentDiagnosticReport(items=[])
        await self.analysed(path)
        items = self.view.diagnostics(path)
        number = result_id(items)
        related = None
        text = self._capabilities.text_document
        if text is not None and text.diagnostic is not None and text.diagnostic.related_document_support:
            related = {
                self.documents.uri(other): lsp.FullDocumentDiagnosticReport(
                    items=(shown := self.view.diagnostics(other)), result_id=result_id(shown)
                )
                for other in sorted(self.view.partners(path))
            }
        if params.previous_result_id == number:
            return lsp.RelatedUnchangedDocumentDiagnosticReport(result_id=number, related_documents=related)  # type: ignore[arg-type]
        return lsp.RelatedFullDocumentDiagnosticReport(items=items, related_documents=related, result_id=number)  # type: ignore[arg-type]

    async def pull_workspace(self, params: lsp.WorkspaceDiagnosticParams) -> lsp.WorkspaceDiagnosticReport:
        """The findings of all files; for a client that takes parts as they come, and then in nothing but parts."""
        known = {path: one.value for one in params.previous_result_ids if (path := path_of(one.uri)) is not None}
        told: dict[Path, str | None] = {}
        token, progress = params.partial_result_token, self.server.work_done_progress

        def news(paths: Iterable[Path]) -> list[lsp.WorkspaceDocumentDiagnosticReport]:
            made = {path: self._report(path, told.get(path) or known.get(path)) for path in sorted(paths)}
            fresh = {path: one for path, one in made.items() if path not in told or told[path] != one.result_id}
            told.update((path, one.result_id) for path, one in fresh.items())
            return list(fresh.values())

        def send(paths: Iterable[Path]) -> None:
            if token is not None and (items := news(paths)):
                value = lsp.WorkspaceDiagnosticReportPartialResult(items)
                self.server.protocol.notify(lsp.PROGRESS, lsp.ProgressParams(token, value))

        if params.work_done_token is not None:
            progress.begin(params.work_done_token, lsp.WorkDoneProgressBegin("cutile-lint", message="checking the workspace"))
        try:
            while not self._complete:
                send(self.view.paths() - set(told))
                if params.work_done_token is not None:
                    message = f"{len(self.view.outcomes)} ops"
                    progress.report(params.work_done_token, lsp.WorkDoneProgressReport(message=message))
                await self._until_news()
            everything = self.view.paths() | set(known) | set(told)
            send(everything)
        finally:
            if params.work_done_token is not None:
                progress.end(params.work_done_token, lsp.WorkDoneProgressEnd())
        return lsp.WorkspaceDiagnosticReport([] if token is not None else news(everything))

    def _report(self, path: Path, before: str | None) -> lsp.WorkspaceDocumentDiagnosticReport:
        document = self.documents.get(path)
        version = document.version if document is not None else None
        items = self.view.diagnostics(path)
        number = result_id(items)
        uri = self.documents.uri(path)
        if before == number:
            return lsp.WorkspaceUnchangedDocumentDiagnosticReport(uri=uri, result_id=number, version=version)
        return lsp.WorkspaceFullDocumentDiagnosticReport(uri=uri, items=items, version=version, result_id=number)

    def _refresh(self) -> None:
        """Ask the client to ask again, for what it asks for by itself."""
        workspace = self._capabilities.workspace or lsp.WorkspaceClientCapabilities()
        if self.pulls and workspace.diagnostics is not None and workspace.diagnostics.refresh_support:
            state = hashlib.sha1(
                repr([(path, self.view.diagnostics(path)) for path in sorted(self.view.paths())]).encode()
            ).digest()
            if state != getattr(self, "_state", None):
                self._state = state
                self.server.workspace_diagnostic_refresh(None)
        if self.settings.inlay_hints and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.server.workspace_inlay_hint_refresh(None)
        if self.settings.code_lens and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.server.workspace_code_lens_refresh(None)

    # ── requests about a place ──

    def document(self, uri: str) -> Document | None:
        return self.documents.of(uri)

    def offset(self, document: Document, position: lsp.Position) -> int:
        return self.documents.encoding.offset(document.source, position, document.shows_bom)

    async def fix_all(self, uri: str) -> lsp.WorkspaceEdit | None:
        """The edit of all safe fixes of an open file's findings. Raises when its text changes meanwhile."""
        document = self.documents.of(uri)
        if document is None:
            return None
        source, edit = document.source, None
        if await self._until_analysed(document.path):
            edit = self.actions.changed_texts(*await self._behind(self.session.fix_all, document.path))
        if edit is None and document.source is not source:
            raise JsonRpcException("the text has changed", CONTENT_MODIFIED)
        return edit

    def shows_progress(self) -> bool:
        return bool(self._capabilities.window and self._capabilities.window.work_done_progress)

    def resolves(self) -> bool:
        """Whether the client asks for an action's edit when it is chosen, and still knows its data then."""
        text = self._capabilities.text_document
        action = text.code_action if text is not None else None
        return bool(action and action.data_support and action.resolve_support and "edit" in action.resolve_support.properties)

    def markup(self) -> lsp.MarkupKind:
        """How the client takes the text of a hover."""
        text = self._capabilities.text_document
        formats = text.hover.content_format if text is not None and text.hover is not None else None
        plain = formats and lsp.MarkupKind.Markdown not in formats
        return lsp.MarkupKind.PlainText if plain else lsp.MarkupKind.Markdown

    def shows_documents(self) -> bool:
        window = self._capabilities.window
        return bool(window and window.show_document and window.show_document.support)

    def watches(self) -> bool:
        workspace = self._capabilities.workspace
        return bool(workspace and workspace.did_change_watched_files and workspace.did_change_watched_files.dynamic_registration)

    def _watches_relative(self) -> bool:
        workspace = self._capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        return bool(watching and watching.relative_pattern_support)

    def gives_configuration(self) -> bool:
        return bool(self._capabilities.workspace and self._capabilities.workspace.configuration)


class _Progress:
    """A progress bar for a long analysis, where the client shows one."""

    def __init__(self, service: Service, count: int) -> None:
        self.service, self.count, self.done = service, count, 0
        self.token: str | None = None
        self.is_over = False
        if count > 5 and service.shows_progress():
            token = f"{_PROGRESS}/{service._generation}"
            service.server.work_done_progress.create(token, lambda _: self._begin(token))

    def _begin(self, token: str) -> None:
        """The client has made the bar."""
        if not self.is_over:
            self.token = token
            self.service.server.work_done_progress.begin(token, lsp.WorkDoneProgressBegin("cutile-lint", percentage=0))

    def step(self) -> None:
        self.done += 1
        if self.token is not None and self.done % max(1, self.count // 50) == 0:
            value = lsp.WorkDoneProgressReport(
                message=f"{self.done} of {self.count} ops", percentage=100 * self.done // self.count
            )
            self.service.server.work_done_progress.report(self.token, value)
            self.service._tell_news()

    def end(self) -> None:
        self.is_over = True
        if self.token is not None:
            self.service.server.work_done_progress.end(self.token, lsp.WorkDoneProgressEnd())
            self.token = None


def result_id(items: list[lsp.Diagnostic]) -> str:
    """A name for a state of a file's findings."""
    return hashlib.sha1(json.dumps([repr(item) for item in items]).encode()).hexdigest()[:16]
