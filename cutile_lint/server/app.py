"""The server's requests and notifications, each handed to the service."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from lsprotocol import types as lsp
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.exceptions import JsonRpcInvalidParams

from cutile_lint import __version__
from cutile_lint.engine.registry import find_rule
from cutile_lint.server.actions import EXPLAIN, FIX_ALL
from cutile_lint.server.documents import path_of
from cutile_lint.server.navigation import SHOW
from cutile_lint.server.pages import page, page_uri
from cutile_lint.server.parent import gone
from cutile_lint.server.protocol import Protocol, Server, log
from cutile_lint.server.service import Service
from cutile_lint.server.session import Session, leave_removed_folder
from cutile_lint.server.settings import SECTION, section
from cutile_lint.server.watched import OPERATIONS, PATTERNS, registration
from cutile_lint.sources.workspace import absolute


def serve(trust_rules: bool = False, config: Path | None = None) -> int:
    """Speak the protocol over standard input and output until the client goes."""
    import gc
    import signal

    stream = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints: the protocol's stream is not for it
    sys.setswitchinterval(0.001)
    gc.disable()  # cycles are collected when the user pauses
    signal.signal(signal.SIGINT, _interrupted)
    leave_removed_folder()
    server = make_server(Session(trust_rules, config and absolute(config)))
    server.start_io(sys.stdin.buffer, stream)
    return server.protocol.exit_status


def _interrupted(*_: object) -> NoReturn:
    """Ctrl-C: the end at once. The usual one waits for the thread that reads, and that waits for the client."""
    try:
        os.write(2, b"cutile-lint: interrupted\n")
    finally:
        os._exit(130)


async def _leave_with(server: Server, process: int | None) -> None:
    """End when the client's process does: at once, as the thread that reads still waits for it."""
    await gone(process)
    log("the client's process is gone")
    os._exit(0 if server.protocol.is_shut_down else 1)


def make_server(session: Session) -> Server:
    """A server with all its features."""
    server = Server("cutile-lint", __version__, protocol_cls=Protocol)
    service = Service(server, session)
    _life(server, service)
    _documents(server, service)
    _places(server, service)
    _commands(server, service)
    return server


def _life(server: Server, service: Service) -> None:
    tasks = []

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        tasks.append(asyncio.ensure_future(_leave_with(server, params.process_id)))
        encoding = ServerCapabilitiesBuilder.choose_position_encoding(params.capabilities)
        service.initialize(params, str(getattr(encoding, "value", encoding)))
        if service.pulls:
            options = lsp.DiagnosticOptions(True, True, "cutile-lint", True)
            server.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)(service_pull)
            server.feature(lsp.WORKSPACE_DIAGNOSTIC)(service_pull_workspace)

    async def service_pull(params: lsp.DocumentDiagnosticParams) -> lsp.DocumentDiagnosticReport:
        return await service.pull(params)

    async def service_pull_workspace(params: lsp.WorkspaceDiagnosticParams) -> lsp.WorkspaceDiagnosticReport:
        return await service.pull_workspace(params)

    @server.feature(lsp.INITIALIZED)
    async def initialized(params: lsp.InitializedParams) -> None:
        service.start()
        if service.watches():
            server.client_register_capability(lsp.RegistrationParams([registration("cutile-lint-files", PATTERNS)]))
        if service.gives_configuration() and (given := section(await _asked_settings())) is not None:
            service.set_settings(given)  # without any, those that the client may have sent meanwhile stay

    async def _asked_settings() -> object:
        scope = service.folders[0].as_uri() if service.folders else None
        item = lsp.ConfigurationItem(scope, SECTION)
        found = await server.workspace_configuration_async(lsp.ConfigurationParams([item]))
        return found[0] if found else None

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration(params: lsp.DidChangeConfigurationParams) -> None:
        given = section(params.settings)
        if given is None and service.gives_configuration():
            given = await _asked_settings()
        service.set_settings(given)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        service.set_folders([one.uri for one in params.event.added], [one.uri for one in params.event.removed])

    @server.feature(lsp.SHUTDOWN)
    def shutdown(*_: Any) -> None:
        service.stop()

    @server.feature(lsp.EXIT)
    def leave(*_: Any) -> None:
        service.stop()


