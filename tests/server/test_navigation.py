from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from client import Client, position, span, where
from conftest import ROOT, Op, Start
from test_diagnostics import PULL


def texts(places: list[dict[str, Any]] | None) -> set[tuple[str, str]]:
    """(file, first line of the text) of locations on disk."""
    found = set()
    for place in places or []:
        path = Path(place["uri"].removeprefix("file://"))
        start, end = place["range"]["start"], place["range"]["end"]
        line = path.read_text().split("\n")[start["line"]]
        found.add((path.name, line[start["character"] : end["character"] if end["line"] == start["line"] else None]))
    return found


def ask(client: Client, what: str, path: Path, part: str, inside: int = 0) -> set[tuple[str, str]]:
    at = where(path.read_text(), part)["start"]
    params: dict[str, Any] = {
        "textDocument": {"uri": path.as_uri()},
        "position": position(at["line"], at["character"] + inside),
        "context": {"includeDeclaration": True},
    }
    return texts(client.request(f"textDocument/{what}", params))


def opened(client: Client, op: Op) -> None:
    for path in (op.wrapper, op.ffi, op.kernel):
        client.diagnostics(client.open(path), 1)


def test_from_the_call_to_the_export_to_the_kernel(client: Client, op: Op) -> None:
    opened(client, op)
    assert ask(client, "definition", op.wrapper, "rc = lib.cutile_scale_residual(", 10) == {("ffi.rs", "cutile_scale_residual")}
    found = ask(client, "references", op.ffi, "fn cutile_scale_residual", 5)
    assert {("ffi.rs", "cutile_scale_residual"), ("wrapper.py", "cutile_scale_residual")} <= found
    entry = ask(client, "references", op.kernel, "pub unsafe fn scale_residual", 17) or ask(
        client, "references", op.kernel, "fn scale_residual", 4
    )
    assert {name for name, _ in entry} == {"ffi.rs", "kernel.rs"}


def test_from_an_argument_to_the_slot_and_back(client: Client, op: Op) -> None:
    opened(client, op)
    assert ask(client, "definition", op.wrapper, "        float(alpha),", 9) == {("ffi.rs", "alpha")}
    assert ("ffi.rs", "alpha") in ask(client, "references", op.wrapper, "        float(alpha),", 9)
    found = ask(client, "references", op.ffi, "    alpha: ", 5)
    assert ("wrapper.py", "float(alpha)") in found and ("wrapper.py", "alpha") in found


def test_a_slot_leads_to_the_config_field_that_feeds_it(client: Client, op: Op) -> None:
    opened(client, op)
    assert ("wrapper.py", "cfg.BLOCK") in ask(client, "references", op.ffi, "    block: ", 5)


def test_arguments_carry_the_names_of_their_slots(client: Client, op: Op) -> None:
    opened(client, op)
    params = {"textDocument": {"uri": op.wrapper.as_uri()}, "range": span((0, 0), (200, 0))}
    hints = client.request("textDocument/inlayHint", params)
    assert [hint["label"] for hint in hints][:4] == ["out:", "x:", "residual:", "alpha:"]
    assert hints[0]["position"] == where(op.wrapper.read_text(), "        out_desc,\n")["start"] | {"character": 8}


def test_an_export_says_who_calls_it(client: Client, op: Op) -> None:
    opened(client, op)
    (lens,) = client.request("textDocument/codeLens", {"textDocument": {"uri": op.ffi.as_uri()}})
    assert lens["command"]["title"] == "called from wrapper.py:50 · 1 variant · num_cta_in_cga not applied"
    client.request("workspace/executeCommand", {"command": lens["command"]["command"], "arguments": lens["command"]["arguments"]})
    assert client.wait_for("window/showDocument")["uri"] == op.wrapper.as_uri()


def test_places_move_with_unsaved_lines(client: Client, op: Op) -> None:
    opened(client, op)
    client.change(op.ffi.as_uri(), {"range": span((0, 0), (0, 0)), "text": "\n\n"})
    client.diagnostics(op.ffi.as_uri(), 2)
    at = where(op.wrapper.read_text(), "rc = lib.cutile_scale_residual(")["start"]
    params = {"textDocument": {"uri": op.wrapper.as_uri()}, "position": position(at["line"], at["character"] + 10)}
    (place,) = client.request("textDocument/definition", params)
    row = where(op.ffi.read_text(), "fn cutile_scale_residual")["start"]["line"]
    assert place["range"]["start"]["line"] == row + 2


