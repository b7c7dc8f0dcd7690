"""What happens on disk beside the editor, for clients that watch files and for those that do not."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from client import CAPABILITIES, Client, span
from conftest import Op, Start

BLIND = copy.deepcopy(CAPABILITIES)
del BLIND["workspace"]["didChangeWatchedFiles"]
RELATIVE = copy.deepcopy(CAPABILITIES)
RELATIVE["workspace"]["didChangeWatchedFiles"]["relativePatternSupport"] = True
NOTHING = '{"version": 1, "findings": []}\n'


def happened(client: Client, *paths: Path, kind: int = 2) -> None:
    """Tell the server of files: 1 created, 2 changed, 3 deleted."""
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": kind} for path in paths]})


def codes(diagnostics: list[dict[str, Any]]) -> set[str]:
    return {one["code"] for one in diagnostics}


def after_an_edit(client: Client, uri: str) -> set[str]:
    return codes(client.diagnostics(uri, client.change(uri, {"range": span((0, 0), (0, 0)), "text": "\n"})))


def after_saving(client: Client, uri: str) -> set[str]:
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    return after_an_edit(client, uri)


def until(client: Client, uri: str, fits: Callable[[set[str]], bool], since: int = 0) -> None:
    """Wait until the codes of a file fit; what was on its way before may come first."""
    client.wait_for(
        "textDocument/publishDiagnostics", lambda told: told["uri"] == uri and fits(codes(told["diagnostics"])), since
    )


def watched(client: Client, file: Path) -> None:
    """Wait until a file of the configuration is watched by name."""

    def names(params: Any) -> bool:
        patterns = [one["globPattern"] for each in params["registrations"] for one in each["registerOptions"]["watchers"]]
        return f"**/{file.name}" in patterns or {"baseUri": file.parent.as_uri(), "pattern": file.name} in patterns

    client.wait_for("client/registerCapability", names)


@pytest.mark.parametrize("capabilities", [CAPABILITIES, RELATIVE])
def test_files_that_the_configuration_extends_are_watched(launch: Start, op: Op, capabilities: dict[str, Any]) -> None:
    base = op.root.parent / "shared" / "base.toml"  # outside of the workspace
    middle = op.root / "middle.toml"
    base.parent.mkdir()
    base.write_text('ignore = ["CTL202"]\n')
    middle.write_text('extend = "../shared/base.toml"\n')
    (op.root / "cutile-lint.toml").write_text('extend = "middle.toml"\n')
    client = launch(op.root)
    client.start(capabilities)
    uri = client.open(op.ffi)
    assert "CTL202" not in codes(client.diagnostics(uri, 1))
    watched(client, base)
    watched(client, middle)
    for file, text, expected in ((base, 'ignore = ["CTL204"]\n', "CTL202"), (middle, 'ignore = ["CTL202"]\n', "CTL204")):
        seen = len(client.seen)
        file.write_text(text)
        happened(client, file)
        until(client, uri, lambda found, expected=expected: {"CTL202", "CTL204"} & found == {expected}, seen)


def test_an_extended_file_is_noticed_when_it_comes(client: Client, op: Op) -> None:
    base = op.root / "base.toml"
    uri = client.open(op.ffi)
    client.diagnostics(uri, 1)
    (op.root / "cutile-lint.toml").write_text('extend = "base.toml"\n')
    happened(client, op.root / "cutile-lint.toml")
    client.wait_for("window/showMessage", lambda params: "which is not there" in params["message"])
    watched(client, base)
    seen = len(client.seen)
    base.write_text('ignore = ["CTL202"]\n')
    happened(client, base, kind=1)
    until(client, uri, lambda found: "CTL202" not in found, seen)


def test_a_given_configuration_of_any_name_is_reread(launch: Start, op: Op) -> None:
    given = op.root / "lint.toml"
    given.write_text('ignore = ["CTL202"]\n')
    client = launch(op.root, "--config", str(given))
    client.start()
    uri = client.open(op.ffi)
    assert "CTL202" not in codes(client.diagnostics(uri, 1))
    given.write_text("")
    assert "CTL202" in after_an_edit(client, uri)


def test_an_extended_file_is_heeded_while_it_is_edited(client: Client, op: Op) -> None:
    base = op.root / "base.toml"
    base.write_text("")
    (op.root / "cutile-lint.toml").write_text('extend = "base.toml"\n')
    happened(client, op.root / "cutile-lint.toml", kind=1)
    uri = client.open(op.ffi)
    assert "CTL202" in codes(client.diagnostics(uri, 1))
    seen = len(client.seen)
    client.open(base, 'ignore = ["CTL202"]\n')
    until(client, uri, lambda found: "CTL202" not in found, seen)


@pytest.mark.parametrize("capabilities", [CAPABILITIES, BLIND])
def test_a_baseline_is_reread(launch: Start, op: Op, capabilities: dict[str, Any]) -> None:
    from cutile_lint.cli.main import main

    baseline = op.root / "known.json"
    assert main(["baseline", "--output-file", str(baseline), str(op.root)]) == 0
    known = baseline.read_text()
    (op.root / "cutile-lint.toml").write_text('baseline = "known.json"\n')
    client = launch(op.root)
    client.start(capabilities)
    uri = client.open(op.ffi)
    assert client.diagnostics(uri, 1) == []
    baseline.write_text(NOTHING)
    assert "CTL202" in after_an_edit(client, uri)
    baseline.write_text(known)
    if capabilities is BLIND:
        assert after_saving(client, uri) == set()
        return
    watched(client, baseline)
    seen = len(client.seen)
    happened(client, baseline)
    until(client, uri, lambda found: not found, seen)


def test_a_configuration_that_comes_is_noticed_on_saving(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start(BLIND)
    uri = client.open(op.ffi)
    assert "CTL202" in codes(client.diagnostics(uri, 1))
    (op.root / "pyproject.toml").write_text('[tool.cutile-lint]\nignore = ["CTL202"]\n')
    assert "CTL202" not in after_saving(client, uri)
    (op.folder / "cutile-lint.toml").write_text('ignore = ["CTL204"]\n')
    assert "CTL202" in after_saving(client, uri)
    (op.folder / "cutile-lint.toml").unlink()
    assert "CTL202" not in after_saving(client, uri)


# ── partners ──


def test_a_partner_that_comes_back_is_noticed_on_saving(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start(BLIND)
    uri = client.open(op.wrapper)
    before = codes(client.diagnostics(uri, 1))
    text = op.ffi.read_text()
    op.ffi.unlink()
    without = after_saving(client, uri)
    assert without != before
    seen = len(client.seen)
    op.ffi.write_text(text)
    assert after_saving(client, uri) == before
    until(client, op.ffi.as_uri(), lambda found: "CTL202" in found, seen)


def test_a_partner_that_comes_is_noticed_on_saving(launch: Start, op: Op) -> None:
    text = op.ffi.read_text()
    op.ffi.unlink()
    client = launch(op.root)
    client.start(BLIND)
    uri = client.open(op.wrapper)
    without = codes(client.diagnostics(uri, 1))
    (op.folder / "exports.rs").write_text(text)  # a name that nobody looked for
    assert after_saving(client, uri) != without
    until(client, (op.folder / "exports.rs").as_uri(), lambda found: "CTL202" in found)


@pytest.mark.parametrize("where", ["on disk", "in the editor"])
def test_a_partner_that_nobody_named_is_noticed_when_it_comes(launch: Start, op: Op, where: str) -> None:
    """The kernel is looked for by what is in the folder: there is no `lib.rs` that names it."""
    text = op.kernel.read_text()
    op.kernel.unlink()
    client = launch(op.root)
    client.start()
    uri = client.open(op.wrapper)
    without = codes(client.diagnostics(uri, 1))
    assert "CTL105" not in without  # whether the launch before the search does anything, the kernel says
    seen = len(client.seen)
    if where == "on disk":
        op.kernel.write_text(text)
        happened(client, op.kernel, kind=1)
    else:
        client.open(op.kernel, text)
    until(client, uri, lambda found: found == without | {"CTL105"}, seen)
    seen = len(client.seen)
    if where == "on disk":
        op.kernel.unlink()
        happened(client, op.kernel, kind=3)
    else:
        client.close(op.kernel.as_uri())
    until(client, uri, lambda found: found == without, seen)


def test_files_that_come_beside_an_open_one_of_no_op_are_noticed_on_saving(launch: Start, op: Op) -> None:
    text = op.ffi.read_text()
    op.ffi.unlink()
    op.wrapper.unlink()
    client = launch(op.root)
    client.start(BLIND)
    uri = client.open(op.kernel)
    client.diagnostics(uri, 1)
    seen = len(client.seen)
    op.ffi.write_text(text)
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    until(client, op.ffi.as_uri(), lambda found: "CTL202" in found, seen)


@pytest.mark.parametrize("told", ["the folder", "the folder above", "each file"])
def test_a_folder_that_goes_and_comes_back(client: Client, op: Op, told: str) -> None:
    files = [op.wrapper, op.ffi, op.kernel]
    uris = [op.wrapper.as_uri(), op.ffi.as_uri()]
    before = [codes(client.diagnostics(uri)) for uri in uris]
    away = op.root.parent / "away"
    seen = len(client.seen)
    shutil.move(op.folder, away)
    happened(client, *(files if told == "each file" else [op.folder]), kind=3)
    for uri in uris:
        until(client, uri, lambda found: not found, seen)
    seen = len(client.seen)
    shutil.move(away, op.folder)
    happened(client, op.root if told == "the folder above" else op.folder, kind=1)
    for uri, codes_before in zip(uris, before, strict=True):
        until(client, uri, lambda found, codes_before=codes_before: found == codes_before, seen)


def test_a_folder_of_new_files_is_linked_to_what_is_there(client: Client, op: Op) -> None:
    uri = client.open(op.wrapper)
    before = codes(client.diagnostics(uri, 1))
    away = [Path(shutil.move(file, op.root.parent / file.name)) for file in (op.ffi, op.kernel)]
    seen = len(client.seen)
    happened(client, op.ffi, op.kernel, kind=3)
    until(client, uri, lambda found: found != before, seen)
    rust = op.folder / "rust"
    rust.mkdir()
    for file in away:
        shutil.move(file, rust / file.name)
    seen = len(client.seen)
    happened(client, rust, kind=1)
    until(client, uri, lambda found: found == before, seen)
    until(client, (rust / "ffi.rs").as_uri(), lambda found: "CTL202" in found)


# ── what the client does to files itself ──


def tells(capabilities: dict[str, Any], *what: str) -> dict[str, Any]:
    workspace = {**capabilities["workspace"], "fileOperations": dict.fromkeys(what, True)}
    return {**capabilities, "workspace": workspace}


EVERYTHING = ("didCreate", "didRename", "didDelete")


def test_what_the_client_does_to_files_is_asked_for_where_it_tells(launch: Start, op: Op) -> None:
    for what in ((), EVERYTHING, ("didRename",)):
        client = launch(op.root)
        told = client.start(tells(CAPABILITIES, *what))["capabilities"]["workspace"]["fileOperations"]
        assert set(told) == set(what)
        for one in told.values():
            assert one == {"filters": [{"scheme": "file", "pattern": {"glob": "**/*"}}]}  # files and folders


@pytest.mark.parametrize("capabilities", [CAPABILITIES, BLIND], ids=["watching", "blind"])
def test_folders_and_files_that_the_client_creates_renames_and_deletes(
    launch: Start, op: Op, capabilities: dict[str, Any]
) -> None:
    client = launch(op.root)
    client.start(tells(capabilities, *EVERYTHING))
    assert "CTL202" in codes(client.diagnostics(op.ffi.as_uri()))

    moved = op.root / "moved" / "op"
    moved.parent.mkdir()
    op.folder.rename(moved)
    seen = len(client.seen)
    renamed = {"files": [{"oldUri": op.folder.as_uri(), "newUri": moved.as_uri()}]}
    client.notify("workspace/didRenameFiles", renamed)
    until(client, (moved / "ffi.rs").as_uri(), lambda found: "CTL202" in found, seen)
    until(client, op.ffi.as_uri(), lambda found: not found, seen)

    copied = op.root / "copied"
    shutil.copytree(moved, copied)
    seen = len(client.seen)
    client.notify("workspace/didCreateFiles", {"files": [{"uri": copied.as_uri()}]})
    until(client, (copied / "ffi.rs").as_uri(), lambda found: "CTL202" in found, seen)

    (copied / "ffi.rs").rename(copied / "other.rs")
    seen = len(client.seen)
    renamed = {"files": [{"oldUri": (copied / "ffi.rs").as_uri(), "newUri": (copied / "other.rs").as_uri()}]}
    client.notify("workspace/didRenameFiles", renamed)
    until(client, (copied / "ffi.rs").as_uri(), lambda found: not found, seen)

    shutil.rmtree(moved)
    seen = len(client.seen)
    client.notify("workspace/didDeleteFiles", {"files": [{"uri": moved.as_uri()}, {"uri": "untitled:none"}]})
    until(client, (moved / "ffi.rs").as_uri(), lambda found: not found, seen)
    until(client, (moved / "wrapper.py").as_uri(), lambda found: not found, seen)
    assert client.stop() == 0
