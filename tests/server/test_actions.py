from __future__ import annotations

import copy
import shutil
from pathlib import Path

from client import CAPABILITIES, Client, applied, span
from conftest import ROOT, Op, Start


def action(client: Client, uri: str, code: str, title: str, version: int = 1) -> dict:
    """The action of a title on the finding with a code."""
    found = next(one for one in client.diagnostics(uri, version) if one["code"] == code)
    return next(one for one in client.actions(uri, found["range"]) if title in one["title"] and code in one["title"])


def edits(action_: dict, uri: str) -> list[dict]:
    return next(one["edits"] for one in action_["edit"]["documentChanges"] if one["textDocument"]["uri"] == uri)


def test_a_fix_is_an_edit_of_the_version_it_was_made_for(client: Client, op: Op) -> None:
    uri = client.open(op.ffi)
    found = action(client, uri, "CTL202", "apply")
    assert found["kind"] == "quickfix" and found["isPreferred"] is True and found["diagnostics"][0]["code"] == "CTL202"
    change = found["edit"]["documentChanges"][0]["textDocument"]
    assert change == {"uri": uri, "version": 1}
    client.change(uri, {"text": applied(op.ffi.read_text(), edits(found, uri))})
    assert "CTL202" not in {one["code"] for one in client.diagnostics(uri, 2)}


def test_unsafe_fixes_are_marked_and_never_preferred(client: Client, op: Op) -> None:
    uri = client.open(op.wrapper)
    client.diagnostics(uri, 1)
    all_of_them = client.actions(uri, span((0, 0), (200, 0)))
    unsafe = [one for one in all_of_them if "(unsafe)" in one["title"]]
    assert unsafe and not any(one.get("isPreferred") for one in unsafe)


def test_fix_all_leaves_only_what_no_safe_fix_mends(client: Client, op: Op) -> None:
    uri = client.open(op.wrapper)
    before = client.diagnostics(uri, 1)
    found = client.actions(uri, span((0, 0), (0, 0)), ["source.fixAll"])
    assert [one["kind"] for one in found] == ["source.fixAll.cutile-lint"] and "edit" not in found[0]
    resolved = client.request("codeAction/resolve", found[0])
    text = applied(op.wrapper.read_text(), edits(resolved, uri))
    client.change(uri, {"text": text})
    left = {one["code"] for one in client.diagnostics(uri, 2)}
    assert left < {one["code"] for one in before} and "CTL101" not in left
    assert "_launch(torch.empty_like(x), x, residual" in text  # needs an unsafe fix
    assert client.actions(uri, span((0, 0), (0, 0)), ["source.fixAll.cutile-lint"]) == []


def test_there_is_nothing_to_fix_in_a_text_that_does_not_parse(client: Client, op: Op) -> None:
    uri = client.open(op.wrapper)
    client.diagnostics(uri, 1)
    everywhere = span((0, 0), (999, 0))
    assert client.actions(uri, everywhere, ["source.fixAll"])
    client.diagnostics(uri, client.change(uri, {"range": span((0, 0), (0, 0)), "text": "def broken(:\n"}))
    assert client.actions(uri, everywhere, ["source.fixAll"]) == []


def test_what_is_chosen_right_after_a_change_is_made_for_the_new_text(client: Client, op: Op) -> None:
    uri = client.open(op.wrapper)
    client.diagnostics(uri, 1)
    [chosen] = client.actions(uri, span((0, 0), (0, 0)), ["source.fixAll"])
    version = client.change(uri, {"range": span((0, 0), (0, 0)), "text": "# a word\n"})
    resolved = client.request("codeAction/resolve", chosen)
    [change] = resolved["edit"]["documentChanges"]
    assert change["textDocument"]["version"] == version
    text = applied(f"# a word\n{op.wrapper.read_text()}", change["edits"])
    assert text.startswith("# a word\n") and compile(text, "wrapper.py", "exec") is not None


def test_one_fix_detaches_all_inputs_that_were_refused(client: Client, op: Op) -> None:
    uri = client.open(op.wrapper)
    client.diagnostics(uri, 1)
    text = applied(op.wrapper.read_text(), edits(action(client, uri, "CTL301", "detach"), uri))
    client.change(uri, {"text": text})
    assert {"CTL301", "CTL302"}.isdisjoint(one["code"] for one in client.diagnostics(uri, 2))


def test_a_client_that_cannot_resolve_gets_the_edit_at_once(launch: Start, op: Op) -> None:
    capabilities = copy.deepcopy(CAPABILITIES)
    del capabilities["textDocument"]["codeAction"]["resolveSupport"], capabilities["workspace"]["workspaceEdit"]
    client = launch(op.root)
    client.start(capabilities)
    uri = client.open(op.ffi)
    client.diagnostics(uri, 1)
    found = client.actions(uri, span((0, 0), (0, 0)), ["source.fixAll"])
    assert set(found[0]["edit"]["changes"]) == {uri}


def test_a_finding_is_ignored_in_the_comments_of_its_language(client: Client, op: Op) -> None:
    for path, code, mark in ((op.ffi, "CTL204", "//"), (op.wrapper, "CTL101", "#")):
        uri = client.open(path)
        found = action(client, uri, code, "ignore on this line")
        text = applied(path.read_text(), edits(found, uri))
        assert f"{mark} cutile-lint: ignore[{code}]" in text
        client.change(uri, {"text": text})
        assert code not in {one["code"] for one in client.diagnostics(uri, 2)}


def test_a_rule_is_explained_as_a_document_and_on_hover(client: Client, op: Op) -> None:
    uri = client.open(op.ffi)
    found = action(client, uri, "CTL202", "explain")
    page = client.request("workspace/executeCommand", found["command"])
    assert page["code"] == "CTL202" and page["markdown"].startswith("# CTL202 ")
    shown = client.wait_for("window/showDocument")
    assert Path(shown["uri"].removeprefix("file://")).read_text() == page["markdown"]
    place = next(one for one in client.diagnostics(uri, 1) if one["code"] == "CTL202")["range"]
    hover = client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": place["start"]})
    assert hover["contents"] == {"kind": "markdown", "value": page["markdown"]} and hover["range"] == place
    assert client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}) is None


def test_fix_all_knows_the_op_as_the_workspace_has_it(launch: Start, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    shutil.copytree(ROOT / "examples" / "faulty" / "tilegym", root)
    ffi = root / "kernel_out" / "batched_product" / "ffi.rs"  # far from its wrapper, and no repository around the two
    client = launch(root)
    client.start()
    uri = client.open(ffi)
    client.wait_for("textDocument/publishDiagnostics", lambda told: told["uri"] == uri and "CTL204" in str(told))
    found = client.actions(uri, span((0, 0), (0, 0)), ["source.fixAll"])
    resolved = client.request("codeAction/resolve", found[0])
    client.change(uri, {"text": applied(ffi.read_text(), edits(resolved, uri))})
    assert "CTL204" not in {one["code"] for one in client.diagnostics(uri, 2)}
    assert client.actions(uri, span((0, 0), (0, 0)), ["source.fixAll"]) == []
