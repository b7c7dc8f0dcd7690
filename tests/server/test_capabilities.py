"""What a client has not said that it understands it is not sent."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from client import CAPABILITIES, Client, Failed, applied, span
from conftest import Op, Start

EVERYWHERE = span((0, 0), (999, 0))


def able(**changes: Any) -> dict[str, Any]:
    """The capabilities with some of ``textDocument`` replaced; None: left out."""
    capabilities = copy.deepcopy(CAPABILITIES)
    for name, value in changes.items():
        capabilities["textDocument"].pop(name, None)
        if value is not None:
            capabilities["textDocument"][name] = value
    return capabilities


def with_edits(capabilities: dict[str, Any]) -> dict[str, Any]:
    capabilities["workspace"]["applyEdit"] = True
    return capabilities


# ── pages of diagnostics ──


@pytest.mark.parametrize(("published", "expected"), [(None, False), ({}, False), ({"codeDescriptionSupport": True}, True)])
def test_pages_of_pushed_diagnostics(launch: Start, op: Op, published: dict | None, expected: bool) -> None:
    client = launch(op.root)
    client.start(able(publishDiagnostics=published))
    assert {"codeDescription" in one for one in client.diagnostics(client.open(op.ffi), 1)} == {expected}


@pytest.mark.parametrize(
    ("published", "pulled", "expected"),
    [
        (None, {}, True),  # 3.17 has no word for it
        ({}, {}, False),
        ({"codeDescriptionSupport": False}, {}, False),
        ({"codeDescriptionSupport": True}, {}, True),
        ({}, {"codeDescriptionSupport": True}, True),  # 3.18 has
    ],
)
def test_pages_of_pulled_diagnostics(launch: Start, op: Op, published: dict | None, pulled: dict, expected: bool) -> None:
    client = launch(op.root)
    client.start(able(publishDiagnostics=published, diagnostic=pulled))
    report = client.request("textDocument/diagnostic", {"textDocument": {"uri": client.open(op.ffi)}})
    assert {"codeDescription" in one for one in report["items"]} == {expected}


# ── code actions ──


def until_gone(client: Client, uri: str, code: str) -> None:
    """Wait until a finding of a changed text is told no more."""
    client.wait_for(
        "textDocument/publishDiagnostics",
        lambda told: (told["uri"], told.get("version")) == (uri, 2) and code not in {one["code"] for one in told["diagnostics"]},
    )


@pytest.mark.parametrize("said", [None, {}])
def test_a_client_without_code_actions_has_commands_that_apply_edits(launch: Start, op: Op, said: dict | None) -> None:
    client = launch(op.root)
    told = client.start(with_edits(able(codeAction=said)))["capabilities"]
    assert told["codeActionProvider"] is True
    uri = client.open(op.ffi)
    assert "CTL202" in {one["code"] for one in client.diagnostics(uri, 1)}
    found = client.actions(uri, EVERYWHERE)
    assert found and all(set(one) <= {"title", "command", "arguments"} for one in found)
    assert {one["command"] for one in found} <= set(told["executeCommandProvider"]["commands"])
    fix = next(one for one in found if one["title"].startswith("CTL202: apply"))
    assert client.request("workspace/executeCommand", {"command": fix["command"], "arguments": fix["arguments"]}) is None
    change = client.wait_for("workspace/applyEdit")["edit"]["documentChanges"][0]
    assert change["textDocument"] == {"uri": uri, "version": 1}
    client.change(uri, {"text": applied(op.ffi.read_text(), change["edits"])})
    until_gone(client, uri, "CTL202")
    explain = next(one for one in found if one["title"].endswith("explain"))
    page = client.request("workspace/executeCommand", {"command": explain["command"], "arguments": explain["arguments"]})
    assert page["markdown"].startswith(f"# {page['code']} ")


def test_all_fixes_as_a_command(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start(with_edits(able(codeAction=None)))
    uri = client.open(op.wrapper)
    client.diagnostics(uri, 1)
    [found] = client.actions(uri, span((0, 0), (0, 0)), ["source.fixAll"])
    client.request("workspace/executeCommand", {"command": found["command"], "arguments": found["arguments"]})
    change = client.wait_for("workspace/applyEdit")["edit"]["documentChanges"][0]
    client.change(uri, {"text": applied(op.wrapper.read_text(), change["edits"])})
    until_gone(client, uri, "CTL101")


def test_a_client_that_applies_no_edits_has_no_commands_for_them(launch: Start, op: Op) -> None:
    client = launch(op.root)
    told = client.start(able(codeAction=None))["capabilities"]
    uri = client.open(op.ffi)
    client.diagnostics(uri, 1)
    found = client.actions(uri, EVERYWHERE)
    assert found and {one["command"] for one in found} == {"cutile-lint.explain"}
    assert "cutile-lint.applyEdit" not in told["executeCommandProvider"]["commands"]
    with pytest.raises(Failed) as failed:
        client.request("workspace/executeCommand", {"command": "cutile-lint.applyEdit", "arguments": [{"changes": {}}]})
    assert failed.value.code == -32602


def test_data_of_an_action_that_would_be_lost_is_not_needed(launch: Start, op: Op) -> None:
    client = launch(op.root)
    action = {one: value for one, value in CAPABILITIES["textDocument"]["codeAction"].items() if one != "dataSupport"}
    assert client.start(able(codeAction=action))["capabilities"]["codeActionProvider"]["resolveProvider"] is True
    uri = client.open(op.wrapper)
    client.diagnostics(uri, 1)
    assert [one["edit"] is not None for one in client.actions(uri, span((0, 0), (0, 0)), ["source.fixAll"])] == [True]


def test_no_kinds_are_all_kinds(client: Client, op: Op) -> None:
    uri = client.open(op.ffi)
    client.diagnostics(uri, 1)
    found = client.actions(uri, EVERYWHERE)
    assert {"quickfix", "source.fixAll.cutile-lint"} == {one["kind"] for one in found}
    assert client.actions(uri, EVERYWHERE, []) == client.actions(uri, EVERYWHERE, [""]) == found


# ── hovers ──


@pytest.mark.parametrize(
    ("formats", "expected"), [(None, "markdown"), (["plaintext", "markdown"], "markdown"), (["plaintext"], "plaintext")]
)
def test_the_format_of_a_hover(launch: Start, op: Op, formats: list[str] | None, expected: str) -> None:
    client = launch(op.root)
    client.start(able(hover={"contentFormat": formats} if formats else None))
    uri = client.open(op.ffi)
    at = client.diagnostics(uri, 1)[0]["range"]["start"]
    shown = client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": at})
    assert shown["contents"]["kind"] == expected


# ── progress ──


def test_the_end_of_the_work_comes_after_its_last_part(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start(able(diagnostic={}))
    asked = {"previousResultIds": [], "workDoneToken": "work", "partialResultToken": "part"}
    assert client.request("workspace/diagnostic", asked) == {"items": []}
    told = [message["params"] for message in client.seen if message["method"] == "$/progress"]
    assert [one["token"] for one in told].count("part") >= 1
    assert told[-1] == {"token": "work", "value": {"kind": "end"}}
