"""``cutile-lint checklist`` as a user runs it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

CRATE = "src/tilegym/ops/cutile_rs/cutile_kernels"
OP = "kernel_out/batched_product"


# ── the examples ───────────────────────────────────────────────────────────


def test_a_clean_op(command: Callable) -> None:
    done = command("gemm", "examples/clean", columns=100)
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "gemm  examples/clean/tilegym/src/tilegym/ops/cutile_rs/gemm.py"
    assert "FAIL" not in done.out
    at = lines.index("  ✓ CompileOptions parity, both directions: pass")
    assert lines[at + 1 : at + 3] == [
        "      `num_cta_in_cga`: 2, 4, 1; the reference: 2, 4, 1",
        "        examples/clean/tilegym/src/tilegym/ops/cutile_rs/gemm.py:156",
    ]
    at = lines.index("  ✓ persistent TMA latency is None, or the reference's: pass")
    assert lines[at + 1] == "      `load_view_tko`: latency None"
    at = lines.index("  ✓ the cache key tells launches apart: pass")
    assert lines[at + 1].startswith("      key: `problem.m`, `problem.n`, `problem.k`, `problem.dtype`, `problem.device`,")
    assert "  ? cargo artifact exists and exports the symbol: unverified" in lines


def test_unverified_items_count_only_when_asked(command: Callable) -> None:
    assert command("gemm", "examples/clean").status == 0
    assert command("gemm", "examples/clean", "--require-verified").status == 1


@pytest.mark.parametrize(
    ("op", "failed"),
    [
        (
            "scale_residual",
            {"canary", "autograd", "double-transpose", "autotune-lambda", "compile-options", "option-guards", "launch-count"},
        ),
        (
            "gemm",
            {"canary", "autograd", "double-transpose", "autotune-lambda", "compile-options", "option-guards", "launch-count"},
        ),
        ("batched_product", {"canary", "autograd", "double-transpose", "autotune-lambda", "compile-options", "transpose-owner"}),
        ("fused_rms_norm", {"canary", "autograd", "autotune-lambda", "compile-options", "grid-apart"}),
        ("splitk_product", {"canary", "autograd", "double-transpose", "autotune-lambda", "compile-options"}),
    ],
)
def test_a_faulty_op(op: str, failed: set[str], command: Callable) -> None:
    done = command(op, "examples/faulty", "--output-format", "json")
    assert done.status == 1
    found = {key for key, item in done.items().items() if item["status"] == "fail"}
    assert failed <= found
    assert not found & {"cargo-artifact", "entry-pattern", "persistent-latency", "tma-state", "accumulator", "persistent-grid"}


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", ["clean", "faulty"])
def test_lines_fit(columns: int, name: str, command: Callable) -> None:
    out = command(f"examples/{name}", columns=columns).out
    assert [line for line in out.splitlines() if len(line) > columns] == []


def test_json(command: Callable) -> None:
    found = json.loads(command("gemm", "examples/faulty", "--output-format", "json").out)
    assert sorted(found) == ["ops", "version"] and found["version"] == 1
    (op,) = found["ops"]
    assert sorted(op) == ["counts", "items", "op", "wrapper"]
    assert sorted(op["counts"]) == ["fail", "not applicable", "pass", "unverified"]
    assert sum(op["counts"].values()) == len(op["items"])
    for item in op["items"]:
        assert sorted(item) == ["evidence", "item", "rules", "section", "status", "title"]
        assert item["evidence"], item["item"]
        for one in item["evidence"]:
            assert sorted(one) == ["code", "end_location", "filename", "kind", "location", "text"]
    options = next(item for item in op["items"] if item["item"] == "compile-options")
    lost = next(one for one in options["evidence"] if one["code"] == "CTL201")
    assert lost["location"]["row"] == 187 and lost["filename"].endswith(
        "/examples/faulty/tilegym/src/tilegym/ops/cutile_rs/gemm.py"
    )


def test_markdown(command: Callable) -> None:
    out = command("gemm", "examples/faulty", "--output-format", "markdown").out
    assert out.startswith("## Checklist of `gemm`\n\n`examples/faulty/tilegym/src/tilegym/ops/cutile_rs/gemm.py`: ")
    rows = [line for line in out.splitlines() if line.startswith("|")]
    assert all(row.replace("\\|", "").count("|") == 4 for row in rows)
    row = next(row for row in rows if row.startswith("| CompileOptions parity, both directions |"))
    assert "**fail**" in row and "CTL201: `NUM_CTAS` of the config is lost here" in row and "gemm.py:187`" in row


# ── what lies beside the source ────────────────────────────────────────────


def item(command: Callable, tree: Path, key: str) -> dict:
    return command("batched_product", str(tree), "--output-format", "json").items()[key]


def told(found: dict) -> str:
    return found["status"] + ": " + found["evidence"][0]["text"]


def test_a_library_without_the_symbol(changeable: Path, rebuild: Callable, command: Callable) -> None:
    rebuild(changeable / CRATE / "target/release/libcutile_kernels.so", "cutile_other")
    found = item(command, changeable, "cargo-artifact")
    assert told(found) == "fail: the library does not export `cutile_batched_product`"


def test_a_library_that_only_uses_the_symbol(changeable: Path, command: Callable) -> None:
    path = changeable / CRATE / "target/release/libcutile_kernels.so"
    path.unlink()
    source = path.with_suffix(".c")
    source.write_text("extern int cutile_batched_product(void);\nint own(void) { return cutile_batched_product(); }\n")
    import subprocess

    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(path), str(source)], check=True)
    assert item(command, changeable, "cargo-artifact")["status"] == "fail"


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF\x02\x01\x01" + b"\x00" * 40 + b"\xff" * 200, b"MZ not a library"])
def test_a_file_that_is_no_library(data: bytes, changeable: Path, command: Callable) -> None:
    (changeable / CRATE / "target/release/libcutile_kernels.so").write_bytes(data)
    found = item(command, changeable, "cargo-artifact")
    assert told(found).startswith("fail: `libcutile_kernels.so` cannot be read as an ELF library")


def test_a_library_older_than_its_sources(changeable: Path, command: Callable) -> None:
    os.utime(changeable / CRATE / "target/release/libcutile_kernels.so", (1, 1))
    found = item(command, changeable, "cargo-artifact")
    assert told(found).startswith("unverified: `libcutile_kernels.so` is older than ")


def test_ir_older_than_the_kernel(changeable: Path, command: Callable) -> None:
    for path in (changeable / OP / "generated").iterdir():
        os.utime(path, (1, 1))
    assert told(item(command, changeable, "pipeline")).startswith("unverified: `generated_")


def test_ir_of_another_kernel(changeable: Path, command: Callable) -> None:
    (changeable / OP / "generated/generated_direct.mlir").unlink()
    found = item(command, changeable, "pipeline")
    assert found["status"] != "pass"
    assert any("`direct_batched_product`" in one["text"] for one in found["evidence"])


@pytest.mark.parametrize(
    ("name", "line", "key", "status"),
    [
        ("correctness.md", "VERDICT: FAIL", "tests", "fail"),
        ("correctness.md", "all good", "tests", "unverified"),
        ("performance.md", "VERDICT: INVESTIGATE", "perf-result", "unverified"),
        ("performance.md", "VERDICT: INVESTIGATE", "investigation", "unverified"),
        ("performance.md", "VERDICT: BLOCKED", "perf-result", "fail"),
        ("perf_investigation_1.md", "launches are 1:1", "investigation", "pass"),
        ("build_log.md", "", "build-log", "unverified"),
        ("perf_profile.md", "some_other_kernel", "profile", "unverified"),
    ],
)
def test_the_first_line_of_a_report(name: str, line: str, key: str, status: str, changeable: Path, command: Callable) -> None:
    (changeable / OP / "reports" / name).write_text(f"\n{line}\n")
    assert item(command, changeable, key)["status"] == status


# ── no false pass ──────────────────────────────────────────────────────────


def test_a_wrapper_that_cannot_be_followed_passes_nothing(changeable: Path, command: Callable) -> None:
    wrapper = changeable / "src/tilegym/ops/cutile_rs/batched_product.py"
    text = wrapper.read_text(encoding="utf-8")
    wrapper.write_text(text.replace("def batched_product(", "def batched_product(:"), encoding="utf-8")
    done = command(str(wrapper), "--output-format", "json")
    for key in ("canary", "autograd", "autotune-lambda", "launch-count", "autotune-key", "double-transpose", "compile-options"):
        assert done.items()[key]["status"] == "unverified", key


def test_a_kernel_with_a_syntax_error_passes_nothing(changeable: Path, command: Callable) -> None:
    kernel = changeable / OP / "kernel.rs"
    text = kernel.read_text(encoding="utf-8")
    assert "load_view_tko(" in text
    kernel.write_text(text.replace("load_view_tko(", "load_view_tko((", 1), encoding="utf-8")
    items = command("batched_product", str(changeable), "--output-format", "json").items()
    for key in ("entry-pattern", "persistent-latency", "double-transpose"):
        assert items[key]["status"] in ("unverified", "fail"), key


def test_a_suppressed_finding_is_not_a_pass(changeable: Path, command: Callable) -> None:
    wrapper = changeable / "src/tilegym/ops/cutile_rs/batched_product.py"
    text = wrapper.read_text(encoding="utf-8")
    before, made, after = text.rpartition("torch.empty((q, m, n), device=a.device, dtype=a.dtype)")
    filled = made.replace("empty", "zeros") + "  # cutile-lint: ignore[CTL101] wanted"
    wrapper.write_text(before + filled + after, encoding="utf-8")
    found = item(command, changeable, "autotune-lambda")
    assert found["status"] == "unverified"
    assert any(one["code"] == "CTL101" and one["text"].startswith("suppressed: ") for one in found["evidence"])


def test_output_file(tmp_path: Path, command: Callable) -> None:
    target = tmp_path / "list.md"
    done = command("gemm", "examples/clean", "--output-format", "markdown", "--output-file", str(target))
    assert (done.status, done.out) == (0, "")
    assert target.read_text(encoding="utf-8").startswith("## Checklist of `gemm`")
