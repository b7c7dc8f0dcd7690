from __future__ import annotations

import copy
import shutil
from pathlib import Path

import pytest
from client import CAPABILITIES, Client, Failed, span, where
from conftest import ROOT, Op, Start

PULL = copy.deepcopy(CAPABILITIES)
PULL["textDocument"]["diagnostic"] = {"relatedDocumentSupport": True}
PULL["workspace"]["diagnostics"] = {"refreshSupport": True}


def codes(diagnostics: list[dict]) -> set[str]:
    return {one["code"] for one in diagnostics}


def test_a_workspace_is_told_without_an_open_file(client: Client, op: Op) -> None:
    assert "CTL202" in codes(client.diagnostics(op.ffi.as_uri()))
    assert "CTL101" in codes(client.diagnostics(op.wrapper.as_uri()))


def test_a_finding_says_all_it_knows(client: Client, op: Op) -> None:
    uri = client.open(op.wrapper)
    text = op.wrapper.read_text()
    found = next(one for one in client.diagnostics(uri, 1) if one["code"] == "CTL101")
    assert found["range"] == where(text, "torch.zeros_like(x)") or found["range"] == where(text, "torch.zeros_like")
    assert found["severity"] == 1 and found["source"] == "cutile-lint" and "help: " in found["message"]
    page = Path(found["codeDescription"]["href"].removeprefix("file://"))
    assert page.read_text().startswith("# CTL101 ")
    assert found["relatedInformation"] and all(one["message"] for one in found["relatedInformation"])


def test_related_places_lead_to_other_files(client: Client, op: Op) -> None:
    uri = client.open(op.ffi)
    related = [place for one in client.diagnostics(uri, 1) for place in one.get("relatedInformation") or []]
    assert {Path(place["location"]["uri"]).name for place in related} >= {"ffi.rs"}


def test_unsaved_buffers_of_two_layers_are_seen_together(client: Client, op: Op) -> None:
    wrapper, ffi = client.open(op.wrapper), client.open(op.ffi)
    before = client.diagnostics(ffi, 1)
    client.diagnostics(wrapper, 1)
    assert "CTL501" not in codes(before)
    text = op.ffi.read_text()
    line = next(line for line in text.splitlines(keepends=True) if line.strip().startswith("num_cta_in_cga: i32"))
    seen = len(client.seen)
    client.change(ffi, {"range": where(text, line), "text": ""})  # not saved: the export takes one argument less now
    client.diagnostics(ffi, 2)
    mismatch = [one for one in client.diagnostics(wrapper, 1, since=seen) if one["code"].startswith("CTL5")]
    assert mismatch
    seen = len(client.seen)
    client.close(ffi)  # back to the disk
    assert not [one for one in client.diagnostics(wrapper, 1, since=seen) if one["code"].startswith("CTL5")]


def test_a_syntax_error_is_told_of_files_of_an_op(client: Client, op: Op) -> None:
    other = op.root / "other.py"
    for path, told in ((other, set()), (op.wrapper, {"CTL900"})):
        other.write_text("x = 1\n")
        uri = client.open(path)
        assert "CTL900" not in codes(client.diagnostics(uri, 1))
        version = client.change(uri, {"range": span((0, 0), (0, 0)), "text": "def broken(:\n"})
        assert codes(client.diagnostics(uri, version)) & {"CTL900"} == told


def test_what_the_client_spells_in_another_way_is_told_once(launch: Start, tmp_path: Path) -> None:
    root = tmp_path / "c++ (x)"
    shutil.copytree(ROOT / "examples" / "faulty" / "skill", root)
    client = launch(root)
    client.start()
    wrapper = root / "scale_residual" / "wrapper.py"
    ours = client.wait_for("textDocument/publishDiagnostics", lambda told: told["uri"].endswith("/wrapper.py"))["uri"]
    theirs = ours.replace("scale_residual", "scale%5Fresidual")
    client.versions[theirs] = 1
    text = wrapper.read_text()
    seen = len(client.seen)
    client.notify("textDocument/didOpen", {"textDocument": {"uri": theirs, "languageId": "python", "version": 1, "text": text}})
    found = client.diagnostics(theirs, 1)
    assert found and client.diagnostics(ours, since=seen) == []
    seen = len(client.seen)
    client.close(theirs)
    wrapper.write_text("x = 1\n")
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": ours, "type": 2}]})
    client.wait_for("textDocument/publishDiagnostics", lambda told: told["uri"] == theirs and not told["diagnostics"], seen)


