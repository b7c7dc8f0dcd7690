"""``cutile-lint flow`` as a user runs it on the examples."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest


def test_a_slot_in_a_table(command: Callable) -> None:
    done = command("flow", "gemm", "examples/clean", columns=100)
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "gemm  examples/clean/tilegym/src/tilegym/ops/cutile_rs/gemm.py"
    assert lines[1] == "reference: ops/cutile/gemm.py"
    assert "  1  persistent_gemm_kernel  ffi.rs:59  if persistent != 0" in lines
    assert "  2  direct_gemm_kernel  ffi.rs:66  if persistent == 0" in lines
    at = next(at for at, line in enumerate(lines) if line.startswith("10  "))
    assert lines[at].split() == [
        "10",
        "compile_option(cfg…CTAS)",
        ":156",
        "num_cta_in_cga",
        "num_cta_in_cga",
        "1",
        ".num_cta_in_cga",
    ]
    assert lines[at + 1].split() == ["cfg.NUM_CTAS:", "2,", "4,", "1", "int32_t", "i32", "2", ".num_cta_in_cga"]
    assert "✗" not in done.out


def test_the_hops_of_an_option(command: Callable) -> None:
    out = command("flow", "gemm", "examples/clean", columns=100).out
    way = out[out.index("num_cta_in_cga: arrives; configs: 2, 4, 1") :].split("occupancy: arrives")[0]
    places = re.findall(r"(\S+):(\d+) +(.*)", way)
    assert [(file, text) for file, _, text in places] == [
        ("_gemm_configs.py", "`NUM_CTAS` of a config (6 places)"),
        ("_host.py", "written here"),
        ("_host.py", "bound to `AUTO_COMPILE_OPTION`"),
        ("gemm.py", "read `NUM_CTAS`"),
        ("gemm.py", "the call passes it as argument 11 of `cutile_gemm`"),
        ("gemm.py", "declared to cffi as `num_cta_in_cga`"),
        ("ffi.rs", "parameter `num_cta_in_cga` of the export"),
        ("ffi.rs", "handed on as `num_cta_in_cga`"),
        ("ffi_util.rs", "applied by the setter `num_cta_in_cga`"),
    ]


@pytest.mark.parametrize(
    ("op", "option", "status", "hop"),
    [
        ("gemm", "num_cta_in_cga", "lost", "✗ gemm.py:187"),
        ("gemm", "occupancy", "lost", "✗ ffi.rs:66"),
        ("batched_product", "num_cta_in_cga", "crossed", "✗ batched_product.py:76"),
        ("batched_product", "occupancy", "crossed", "✗ batched_product.py:76"),
        ("splitk_product", "num_cta_in_cga", "lost", "✗ splitk_export.rs"),
        ("splitk_product", "occupancy", "lost", "✗ splitk_product.py"),
        ("fused_rms_norm", "occupancy", "lost", "✗ ffi.rs"),
    ],
)
def test_lost_and_crossed_values(op: str, option: str, status: str, hop: str, command: Callable) -> None:
    out = command("flow", op, "examples/faulty", columns=100).out
    way = re.search(rf"^{option}: {status}.*?(?=^\w|\Z)", out, re.M | re.S)
    assert way is not None
    assert f"  {hop}" in way.group(0)


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", ["clean", "faulty"])
def test_lines_fit(columns: int, name: str, command: Callable) -> None:
    done = command("flow", f"examples/{name}", columns=columns)
    assert done.status == 0
    assert [line for line in done.out.splitlines() if len(line) > columns] == []


def test_json(command: Callable) -> None:
    done = command("flow", "batched_product", "examples/faulty", "--output-format", "json")
    found = json.loads(done.out)
    assert found["version"] == 1
    (op,) = found["ops"]
    assert sorted(op) == ["exports", "gaps", "op", "reference", "wrapper"]
    assert op["op"] == "batched_product" and op["gaps"] == []
    (export,) = op["exports"]
    assert sorted(export) == ["gaps", "options", "place", "slots", "symbol", "variants"]
    assert [one["entry"] for one in export["variants"]] == ["direct_batched_product", "persistent_batched_product"]
    slot = export["slots"][10]
    assert sorted(slot) == ["becomes", "cdef", "index", "marks", "option", "python", "rust"]
    assert slot["rust"]["name"] == slot["cdef"]["name"] == slot["option"] == "num_cta_in_cga"
    assert slot["python"][0]["expression"] == "compile_option(cfg.OCCUPANCY)"
    assert sorted(slot["python"][0]) == ["expression", "kind", "place", "timed", "value"]
    place = slot["python"][0]["place"]
    assert Path(place["filename"]).is_absolute() and place["location"]["row"] == 76
    assert {mark["code"]: mark["kind"] for mark in slot["marks"]} == {"CTL204": "wrong", "CTL209": "crossed"}
    assert slot["becomes"] == [
        [{"role": "option", "text": ".num_cta_in_cga", "place": slot["becomes"][at][0]["place"]}] for at in (0, 1)
    ]
    way = export["options"][0]
    assert sorted(way) == ["configs", "hops", "misses", "note", "option", "reaches", "slot", "status", "timed"]
    assert way["status"] == "crossed" and way["misses"] == []


def test_markdown(command: Callable) -> None:
    out = command("flow", "gemm", "examples/clean", "--output-format", "markdown").out
    rows = [line for line in out.splitlines() if line.startswith("|")]
    assert rows[0] == "| # | Python | cdef | Rust | becomes in 1 | becomes in 2 |  |"
    assert len({row.replace("\\|", "").count("|") for row in rows}) == 1
    assert "| `int32_t num_cta_in_cga` | `num_cta_in_cga: i32` | `.num_cta_in_cga` | `.num_cta_in_cga` |  |" in out


def test_an_op_by_path_and_by_name(command: Callable) -> None:
    by_path = command("flow", "examples/clean/skill/scale_residual/ffi.rs").out
    by_name = command("flow", "scale_residual", "examples/clean").out
    assert by_path == by_name and by_path.startswith("scale_residual  ")


def test_mistakes(command: Callable, tmp_path: Path) -> None:
    unknown = command("flow", "gem", "examples/clean")
    assert unknown.status == 2
    assert unknown.err == "cutile-lint: error: no op is named `gem`; did you mean `gemm`?\n"
    missing = command("flow", "nowhere/x.py")
    assert (missing.status, missing.err) == (2, "cutile-lint: error: nowhere/x.py: no such file or directory\n")
    empty = command("flow", str(tmp_path))
    assert empty.status == 2 and "no op was found" in empty.err


def test_a_rust_side_without_a_wrapper(command: Callable, tmp_path: Path) -> None:
    import shutil

    root = Path(__file__).parents[2]
    folder = tmp_path / "alone"
    folder.mkdir()
    for name in ("ffi.rs", "kernel.rs"):
        shutil.copy(root / "examples/clean/skill/scale_residual" / name, folder)
    done = command("flow", str(folder))
    assert done.status == 0
    assert "not followed: no wrapper launches it" in done.out
    assert "5   –" in done.out
