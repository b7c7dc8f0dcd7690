"""A client of the server as a process, as an editor is one: messages over pipes, answers waited for with a limit."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from typing import Any

WAIT = 20.0
#: what a capable client says of itself
CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True, "codeDescriptionSupport": True},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix", "source"]}},
            "resolveSupport": {"properties": ["edit"]},
            "dataSupport": True,
        },
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}, "didChangeWatchedFiles": {"dynamicRegistration": True}},
    "window": {"showDocument": {"support": True}},
}


class Failed(Exception):
    """An error response."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data")


class Client:
    """A started server. ``seen`` holds all notifications and requests of the server in order."""

    def __init__(self, folder: Path | None, *arguments: str, env: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cutile_lint.cli.main", "server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        )
        self.seen: list[dict[str, Any]] = []
        self.errors: list[str] = []
        self.versions: dict[str, int] = {}
        self.configuration: dict[str, Any] | None = None
        #: requests of the server that are refused, and those that are not answered
        self.refuses: set[str] = set()
        self.ignores: set[str] = set()
        self._answers: dict[Any, Queue[dict[str, Any]]] = {}
        self._news = threading.Condition()
        self._number = 0
        self._closed = False
        self._readers = [threading.Thread(target=target, daemon=True) for target in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    # ── messages ──

    def send(self, message: dict[str, Any]) -> None:
        self.send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_raw(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> int:
        """Send a request; :meth:`answer` waits for what comes back."""
        self._number += 1
        self._answers[self._number] = Queue()
        self.send({"id": self._number, "method": method, "params": params})
        return self._number

    def answer(self, number: int) -> Any:
        try:
            found = self._answers[number].get(timeout=WAIT)
        except Empty:
            raise AssertionError(f"no answer; the server said: {self.errors[-20:]}") from None
        if "error" in found:
            raise Failed(found["error"])
        return found["result"]

    def request(self, method: str, params: Any) -> Any:
        return self.answer(self.ask(method, params))

    def _read(self) -> None:
        assert self.process.stdout is not None
        while True:
            size = 0
            while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
                elif not line.lower().startswith(b"content-type:"):
                    self.errors.append(f"not the protocol: {line!r}")
            if not line:
                return
            self._take(json.loads(self.process.stdout.read(size)))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._answers[message["id"]].put(message)
            return
        if "id" in message:
            result: Any = None
            if message["method"] == "workspace/configuration":
                result = [self.configuration for _ in message["params"]["items"]]
            elif message["method"] == "window/showDocument":
                result = {"success": True}
            elif message["method"] == "workspace/applyEdit":
                result = {"applied": True}
            answer: dict[str, Any] = {"result": result}
            if message["method"] in self.refuses:
                answer = {"error": {"code": -32603, "message": "refused by the client"}}
            try:
                if message["method"] not in self.ignores:
                    self.send({"id": message["id"], **answer})
            except (OSError, ValueError):
                return  # the test has closed the pipe
        with self._news:
            self.seen.append(message)
            self._news.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.append(line.decode("utf-8", "replace").rstrip())

    def wait_for(self, method: str, fits: Callable[[Any], bool] = lambda params: True, since: int = 0) -> Any:
        """The first message of the server with a method whose parameters fit, after the ``since``-th one."""
        end = time.monotonic() + WAIT
        with self._news:
            while True:
                for message in self.seen[since:]:
                    if message["method"] == method and fits(message.get("params")):
                        return message.get("params")
                left = end - time.monotonic()
                if left <= 0 or not self._news.wait(left):
                    raise AssertionError(f"no `{method}`; seen {self.seen[-5:]}; the server said: {self.errors[-20:]}")

    # ── life ──

    def start(
        self, capabilities: dict[str, Any] | None = None, options: Any = None, process: int | None = None
    ) -> dict[str, Any]:
        result = self.request("initialize", self.introduction(capabilities, options, process))
        self.notify("initialized", {})
        return result

    def introduction(
        self, capabilities: dict[str, Any] | None = None, options: Any = None, process: int | None = None
    ) -> dict[str, Any]:
        """The parameters of ``initialize``."""
        return {
            "processId": process,
            "rootUri": self.folder.as_uri() if self.folder else None,
            "workspaceFolders": [{"uri": self.folder.as_uri(), "name": "here"}] if self.folder else None,
            "capabilities": CAPABILITIES if capabilities is None else capabilities,
            "initializationOptions": options,
        }

    def stop(self) -> int:
        """Shut down in order; returns the exit status."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.wait()

    def interrupt(self) -> int:
        """Ctrl-C; returns the exit status, once all that the server said is read."""
        self.process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self) -> int:
        """The exit status, once the server has ended and all that it said is read."""
        status = self.process.wait(WAIT)
        for reader in self._readers:
            reader.join(WAIT)
        return status

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except (OSError, ValueError):
                    pass

    # ── documents ──

    def open(self, path: Path, text: str | None = None) -> str:
        uri = path.as_uri()
        content = path.read_bytes().decode() if text is None else text
        language = {".py": "python", ".rs": "rust"}.get(path.suffix, "plaintext")
        self.versions[uri] = 1
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": content}})
        return uri

    def change(self, uri: str, *changes: dict[str, Any]) -> int:
        self.versions[uri] += 1
        document = {"uri": uri, "version": self.versions[uri]}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})
        return self.versions[uri]

    def close(self, uri: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def diagnostics(self, uri: str, version: int | None = None, since: int = 0) -> list[dict[str, Any]]:
        """The published diagnostics of a file (for a version of it)."""

        def fits(params: Any) -> bool:
            return params["uri"] == uri and (version is None or params.get("version") == version)

        return self.wait_for("textDocument/publishDiagnostics", fits, since)["diagnostics"]

    def actions(self, uri: str, at: dict[str, Any], only: list[str] | None = None) -> list[dict[str, Any]]:
        context: dict[str, Any] = {"diagnostics": []} | ({"only": only} if only is not None else {})
        return self.request("textDocument/codeAction", {"textDocument": {"uri": uri}, "range": at, "context": context})


def position(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def span(start: tuple[int, int], end: tuple[int, int]) -> dict[str, Any]:
    return {"start": position(*start), "end": position(*end)}


def where(text: str, part: str, unit: Callable[[str], int] = lambda text: len(text.encode("utf-16-le")) // 2) -> dict[str, Any]:
    """The range of the only occurrence of a part of a text, by hand: lines by LF, columns in code units."""
    assert text.count(part) == 1, part
    before = text[: text.index(part)]
    after = before + part

    def at(head: str) -> dict[str, int]:
        return position(head.count("\n"), unit(head.rsplit("\n", 1)[-1]))

    return {"start": at(before), "end": at(after)}


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """A text with edits of the protocol applied (UTF-16)."""

    def offset(at: dict[str, int]) -> int:
        lines = text.split("\n")
        start = sum(len(line) + 1 for line in lines[: at["line"]])
        line = lines[at["line"]] if at["line"] < len(lines) else ""
        return min(len(text), start + len(line.encode("utf-16-le")[: at["character"] * 2].decode("utf-16-le")))

    for edit in sorted(edits, key=lambda edit: offset(edit["range"]["start"]), reverse=True):
        text = text[: offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]) :]
    return text