def test_files_are_named_as_the_client_names_its_folder(launch: Start, tmp_path: Path) -> None:
    root = tmp_path / "c++"
    shutil.copytree(ROOT / "examples" / "faulty" / "skill", root)
    client = launch(None)
    uri = f"file://{tmp_path}/c++"
    folders = [{"uri": uri, "name": "here"}]
    client.request("initialize", {"processId": None, "rootUri": uri, "workspaceFolders": folders, "capabilities": CAPABILITIES})
    client.notify("initialized", {})
    told = client.wait_for("textDocument/publishDiagnostics", lambda told: told["diagnostics"])
    assert told["uri"].startswith(f"{uri}/scale_residual/")


def test_a_name_that_nothing_binds_is_made_sure_of(launch: Start, tmp_path: Path) -> None:
    root = tmp_path / "work"
    shutil.copytree(ROOT / "examples" / "clean" / "tilegym", root)
    wrapper = root / "src" / "tilegym" / "ops" / "cutile_rs" / "gemm.py"
    client = launch(root)
    client.start()
    call = "    rc = lib.cutile_gemm("
    text = wrapper.read_text().replace(call, f"    more = cop.deepcopy(a)\n{call}")
    uri = client.open(wrapper, text)
    assert not codes(client.diagnostics(uri, 1))
    seen = len(client.seen)
    place = where(text, "cop.")
    at = {"line": place["start"]["line"], "character": place["start"]["character"] + 3}
    client.change(uri, {"range": {"start": at, "end": at}, "text": "y"})  # not imported: nothing binds the one nor the other
    client.wait_for(
        "textDocument/publishDiagnostics",
        lambda params: params["uri"] == uri and params["version"] == 2 and codes(params["diagnostics"]) == {"CTL102"},
        seen,
    )


def test_a_file_changed_on_disk_is_noticed(client: Client, op: Op) -> None:
    wrapper = client.open(op.wrapper)
    client.diagnostics(wrapper, 1)
    text = op.ffi.read_text()
    op.ffi.write_text(text.replace("    num_cta_in_cga: i32,\n", ""))
    seen = len(client.seen)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": op.ffi.as_uri(), "type": 2}]})
    assert any(one["code"].startswith("CTL5") for one in client.diagnostics(wrapper, 1, since=seen))
    registered = client.wait_for("client/registerCapability")["registrations"]
    assert registered[0]["method"] == "workspace/didChangeWatchedFiles"


def test_a_deleted_file_is_told_nothing_more_of(client: Client, op: Op) -> None:
    uri = op.ffi.as_uri()
    assert client.diagnostics(uri)
    op.ffi.unlink()
    seen = len(client.seen)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 3}]})
    assert client.diagnostics(uri, since=seen) == []


def test_only_the_last_of_many_versions_is_told(client: Client, op: Op) -> None:
    uri = client.open(op.wrapper)
    client.diagnostics(uri, 1)
    seen = len(client.seen)
    for _ in range(20):
        last = client.change(uri, {"range": span((0, 0), (0, 0)), "text": "# one more line\n"})
    found = client.diagnostics(uri, last, since=seen)
    assert next(one for one in found if one["code"] == "CTL101")["range"]["start"]["line"] == 20 + 91
    versions = [message["params"]["version"] for message in client.seen[seen:] if message["params"].get("uri") == uri]
    assert versions == sorted(versions) and len(versions) < 20


def test_a_file_that_does_not_parse_keeps_its_findings(client: Client, op: Op) -> None:
    wrapper, ffi = client.open(op.wrapper), client.open(op.ffi)
    before = codes(client.diagnostics(wrapper, 1))
    client.diagnostics(ffi, 1)
    client.change(wrapper, {"range": span((0, 0), (0, 0)), "text": "x = (\n"})
    broken = client.diagnostics(wrapper, 2)
    assert codes(broken) == before | {"CTL900"}
    assert next(one for one in broken if one["code"] == "CTL101")["range"]["start"]["line"] == 92
    client.change(wrapper, {"range": span((0, 0), (1, 0)), "text": ""})
    assert codes(client.diagnostics(wrapper, 3)) == before


def test_a_full_text_replaces_the_document(client: Client, op: Op) -> None:
    uri = client.open(op.wrapper)
    client.diagnostics(uri, 1)
    client.change(uri, {"text": "x = 1\n"})
    assert client.diagnostics(uri, 2) == []


