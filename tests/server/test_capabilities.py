"""What a client says that it does not understand it is not sent."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from client import CAPABILITIES, Client, span
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


# ── pages of diagnostics ──


@pytest.mark.parametrize(("published", "expected"), [(None, True), ({}, True), ({"codeDescriptionSupport": False}, False)])
def test_pages_of_diagnostics(launch: Start, op: Op, published: dict | None, expected: bool) -> None:
    client = launch(op.root)
    client.start(able(publishDiagnostics=published))
    assert {"codeDescription" in one for one in client.diagnostics(client.open(op.ffi), 1)} == {expected}


# ── code actions ──


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
