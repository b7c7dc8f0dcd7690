from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from client import Client, position, span, where
from conftest import FAULTY, ROOT, Op, Start
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


ARGUMENTS = (
    "out_desc, x_desc, residual_desc, float(alpha), int(block), _AUTO_COMPILE_OPTION, _AUTO_COMPILE_OPTION, "
    "int(device_id), int(raw_stream)"
)
SLOTS = ["out", "x", "residual", "alpha", "block", "num_cta_in_cga", "occupancy", "device_id", "raw_stream"]
HELPER = "def _call(fn, *args):\n    return fn(*args)\n"
OUTER = HELPER + "\n\ndef _outer(given, *rest):\n    return _call(given, *rest)\n"
NAMED = "def _call(fn, a, b, c, d, e, f, g, device, stream):\n    return fn(a, b, c, d, e, f, g, device, stream)\n"
BY_NAME = "def _call(lib, name, *args):\n    fn = getattr(lib, name)\n    return fn(*args)\n"
CHECKED = "def _checked(fn):\n    def inner(*args):\n        return fn(*args)\n\n    return inner\n"


def called_as(client: Client, op: Op, call: str, helper: str = "") -> None:
    """Write the call of the export in another way, with a helper before its function."""
    text = (FAULTY / "scale_residual" / "wrapper.py").read_text()
    start, end = text.index("    rc = lib."), text.index("    check_rc(")
    text = (text[:start] + f"    {call}\n" + text[end:]).replace(
        "def _launch(", f"{helper}\n\ndef _launch(" if helper else "def _launch("
    )
    op.wrapper.write_text(text)
    version = client.change(op.wrapper.as_uri(), {"text": text})
    client.diagnostics(op.wrapper.as_uri(), version)


def hints(client: Client, op: Op) -> list[tuple[str, str]]:
    """(slot, beginning of the argument) of the hints in the wrapper."""
    params = {"textDocument": {"uri": op.wrapper.as_uri()}, "range": span((0, 0), (200, 0))}
    lines = op.wrapper.read_text().split("\n")
    found = []
    for hint in client.request("textDocument/inlayHint", params):
        at = hint["position"]
        found.append((hint["label"].rstrip(":"), re.match(r"\*?[\w.]*", lines[at["line"]][at["character"] :])[0]))
    return found


GIVEN = [(slot, argument.strip().partition("(")[0]) for slot, argument in zip(SLOTS, ARGUMENTS.split(", "), strict=True)]


def test_a_symbol_that_is_called_under_another_name(client: Client, op: Op) -> None:
    opened(client, op)
    symbol = "lib.cutile_scale_residual"
    for call, asked, called in (
        (f"fn = {symbol}\n    rc = fn({ARGUMENTS})", symbol, "fn"),
        (f"fn = getattr(lib, _FFI_NAME)\n    rc = fn({ARGUMENTS})", "lib, _FFI_NAME", "fn"),
        (f"rc = getattr(lib, _FFI_NAME)({ARGUMENTS})", "lib, _FFI_NAME", "_FFI_NAME"),
        (f"fn = functools.partial({symbol}, out_desc)\n    rc = fn({ARGUMENTS[10:]})", symbol, "fn"),
    ):
        called_as(client, op, call, "import functools\n")
        assert ask(client, "definition", op.wrapper, asked, 6) == {("ffi.rs", "cutile_scale_residual")}, call
        found = {text for name, text in ask(client, "references", op.wrapper, asked, 6) if name == "wrapper.py"}
        assert found == {"cutile_scale_residual", asked[4:].lstrip(), called}, call  # the first is the declaration
        assert hints(client, op) == GIVEN, call