def test_a_file_outside_of_the_workspace_is_checked_while_it_is_open(launch: Start, op: Op, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    client = launch(other)
    client.start()
    uri = client.open(op.wrapper)
    assert "CTL101" in codes(client.diagnostics(uri, 1))
    seen = len(client.seen)
    client.close(uri)
    assert client.diagnostics(uri, since=seen) == []


def test_tile_ir_is_checked(client: Client, op: Op) -> None:
    reference = op.folder / "reference"
    reference.mkdir()
    uri = client.open(reference / "reference.mlir", "cuda_tile.module @m {\n  cuda_tile.entry @k( {\n")
    assert "CTL900" in codes(client.diagnostics(uri, 1))


# ── pull ──


def pull(client: Client, uri: str, before: str | None = None) -> dict:
    return client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}, "previousResultId": before})


def test_pulled_with_the_partners(launch: Start, op: Op) -> None:
    client = launch(op.root)
    assert client.start(PULL)["capabilities"]["diagnosticProvider"]["interFileDependencies"] is True
    uri = client.open(op.wrapper)
    report = pull(client, uri)
    assert report["kind"] == "full" and "CTL101" in codes(report["items"])
    assert "CTL202" in codes(report["relatedDocuments"][op.ffi.as_uri()]["items"])
    assert pull(client, uri, report["resultId"])["kind"] == "unchanged"
    assert not [message for message in client.seen if message["method"] == "textDocument/publishDiagnostics"]


def test_a_pull_of_a_changed_text_is_given_up_and_to_be_repeated(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start(PULL)
    uri = client.open(op.wrapper)
    asked = client.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    client.change(uri, {"range": span((0, 0), (0, 0)), "text": "\n"})
    with pytest.raises(Failed) as failed:
        client.answer(asked)
    assert failed.value.code == -32802 and failed.value.data == {"retriggerRequest": True}
    assert "CTL101" in codes(pull(client, uri)["items"])


def test_a_pull_can_be_cancelled(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start(PULL)
    uri = client.open(op.wrapper)
    asked = client.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    client.notify("$/cancelRequest", {"id": asked})
    with pytest.raises(Failed) as failed:
        client.answer(asked)
    assert failed.value.code == -32800


def test_the_workspace_is_pulled_with_progress(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start(PULL)
    report = client.request("workspace/diagnostic", {"previousResultIds": [], "workDoneToken": "work"})
    by_name = {Path(item["uri"]).name: item for item in report["items"]}
    assert "CTL202" in codes(by_name["ffi.rs"]["items"]) and "CTL101" in codes(by_name["wrapper.py"]["items"])
    kinds = [
        m["params"]["value"].get("kind") for m in client.seen if m["method"] == "$/progress" and m["params"]["token"] == "work"
    ]
    assert kinds[0] == "begin" and kinds[-1] == "end"
    again = [{"uri": item["uri"], "value": item["resultId"]} for item in report["items"]]
    assert {item["kind"] for item in client.request("workspace/diagnostic", {"previousResultIds": again})["items"]} == {
        "unchanged"
    }


def parts(client: Client, token: str) -> list[dict]:
    told = [message["params"] for message in client.seen if message["method"] == "$/progress"]
    return [item for one in told if one["token"] == token for item in one["value"]["items"]]


def test_what_is_told_in_parts_is_not_told_again(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start(PULL)
    for token in ("while it is checked", "afterwards"):
        asked = {"previousResultIds": [], "partialResultToken": token}
        assert client.request("workspace/diagnostic", asked) == {"items": []}
        told = parts(client, token)
        by_name = {Path(item["uri"]).name: item for item in told}
        assert "CTL202" in codes(by_name["ffi.rs"]["items"]) and "CTL101" in codes(by_name["wrapper.py"]["items"])
        states = [(item["uri"], item["resultId"]) for item in told]
        assert len(states) == len(set(states))
    known = [{"uri": item["uri"], "value": item["resultId"]} for item in told]
    client.request("workspace/diagnostic", {"previousResultIds": known, "partialResultToken": "again"})
    assert [item["kind"] for item in parts(client, "again")] == ["unchanged"] * len(known)


def test_a_workspace_that_is_not_there_is_not_the_current_folder(
    launch: Start, op: Op, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(op.root)
    client = launch(tmp_path / "gone")
    client.start(PULL)
    assert client.request("workspace/diagnostic", {"previousResultIds": []}) == {"items": []}
