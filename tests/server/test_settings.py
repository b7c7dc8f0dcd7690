"""Settings as editors send them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from client import CAPABILITIES, Client, span
from conftest import Op, Start

ASKED = copy.deepcopy(CAPABILITIES)
ASKED["workspace"]["configuration"] = True
IGNORED = {"ignore": ["CTL202"]}


def configure(client: Client, settings: Any) -> None:
    client.notify("workspace/didChangeConfiguration", {"settings": settings})


def present(client: Client, op: Op) -> set[str]:
    """The codes in `ffi.rs` when all that was sent has taken effect."""
    uri = op.ffi.as_uri()
    if uri not in client.versions:
        return {one["code"] for one in client.diagnostics(client.open(op.ffi), 1)}
    version = client.change(uri, {"range": span((0, 0), (0, 0)), "text": "\n"})
    return {one["code"] for one in client.diagnostics(uri, version)}


def messages(client: Client) -> list[str]:
    return [one["params"]["message"] for one in client.seen if one["method"] == "window/showMessage"]


@pytest.mark.parametrize("around", [(), ("settings",), ("cutile-lint",), ("cutile_lint",), ("settings", "cutile-lint")])
def test_settings_are_found_in_what_editors_put_around_them(launch: Start, op: Op, around: tuple[str, ...]) -> None:
    def wrapped(table: Any) -> Any:
        for name in reversed(around):
            table = {name: table}
        return table

    client = launch(op.root)
    client.start(options=wrapped(IGNORED))
    assert "CTL202" not in present(client, op)
    configure(client, wrapped({"ignore": ["CTL204"]}))
    codes = present(client, op)
    assert "CTL202" in codes and "CTL204" not in codes
    assert messages(client) == []


@pytest.mark.parametrize("from_the_start", [True, False])
def test_a_file_that_is_opened_again_is_checked_again(launch: Start, op: Op, from_the_start: bool) -> None:
    client = launch(op.root)
    client.start(options={"scope": "open"} if from_the_start else None)
    if not from_the_start:
        client.diagnostics(op.wrapper.as_uri())
        configure(client, {"scope": "open"})
    uri = client.open(op.wrapper)
    before = client.diagnostics(uri, 1)
    assert before
    seen = len(client.seen)
    client.close(uri)
    assert client.diagnostics(uri, since=seen) == []
    seen = len(client.seen)
    client.open(op.wrapper)
    assert client.diagnostics(uri, 1, since=seen) == before


def test_helix_sends_what_its_page_says_twice(launch: Start, op: Op) -> None:
    config = {"settings": IGNORED}
    client = launch(op.root)
    client.start(ASKED, options=config)
    configure(client, config)
    assert "CTL202" not in present(client, op)
    assert messages(client) == []


@pytest.mark.parametrize("capabilities", [CAPABILITIES, ASKED])
def test_neovim_writes_an_empty_table_as_a_list(launch: Start, op: Op, capabilities: dict[str, Any]) -> None:
    client = launch(op.root)
    client.configuration = []
    client.start(capabilities, options={"settings": []})
    for sent in ([], {"cutile-lint": []}, {"settings": {"cutile-lint": []}}):
        configure(client, sent)
        assert "CTL202" in present(client, op)
    configure(client, {"cutile-lint": {"ignore": {}}})  # vim.empty_dict()
    assert "CTL202" in present(client, op)
    assert messages(client) == []


@pytest.mark.parametrize("nothing", [{}, [], None])
def test_a_client_that_goes_back_to_no_settings_gets_the_defaults(launch: Start, op: Op, nothing: Any) -> None:
    client = launch(op.root)
    client.configuration = IGNORED
    client.start(ASKED)
    assert "CTL202" not in present(client, op)
    client.configuration = nothing
    configure(client, None)
    client.wait_for("textDocument/publishDiagnostics", lambda params: "CTL202" in str(params["diagnostics"]))
    assert "CTL202" in present(client, op)


def test_a_client_that_pushes_no_settings_gets_the_defaults(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start()
    configure(client, {"cutile-lint": IGNORED})
    assert "CTL202" not in present(client, op)
    configure(client, {"cutile-lint": {}})
    assert "CTL202" in present(client, op)


def test_a_client_with_nothing_to_add_keeps_what_it_said_at_the_start(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.configuration = {}
    client.start(ASKED, options={"settings": IGNORED})
    configure(client, {})  # as eglot does at once
    assert "CTL202" not in present(client, op)


def test_a_mistake_that_is_sent_twice_is_shown_once(launch: Start, op: Op) -> None:
    config = {"settings": {"nonsense": 1}}
    client = launch(op.root)
    client.start(options=config)
    configure(client, config)
    present(client, op)
    assert len(messages(client)) == 1
