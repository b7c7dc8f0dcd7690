"""The life cycle of LSP 3.17, and what is answered to a client that asks for what there is not."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from client import CAPABILITIES, Client, Failed, span
from conftest import Op, Start

INVALID_REQUEST, INVALID_PARAMS, NOT_INITIALIZED = -32600, -32602, -32002


def refused(client: Client, method: str, params: object) -> int:
    with pytest.raises(Failed) as failed:
        client.request(method, params)
    return failed.value.code


def hover(uri: str) -> dict:
    return {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}


# ── life cycle ──


@pytest.mark.parametrize("when", ["before it is initialized", "while it checks", "when it waits"])
def test_exit_without_shutdown_is_a_failure(launch: Start, op: Op, when: str) -> None:
    client = launch(op.root)
    if when != "before it is initialized":
        client.start()
        uri = client.open(op.ffi)
    if when == "when it waits":
        client.diagnostics(uri, 1)
    client.notify("exit", None)
    assert client.wait() == 1
    assert client.errors == []


def test_exit_after_shutdown_is_none(client: Client, op: Op) -> None:
    client.open(op.ffi)
    assert client.stop() == 0
    assert client.errors == []


def test_nothing_is_served_after_shutdown(client: Client, op: Op) -> None:
    uri = client.open(op.ffi)
    client.diagnostics(uri, 1)
    client.request("shutdown", None)
    seen = len(client.seen)
    client.change(uri, {"range": span((0, 0), (0, 0)), "text": "\n"})
    client.notify("textDocument/didOpen", {})
    for method, params in (("textDocument/hover", hover(uri)), ("textDocument/hover", 5), ("no/such", {}), ("shutdown", None)):
        assert refused(client, method, params) == INVALID_REQUEST
    assert refused(client, "initialize", client.introduction()) == INVALID_REQUEST
    client.notify("exit", None)
    assert client.wait() == 0
    assert client.seen[seen:] == []


def test_nothing_is_served_before_initialize(launch: Start, op: Op) -> None:
    client = launch(op.root)
    uri = client.open(op.ffi, "fn dropped() {}\n")
    for method, params in (("textDocument/hover", hover(uri)), ("textDocument/hover", 5), ("no/such", {}), ("shutdown", None)):
        assert refused(client, method, params) == NOT_INITIALIZED
    client.start()
    assert "CTL202" in {one["code"] for one in client.diagnostics(uri)}  # the file as it is on disk
    assert client.stop() == 0


def test_what_cannot_be_read_does_not_initialize(launch: Start, op: Op) -> None:
    client = launch(op.root)
    assert refused(client, "initialize", {"capabilities": 5}) == INVALID_PARAMS
    assert refused(client, "textDocument/hover", hover(op.ffi.as_uri())) == NOT_INITIALIZED
    client.start()
    assert client.stop() == 0


def test_a_second_initialize_changes_nothing(client: Client, op: Op) -> None:
    uri = client.open(op.ffi)
    client.diagnostics(uri, 1)
    again = client.introduction(
        {"general": {"positionEncodings": ["utf-8"]}, "textDocument": {"diagnostic": {}}}, {"ignore": "CTL"}
    )
    assert refused(client, "initialize", again | {"rootUri": None, "workspaceFolders": None}) == INVALID_REQUEST
    assert refused(client, "initialize", 5) == INVALID_REQUEST
    client.change(uri, {"range": span((0, 0), (0, 0)), "text": "\n"})
    assert "CTL202" in {one["code"] for one in client.diagnostics(uri, 2)}  # pushed still
    assert client.stop() == 0


def test_shutdown_while_a_command_is_at_work(client: Client, op: Op) -> None:
    asked = [client.ask("workspace/executeCommand", {"command": "cutile-lint.explain", "arguments": ["CTL202"]}) for _ in "123"]
    assert client.stop() == 0
    for number in asked:
        try:
            assert client.answer(number)["code"] == "CTL202"
        except Failed as failed:
            assert failed.code == -32800


@pytest.mark.skipif(os.name != "posix", reason="seen on POSIX only")
def test_it_ends_with_the_process_of_the_client(launch: Start, op: Op) -> None:
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    never = subprocess.Popen([sys.executable, "-c", ""])
    never.wait()
    others = [launch(op.root) for _ in range(3)]
    for other, process in zip(others, (None, os.getpid(), never.pid), strict=True):
        other.start(process=process)
    client, shut_down = launch(op.root), launch(op.root)
    for one in (client, shut_down):
        one.start(process=parent.pid)
    client.diagnostics(op.ffi.as_uri())
    shut_down.request("shutdown", None)
    assert client.process.poll() is None
    parent.kill()
    parent.communicate()
    assert client.wait() == 1 and shut_down.wait() == 0
    assert client.errors == ["cutile-lint server: the client's process is gone"]
    assert [other.stop() for other in others] == [0, 0, 0]


# ── errors ──


def test_answers_that_are_errors_are_no_faults_of_the_server(launch: Start, op: Op) -> None:
    capabilities = copy.deepcopy(CAPABILITIES)
    capabilities["textDocument"]["diagnostic"] = {}
    client = launch(op.root)
    client.start(capabilities)
    uri = client.open(op.wrapper)
    asked = []
    for _ in range(3):
        asked.append(client.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}}))
        client.change(uri, {"range": span((0, 0), (0, 0)), "text": "\n"})
    with pytest.raises(Failed) as failed:
        client.answer(asked[0])  # those behind it may be quick enough
    assert (failed.value.code, failed.value.data) == (-32802, {"retriggerRequest": True})
    assert (
        refused(client, "workspace/executeCommand", {"command": "cutile-lint.explain", "arguments": ["CTL000"]}) == INVALID_PARAMS
    )
    assert client.stop() == 0
    assert client.errors == []


def test_a_message_that_cannot_be_read_is_told_in_a_line(client: Client, op: Op) -> None:
    with pytest.raises(Failed) as failed:
        client.request("textDocument/hover", {"textDocument": {"uri": "file:///x"}, "position": {"line": "a", "character": 0}})
    assert failed.value.code == INVALID_PARAMS and str(failed.value).startswith("`textDocument/hover` cannot be read: ")
    assert "params.position.line" in str(failed.value) and failed.value.data is None
    assert refused(client, "no/such", {}) == -32601
    client.notify("textDocument/didOpen", {"textDocument": None})
    client.send({"method": ["x"], "params": None})
    for body in (b"{bad}", b"[1, 2]", b"5", b'"\xff"', b"[" * 100_000):
        client.send_raw(body)
    assert client.stop() == 0
    assert not [line for line in client.errors if "Traceback" in line or line.startswith(" ")]
    assert any("cannot be read: textDocument/didOpen: " in line for line in client.errors)


@pytest.mark.parametrize("answer", ["refusal", "none"])
def test_a_client_that_does_not_do_what_it_is_asked(launch: Start, op: Op, answer: str) -> None:
    for number in range(6):
        shutil.copytree(op.folder, op.root / f"op{number}")
    capabilities = copy.deepcopy(CAPABILITIES)
    capabilities["window"]["workDoneProgress"] = True
    capabilities["workspace"]["configuration"] = True
    asked = {"window/workDoneProgress/create", "client/registerCapability", "workspace/configuration"}
    client = launch(op.root)
    (client.refuses if answer == "refusal" else client.ignores).update(asked)
    client.start(capabilities)
    for method in asked:
        client.wait_for(method)
    assert "CTL202" in {one["code"] for one in client.diagnostics(op.ffi.as_uri())}
    assert client.stop() == 0
    assert not [line for line in client.errors if "Traceback" in line or line.startswith(" ")]
    told = {f"cutile-lint server: the client refuses `{method}`: refused by the client" for method in asked}
    assert {line for line in client.errors if "refuses" in line} == (told if answer == "refusal" else set())
    assert not [message for message in client.seen if message["method"] == "$/progress"]  # nobody has made the bar


def test_a_long_analysis_has_a_bar(launch: Start, op: Op) -> None:
    for number in range(20):
        shutil.copytree(op.folder, op.root / f"op{number}")
    client = launch(op.root)
    client.start({**CAPABILITIES, "window": {"workDoneProgress": True}})
    token = client.wait_for("window/workDoneProgress/create")["token"]
    for kind in ("begin", "report", "end"):
        client.wait_for("$/progress", lambda one, kind=kind: one["token"] == token and one["value"]["kind"] == kind)
    kinds = [one["params"]["value"]["kind"] for one in client.seen if one["method"] == "$/progress"]
    assert kinds[0] == "begin" and kinds.count("begin") == kinds.count("end") == 1 and kinds[-1] == "end"


def test_a_fault_of_the_server_is_told_with_its_traceback(launch: Start, op: Op, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import json\nimport cutile_lint.server.pages as pages\ndef page(code):\n    json.loads('{wrong')\npages.page = page\n"
    )
    env = {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PYTHONPATH": f"{broken}{os.pathsep}{Path(__file__).parents[2]}",
    }
    client = Client(op.root, env=env)
    try:
        client.start()
        explain = {"command": "cutile-lint.explain", "arguments": ["CTL202"]}
        assert refused(client, "workspace/executeCommand", explain) == -32603
        assert client.stop() == 0
        assert any("Traceback" in line for line in client.errors) and any(
            "json.loads('{wrong')" in line for line in client.errors
        )
    finally:
        client.kill()


@pytest.mark.parametrize(
    ("command", "arguments", "said"),
    [
        ("cutile-lint.explain", ["CTL999"], "no rule is called `CTL999`"),
        ("cutile-lint.explain", ["../../etc/passwd"], "no rule is called `../../etc/passwd`"),
        ("cutile-lint.explain", None, "Expected 1 arguments, got 0"),
        ("cutile-lint.explain", [], "Expected 1 arguments, got 0"),
        ("cutile-lint.explain", ["CTL101", "CTL102"], "Expected 1 arguments, got 2"),
        ("cutile-lint.explain", [{}], "no rule is called `{}`"),
        ("cutile-lint.show", None, "Expected 3 arguments, got 0"),
        ("cutile-lint.show", ["a", "b", "c"], "`cutile-lint.show` cannot be called like that: "),
        ("cutile-lint.none", ["a"], "'cutile-lint.none'"),
    ],
)
def test_wrong_calls_of_commands(client: Client, command: str, arguments: list | None, said: str) -> None:
    with pytest.raises(Failed) as failed:
        client.request("workspace/executeCommand", {"command": command, "arguments": arguments})
    assert failed.value.code == INVALID_PARAMS and said in str(failed.value) and failed.value.data is None
    assert client.stop() == 0
    assert client.errors == []
