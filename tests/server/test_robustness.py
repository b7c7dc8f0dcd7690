from __future__ import annotations

import copy
from pathlib import Path

import pytest
from client import CAPABILITIES, Client, Failed, span, where
from conftest import Op, Start


def codes(diagnostics: list[dict]) -> set[str]:
    return {one["code"] for one in diagnostics}


def lives(client: Client, op: Op) -> None:
    uri = client.open(op.ffi)
    assert "CTL202" in codes(client.diagnostics(uri, 1))
    assert client.stop() == 0
    assert not [line for line in client.errors if "not the protocol" in line]


def test_malformed_requests_are_answered_and_survived(client: Client, op: Op) -> None:
    for params in (None, [], {"textDocument": 5}, {"textDocument": {"uri": "file:///x"}, "position": {"line": "a"}}):
        with pytest.raises(Failed):
            client.request("textDocument/hover", params)
    with pytest.raises(Failed):
        client.request("textDocument/noSuchThing", {})
    with pytest.raises(Failed):
        client.request("workspace/executeCommand", {"command": "cutile-lint.explain", "arguments": ["CTL000"]})
    client.send_raw(b"{")
    client.send_raw(b"[1, 2]")
    client.send_raw(b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": null}}')
    client.notify("textDocument/didChange", {"textDocument": {"uri": "file:///nowhere.py", "version": 3}, "contentChanges": []})
    client.notify("textDocument/didClose", {"textDocument": {"uri": "untitled:Untitled-1"}})
    client.request("textDocument/hover", {"textDocument": {"uri": "untitled:1"}, "position": {"line": 0, "character": 0}})
    lives(client, op)


def test_positions_behind_the_text_mean_its_end(client: Client, op: Op) -> None:
    uri = client.open(op.wrapper)
    client.diagnostics(uri, 1)
    client.change(uri, {"range": span((10_000, 7), (20_000, 1)), "text": "\n# the end\n"})
    client.diagnostics(uri, 2)
    assert client.actions(uri, span((90_000, 0), (90_000, 5)), ["quickfix"]) == []
    lives(client, op)


def test_binary_deleted_and_huge_files_are_survived(client: Client, op: Op) -> None:
    huge = op.folder / "huge.py"
    huge.write_text("x = 1\n" * (10_000_000 // 6))
    (op.folder / "binary.rs").write_bytes(b"\0\xff\xfe" * 100)
    gone = op.folder / "gone.py"
    uris = [client.open(huge), client.open(op.folder / "binary.rs", "\0\ud800".encode("utf-8", "replace").decode())]
    uris.append(client.open(gone, "import cutile\n"))
    for uri in uris:
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 3}]})
    client.change(uris[0], {"range": span((5, 0), (6, 0)), "text": "y = 2\n"})
    assert "CTL903" in codes(client.diagnostics(uris[0]))
    lives(client, op)


def test_the_configuration_of_the_project_takes_effect_while_it_is_changed(client: Client, op: Op) -> None:
    uri = client.open(op.ffi)
    assert "CTL202" in codes(client.diagnostics(uri, 1))
    file = op.root / "cutile-lint.toml"
    for text, expected in (('ignore = ["CTL202"]\n', False), ("", True)):
        file.write_text(text)
        seen = len(client.seen)
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": 1}]})
        assert ("CTL202" in codes(client.diagnostics(uri, 1, since=seen))) is expected


def test_mistakes_in_the_configuration_are_shown(client: Client, op: Op) -> None:
    uri = client.open(op.ffi)
    client.diagnostics(uri, 1)
    file = op.root / "cutile-lint.toml"
    file.write_text("ignroe = []\n")
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": 1}]})
    shown = client.wait_for("window/showMessage")
    assert shown["type"] == 1 and "unknown key `ignroe`; did you mean `ignore`?" in shown["message"]
    file.write_text('ignore = ["CTL202"]\n')
    seen = len(client.seen)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": 2}]})
    assert "CTL202" not in codes(client.diagnostics(uri, 1, since=seen))


def test_the_client_s_settings_are_asked_for_and_changed(launch: Start, op: Op) -> None:
    capabilities = copy.deepcopy(CAPABILITIES)
    capabilities["workspace"]["configuration"] = True
    client = launch(op.root)
    client.configuration = {"select": ["CTL204"], "scope": "open"}
    client.start(capabilities)
    uri = client.open(op.ffi)
    assert codes(client.diagnostics(uri, 1)) == {"CTL204"}
    client.notify("workspace/didChangeConfiguration", {"settings": {"cutile-lint": {"ignore": "CTL204"}}})
    client.wait_for(
        "textDocument/publishDiagnostics",  # one that was on its way already may come first
        lambda params: params["uri"] == uri and all(item["code"] != "CTL204" for item in params["diagnostics"]),
    )
    client.notify("workspace/didChangeConfiguration", {"settings": {"cutile-lint": {"ignore": 5, "nonsense": 1}}})
    client.wait_for("window/showMessage", lambda params: "unknown key `nonsense`" in params["message"])
    client.wait_for("window/showMessage", lambda params: "`ignore` takes a list of strings" in params["message"])