def _documents(server: Server, service: Service) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        one = params.text_document
        if service.documents.open(one.uri, one.version, one.text) is not None:
            service.touch(look=True)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        one = params.text_document
        if service.documents.change(one.uri, one.version, params.content_changes) is not None:
            service.touch()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        service.close(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None:
            service.touch([path], look=True)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: lsp.DidChangeWatchedFilesParams) -> None:
        service.touch(_paths(change.uri for change in params.changes))

    @server.feature(lsp.WORKSPACE_DID_CREATE_FILES, OPERATIONS)
    def created(params: lsp.CreateFilesParams) -> None:
        service.touch(_paths(one.uri for one in params.files), look=True)

    @server.feature(lsp.WORKSPACE_DID_RENAME_FILES, OPERATIONS)
    def renamed(params: lsp.RenameFilesParams) -> None:
        service.touch(_paths(uri for one in params.files for uri in (one.old_uri, one.new_uri)), look=True)

    @server.feature(lsp.WORKSPACE_DID_DELETE_FILES, OPERATIONS)
    def deleted(params: lsp.DeleteFilesParams) -> None:
        service.touch(_paths(one.uri for one in params.files), look=True)


def _paths(uris: Iterable[str]) -> list[Path]:
    return [path for uri in uris if (path := path_of(uri)) is not None]


def _places(server: Server, service: Service) -> None:
    kinds = [lsp.CodeActionKind.QuickFix, FIX_ALL]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(kinds, resolve_provider=True))  # type: ignore[arg-type]
    async def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        document = service.document(params.text_document.uri)
        if document is None:
            return []
        await service.analysed(document.path)
        span = service.documents.encoding.span(document.source, params.range, document.shows_bom)
        found = service.actions.at(document.path, span, params.context)
        if not service.resolves():
            wanted = any(str(getattr(kind, "value", kind)).startswith("source") for kind in params.context.only or ())
            found = [action for action in found if action.kind != FIX_ALL or wanted]
            for action in found:
                if action.kind == FIX_ALL:
                    action.edit = await service.fix_all(document.uri)
        return found

    @server.feature(lsp.CODE_ACTION_RESOLVE)
    async def resolve(action: lsp.CodeAction) -> lsp.CodeAction:
        if isinstance(action.data, dict) and isinstance(action.data.get("fixAll"), str):
            action.edit = await service.fix_all(action.data["fixAll"])
        return action

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        document = service.document(params.text_document.uri)
        if document is None or not service.settings.hover:
            return None
        offset = service.offset(document, params.position)
        found = [
            (finding, place)
            for finding, place in service.view.findings(document.path)
            if place.span.start <= offset <= place.span.end
        ]
        if not found:
            return None
        pages = [await asyncio.to_thread(page, code) for code in dict.fromkeys(finding.code for finding, _ in found)]
        least = min(found, key=lambda item: item[1].span.end - item[1].span.start)
        text = "\n\n---\n\n".join(one for one in pages if one)
        return lsp.Hover(lsp.MarkupContent(service.markup(), text), service.view.range(least[1])) if text else None

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location] | list[lsp.LocationLink] | None:
        document = service.document(params.text_document.uri)
        if document is None or not service.settings.navigation:
            return None
        _, places = service.navigation.definition(document.path, service.offset(document, params.position))
        return [service.view.location(place) for place in places] or None

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location] | None:
        document = service.document(params.text_document.uri)
        if document is None or not service.settings.navigation:
            return None
        offset = service.offset(document, params.position)
        places = service.navigation.references(document.path, offset, params.context.include_declaration)
        return [service.view.location(place) for place in places] or None

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint] | None:
        document = service.document(params.text_document.uri)
        if document is None or not service.settings.inlay_hints:
            return None
        span = service.documents.encoding.span(document.source, params.range, document.shows_bom)
        return service.navigation.hints(document.path, span)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens] | None:
        document = service.document(params.text_document.uri)
        if document is None or not service.settings.code_lens:
            return None
        return service.navigation.lenses(document.path)


def _commands(server: Server, service: Service) -> None:
    @server.command(EXPLAIN)
    async def explain(code: str) -> dict[str, str] | None:
        """Show a rule's page; returns it as well."""
        info = find_rule(code)
        if info is None:
            raise JsonRpcInvalidParams(f"no rule is called `{code}`")
        text = await asyncio.to_thread(page, info.code)
        uri = await asyncio.to_thread(page_uri, info.code, info.name, service.settings.docs_url)
        if service.shows_documents() and uri:
            outside = not uri.startswith("file:")
            server.window_show_document(lsp.ShowDocumentParams(uri, outside))
        else:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, f"{info.code} {info.name}: {info.summary}"))
        return {"code": info.code, "name": info.name, "markdown": text, "uri": uri}

    @server.command(SHOW)
    async def show(uri: str, position: lsp.Position, locations: list[lsp.Location]) -> None:
        """Show the first caller of an export."""
        if service.shows_documents() and locations:
            first = locations[0]
            params = lsp.ShowDocumentParams(first.uri, take_focus=True, selection=first.range)
            server.window_show_document(params)