def test_each_service_can_be_switched_off(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start(options={"settings": {"hover": False, "navigation": False, "inlayHints": False, "codeLens": False}})
    opened(client, op)
    uri = {"textDocument": {"uri": op.ffi.as_uri()}}
    assert client.request("textDocument/codeLens", uri) is None
    assert client.request("textDocument/inlayHint", {**uri, "range": span((0, 0), (200, 0))}) is None
    for what in ("hover", "definition"):
        assert client.request(f"textDocument/{what}", {**uri, "position": position(16, 30)}) is None


@pytest.fixture
def gemm(tmp_path: Path) -> Path:
    """The folder of the wrappers of a project whose configs stand in a module of their own."""
    shutil.copytree(ROOT / "examples" / "clean" / "tilegym", tmp_path / "project")
    return tmp_path / "project" / "src" / "tilegym" / "ops" / "cutile_rs"


def test_a_module_that_is_read_for_its_values_leads_on(launch: Start, gemm: Path) -> None:
    client = launch(gemm.parents[3])
    client.start()
    configs = gemm / "_gemm_configs.py"
    for path in (gemm / "gemm.py", configs):
        client.diagnostics(client.open(path), 1)
    given = {("_gemm_configs.py", text) for text in ("BM=256", "BM=128")}
    assert ask(client, "definition", gemm / "gemm.py", "        int(cfg.BM)", 15) == given
    everywhere = given | {("_gemm_configs.py", "BM"), ("gemm.py", "bm"), ("gemm.py", "cfg.BM"), ("ffi.rs", "bm")}
    for part, inside in (("BM=256, BN=256, BK=64, NUM_CTAS=2", 0), ("BM=256, BN=256, BK=64, NUM_CTAS=2", 3), ("    BM: int", 4)):
        assert ask(client, "references", configs, part, inside) == everywhere
        assert ask(client, "definition", configs, part, inside) == given
    assert ask(client, "definition", configs, "    GROUP_M: int = 8", 20) == {("_gemm_configs.py", "GROUP_M: int = 8")}


def test_a_declaration_in_another_module_leads_to_the_export(client: Client, op: Op) -> None:
    text = op.wrapper.read_text()
    start = text.index('_FFI_CDEF = """')
    end = text.index('"""', start + 20) + 3
    declaration = op.folder / "_declaration.py"
    declaration.write_text(text[start:end] + "\n")
    (op.folder / "__init__.py").write_text("")
    op.wrapper.write_text(text[:start] + "from ._declaration import _FFI_CDEF" + text[end:])
    opened(client, op)
    client.diagnostics(client.open(declaration), 1)
    assert ask(client, "definition", declaration, "float alpha", 8) == {("ffi.rs", "alpha")}
    assert ("wrapper.py", "float(alpha)") in ask(client, "references", declaration, "float alpha", 8)


def test_related_documents_of_a_module_that_is_read_for_its_values(launch: Start, gemm: Path) -> None:
    client = launch(gemm.parents[3])
    client.start(PULL)
    for path in (gemm / "gemm.py", gemm / "_gemm_configs.py"):
        report = client.request("textDocument/diagnostic", {"textDocument": {"uri": client.open(path)}})
    related = report["relatedDocuments"]
    assert {(gemm / "gemm.py").as_uri(), (gemm / "gemm_kernel" / "ffi.rs").as_uri()} <= set(related)


def test_a_place_is_listed_once(client: Client, op: Op) -> None:
    opened(client, op)
    found = ask(client, "references", op.ffi, "    block: ", 5)
    assert ("ffi.rs", "block") in found and ("ffi.rs", "block: i32") not in found
    passed = ask(client, "references", op.wrapper, "        float(alpha),", 9)
    assert ("ffi.rs", "alpha") in passed and ("ffi.rs", "alpha: f32") not in passed


def test_references_are_those_of_all_wrappers_wherever_they_are_asked(client: Client, op: Op) -> None:
    other = op.folder / "other.py"
    other.write_text(op.wrapper.read_text().replace('@register_impl("scale_residual"', '@register_impl("scale_other"'))
    opened(client, op)
    client.diagnostics(client.open(other), 1)
    found = ask(client, "references", op.ffi, "fn cutile_scale_residual", 5)
    assert {("wrapper.py", "cutile_scale_residual"), ("other.py", "cutile_scale_residual")} <= found
    for path in (op.wrapper, other):
        assert ask(client, "references", path, "rc = lib.cutile_scale_residual(", 10) == found
        assert {name for name, _ in ask(client, "references", path, "        float(alpha),", 9)} >= {"wrapper.py", "other.py"}