def test_a_call_through_a_helper(client: Client, op: Op) -> None:
    opened(client, op)
    for call, helper in (
        (f"rc = _call(lib.cutile_scale_residual, {ARGUMENTS})", HELPER),
        (f"fn = lib.cutile_scale_residual\n    rc = _call(fn, {ARGUMENTS})", HELPER),
        (f"rc = _outer(lib.cutile_scale_residual, {ARGUMENTS})", OUTER),
        (f"rc = _call(lib.cutile_scale_residual, {ARGUMENTS})", NAMED),
        (f'rc = _call(lib, "cutile_scale_residual", {ARGUMENTS})', BY_NAME),
        (f"rc = _checked(lib.cutile_scale_residual)({ARGUMENTS})", CHECKED),
    ):
        called_as(client, op, call, helper)
        assert hints(client, op) == GIVEN, call
        assert ask(client, "definition", op.wrapper, "float(alpha), int", 1) == {("ffi.rs", "alpha")}, call
        assert ask(client, "definition", op.ffi, "    alpha: ", 5) == {("wrapper.py", "float(alpha)")}, call
        (lens,) = client.request("textDocument/codeLens", {"textDocument": {"uri": op.ffi.as_uri()}})
        text = op.wrapper.read_text()
        row = text[: text.index("    rc = ")].count("\n") + 1
        assert lens["command"]["title"].startswith(f"called from wrapper.py:{row} "), call


def test_arguments_that_do_not_fit_leave_those_that_are_clear(client: Client, op: Op) -> None:
    opened(client, op)
    for arguments, clear in (
        (ARGUMENTS.rpartition(", ")[0], 8),
        (ARGUMENTS.replace("int(raw_stream)", "raw_stream=int(raw_stream)"), 8),
        (f"{ARGUMENTS}, 3", 9),
        ("out_desc, x_desc, *some(), 3", 2),
    ):
        called_as(client, op, f"rc = lib.cutile_scale_residual({arguments})")
        assert hints(client, op) == GIVEN[:clear], arguments
        assert ask(client, "definition", op.wrapper, "(out_desc, x_desc", 12) == {("ffi.rs", "x")}, arguments
        assert ask(client, "definition", op.ffi, "    x: ", 4) == {("wrapper.py", "x_desc")}, arguments
        if "raw_stream=" in arguments:
            assert ask(client, "definition", op.wrapper, "=int(raw_stream)", 2) == {("ffi.rs", "raw_stream")}


def lenses(client: Client, path: Path) -> list[str]:
    found = client.request("textDocument/codeLens", {"textDocument": {"uri": path.as_uri()}})
    return [lens["command"]["title"] for lens in found]


def test_an_export_that_nobody_calls_beside_one_that_is_called(client: Client, op: Op) -> None:
    text = op.ffi.read_text()
    more = text[text.index("#[unsafe(no_mangle)]") :].replace("cutile_scale_residual", "cutile_scale_other")
    op.ffi.write_text(f"{text}\n{more}")
    opened(client, op)
    called = "called from wrapper.py:50 · 1 variant · num_cta_in_cga not applied"
    assert lenses(client, op.ffi) == [called, "called from nowhere"]
    for what in ("definition", "references"):
        assert ask(client, what, op.ffi, "fn cutile_scale_other", 5) == {("ffi.rs", "cutile_scale_other")}


def test_what_an_export_does_is_told_whichever_op_is_looked_at_first(client: Client, op: Op) -> None:
    text = op.ffi.read_text()
    more = text[text.index("#[unsafe(no_mangle)]") :].replace("cutile_scale_residual", "cutile_scale_other")
    op.ffi.write_text(f"{text}\n{more}")
    other = op.folder / "a_wrapper.py"  # knows both symbols, and calls the other one
    again = op.wrapper.read_text().replace("cutile_scale_residual", "cutile_scale_other").replace('l("scale_r', 'l("scale_o')
    other.write_text(f"{again}\n_REPLACES = 'cutile_scale_residual'\n")
    opened(client, op)
    client.diagnostics(client.open(other), 1)
    facts = "1 variant · num_cta_in_cga not applied"
    assert lenses(client, op.ffi) == [f"called from wrapper.py:50 · {facts}", f"called from a_wrapper.py:50 · {facts}"]
