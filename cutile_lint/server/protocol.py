"""pygls's protocol with our own documents, and with an answer to every request, also to one that makes no sense."""

from __future__ import annotations

import sys
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
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

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), (int, str)):
                self._send_response(data["id"], None, error.to_response_error())
            else:
                log(f"a message of the client cannot be read: {data.get('method', '')}")
            return _Unreadable()

    def handle_message(self, message: Any) -> None:
        if isinstance(message, _Unreadable) or not hasattr(message, "jsonrpc"):
            return
        super().handle_message(message)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: Any) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: Any) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: Any) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CLOSE], (params,), None


class Server(LanguageServer):
    """Errors of the protocol go to the log, not into the user's face."""

    def report_server_error(self, error: Exception, source: Any) -> None:
        log(f"{type(error).__name__}: {error}")


def log(text: str) -> None:
    """Say something on standard error."""
    print(f"cutile-lint server: {text}", file=sys.stderr, flush=True)