def test_rules_of_a_project_are_not_run_unless_the_command_line_says_so(launch: Start, op: Op) -> None:
    rules = op.root / "rules" / "own"
    rules.mkdir(parents=True)
    trace = op.root / "ran"
    (rules / "mine.py").write_text(f"open({str(trace)!r}, 'w')\ndef check(unit):\n    return []\n")
    (rules / "mine.yaml").write_text(
        "code: OWN001\nname: mine\nlevel: error\nfix: manual\nlayer: python\nsummary: mine\nwhat: mine\nwhy: mine\n"
    )
    (op.root / "cutile-lint.toml").write_text('rule-paths = ["rules"]\n')
    client = launch(op.root)
    client.start()
    client.diagnostics(client.open(op.ffi), 1)
    assert not trace.exists()


def test_nothing_is_lost_when_the_client_goes(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start()
    client.open(op.ffi)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(30) == 0


@pytest.mark.parametrize("doing", ["starting", "checking", "waiting"])
def test_ctrl_c_ends_it_at_once(launch: Start, op: Op, doing: str) -> None:
    client = launch(op.root)
    client.start()
    if doing != "starting":
        uri = client.open(op.ffi)
    if doing == "waiting":
        client.diagnostics(uri, 1)
    assert client.interrupt() == 130
    assert client.errors == ["cutile-lint: interrupted"]


@pytest.mark.parametrize(("name", "table"), [("cutile-lint.toml", ""), ("pyproject.toml", "[tool.cutile-lint]\n")])
def test_an_unsaved_configuration_file_is_heeded(client: Client, op: Op, name: str, table: str) -> None:
    uri = client.open(op.ffi)
    client.diagnostics(uri, 1)
    seen = len(client.seen)
    client.open(op.root / name, f'{table}ignore = ["CTL202"]\n')
    assert "CTL202" not in codes(client.diagnostics(uri, 1, since=seen))


def test_a_workspace_without_a_folder(launch: Start, op: Op) -> None:
    client = launch(None)
    client.start()
    assert "CTL202" in codes(client.diagnostics(client.open(op.ffi), 1))


@pytest.mark.parametrize("when", ["at the start", "later"])
def test_the_folder_that_it_was_started_in_goes(
    launch: Start, op: Op, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    client = launch(op.root)
    if when == "at the start":
        here.rmdir()
    client.start()
    uri = client.open(op.ffi)
    assert "CTL202" in codes(client.diagnostics(uri, 1))
    if when == "later":
        here.rmdir()
    client.notify("workspace/didChangeConfiguration", {"settings": {"ignore": ["CTL204"]}})
    version = client.change(uri, {"range": span((0, 0), (0, 0)), "text": "\n"})
    assert {"CTL202", "CTL204"} & codes(client.diagnostics(uri, version)) == {"CTL202"}
    action = client.actions(uri, span((0, 0), (0, 0)), ["source.fixAll"])[0]
    assert client.request("codeAction/resolve", action)["edit"]
    assert not [line for line in client.errors if "error" in line.lower()]


def test_help_names_the_command(launch: Start, tmp_path: Path) -> None:
    client = launch(None, "--help")
    assert client.process.wait(30) == 0


def test_options_of_a_rule_and_addresses_of_pages_take_effect_while_they_are_changed(client: Client, op: Op) -> None:
    text = op.wrapper.read_text().replace("torch.zeros_like(x)", "torch.cumsum(x, 0)")
    uri = client.open(op.wrapper, text)
    found = next(one for one in client.diagnostics(uri, 1) if one["code"] == "CTL103")
    assert found["range"] == where(text, "torch.cumsum(x, 0)") and found["codeDescription"]["href"].startswith("file://")
    file = client.open(op.root / "cutile-lint.toml", 'docs-url = "https://lint.example/{code}"\n')
    client.wait_for(
        "textDocument/publishDiagnostics", lambda params: params["uri"] == uri and _pages(params) == {"https://lint.example"}
    )
    client.change(file, {"text": '[rules.CTL103]\nallow-calls = ["torch.cum*"]\n'})
    client.wait_for(
        "textDocument/publishDiagnostics",
        lambda params: params["uri"] == uri and params["diagnostics"] and "CTL103" not in codes(params["diagnostics"]),
    )


def _pages(params: dict) -> set[str]:
    return {one["codeDescription"]["href"].rsplit("/", 1)[0] for one in params["diagnostics"]}
