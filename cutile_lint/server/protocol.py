"""pygls's protocol with our own documents, a life cycle as LSP has it, and an answer to every request, also to one that makes no sense."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any

from cattrs import transform_error
from lsprotocol import types as lsp
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

#: the server gave a request up because its text has changed; the client is to ask again
SERVER_CANCELLED = -32802
#: what was asked for would be for a text that is no longer there
CONTENT_MODIFIED = -32801


class _Unreadable:
    """A message that could not be read; passed over."""

    jsonrpc = "unreadable"


class Protocol(LanguageServerProtocol):
    """Texts are kept by the service (:mod:`cutile_lint.server.documents`), not by pygls."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._is_initialized = False
        #: of the process: 1 when the client says `exit` without `shutdown`
        self.exit_status = 0
        for name in ("pygls.protocol.json_rpc", "pygls.server"):
            logging.getLogger(name).addFilter(_is_ours)

    # ── messages ──

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            method, reason = data.get("method", ""), _reason(error)
            if "method" in data and isinstance(data.get("id"), (int, str)):
                answer = self._untimely(method) or JsonRpcInvalidParams(f"`{method}` cannot be read: {reason}")
                self._send_response(data["id"], None, answer.to_response_error())
            else:
                log(f"a message of the client cannot be read: {method or 'an answer'}: {reason}")
            return _Unreadable()

    def handle_message(self, message: Any) -> None:
        if isinstance(message, _Unreadable) or not hasattr(message, "jsonrpc"):
            return
        method = getattr(message, "method", None)
        if method is None and self._shutdown:
            return  # an answer that nobody waits for
        if method is not None and method != lsp.EXIT and (error := self._untimely(method)):
            if hasattr(message, "id"):
                self._send_response(message.id, None, error.to_response_error())
            return
        self._is_initialized = self._is_initialized or method == lsp.INITIALIZE
        super().handle_message(message)

    def _untimely(self, method: str) -> JsonRpcException | None:
        """What is wrong with a request at this time of the server's life."""
        if self._shutdown:
            return JsonRpcInvalidRequest(f"`{method}` after `shutdown`")
        if method == lsp.INITIALIZE:
            return JsonRpcInvalidRequest("`initialize` for a second time") if self._is_initialized else None
        return None if self._is_initialized else JsonRpcServerNotInitialized(f"`{method}` before `initialize`")

    def _send_handler_result(self, future: Future[Any], *, msg_id: int | str) -> None:
        """An answer; an error of the protocol is one as well, and nothing that has gone wrong here."""
        error = None if future.cancelled() else future.exception()
        if not isinstance(error, JsonRpcException) or isinstance(error, JsonRpcInternalError):
            super()._send_handler_result(future, msg_id=msg_id)
            return
        self._request_futures.pop(msg_id, None)
        self._send_response(msg_id, None, error.to_response_error())

    def send_request(
        self, method: str, params: Any = None, callback: Callable[[Any], None] | None = None, msg_id: int | str | None = None
    ) -> Future[Any]:
        """Ask the client; ``callback`` is for what it answers, and not for a refusal or the end."""

        def answered(future: Future[Any]) -> None:
            if future.cancelled():
                return
            if error := future.exception():
                log(f"the client refuses `{method}`: {error}")
            elif callback is not None:
                callback(future.result())

        future = super().send_request(method, params, None, msg_id)
        future.add_done_callback(answered)
        return future

    # ── life ──

    @property
    def is_shut_down(self) -> bool:
        return self._shutdown

    @lsp_method(lsp.SHUTDOWN)
    def lsp_shutdown(self, *_: Any) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.SHUTDOWN], (None,), None
        own = self.msg_id
        for number, future in list(self._request_futures.items()):  # a cancelled one goes from the table at once
            if number != own and not future.done():
                future.cancel()
        self._shutdown = True

    @lsp_method(lsp.EXIT)
    def lsp_exit(self, *arguments: Any) -> Generator[Any, Any, None]:
        self.exit_status = 0 if self.is_shut_down else 1
        yield from super().lsp_exit(*arguments)

    # ── documents and commands ──

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: Any) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: Any) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: Any) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CLOSE], (params,), None

    @lsp_method(lsp.WORKSPACE_EXECUTE_COMMAND)
    def lsp_workspace__execute_command(self, params: lsp.ExecuteCommandParams) -> Generator[Any, Any, Any]:
        params.arguments = params.arguments or []  # pygls calls without any what it has none for
        try:
            return (yield from super().lsp_workspace__execute_command(params))
        except JsonRpcInvalidParams as error:
            raise JsonRpcInvalidParams(f"`{params.command}` cannot be called like that: {_reason(error)}") from error


class Server(LanguageServer):
    """Errors of the protocol go to the log, not into the user's face."""

    protocol: Protocol

    def report_server_error(self, error: Exception, source: Any) -> None:
        log(f"{type(error).__name__}: {error}")


def log(text: str) -> None:
    """Say something on standard error."""
    print(f"cutile-lint server: {text}", file=sys.stderr, flush=True)


def _reason(error: JsonRpcException) -> str:
    """Why pygls could not read something that the client sent."""
    cause = error.__cause__ or error.__context__
    return "; ".join(transform_error(cause)) if cause is not None else error.message


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether a line of pygls's log tells a fault of the server's; those of messages are told the client, or in one line of ours."""
    if record.msg == "Unable to deserialize message\n%s":
        return False
    error = record.exc_info[1] if record.exc_info else None
    unread = isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, RecursionError))
    return not (unread and record.msg == "Unable to handle message")
