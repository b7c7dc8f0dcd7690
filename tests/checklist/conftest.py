"""A tree in which everything that an item may want is there, and the command as a user runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CRATE = "src/tilegym/ops/cutile_rs/cutile_kernels"


@dataclass
class Done:
    status: int
    out: str
    err: str

    def items(self, op: str = "") -> dict[str, dict[str, Any]]:
        """The items of one op's JSON report by their keys."""
        found = json.loads(self.out)["ops"]
        (chosen,) = [one for one in found if one["op"] == op] if op else found
        return {item["item"]: item for item in chosen["items"]}


@pytest.fixture(scope="session")
def command() -> Callable[..., Done]:
    def run(*arguments: str, columns: int = 80, cwd: Path = ROOT) -> Done:
        environment = {**os.environ, "COLUMNS": str(columns), "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        for name in ("NO_COLOR", "FORCE_COLOR", "CARGO_TARGET_DIR"):
            environment.pop(name, None)
        done = subprocess.run(
            [sys.executable, "-m", "cutile_lint.cli.main", "checklist", *arguments],
            cwd=cwd,
            env=environment,
            capture_output=True,
            encoding="utf-8",
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


def build_library(path: Path, *symbols: str) -> None:
    """A real shared library with the symbols, by the C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.fail("a C compiler is missing: `apt-get install gcc`")
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.with_suffix(".c")
    source.write_text("".join(f"int {symbol}(void) {{ return 0; }}\n" for symbol in symbols) + "extern int other(void);\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(path), str(source)], check=True)


def complete(root: Path) -> Path:
    """A copy of the clean tree in ``root`` whose op ``batched_product`` has all that the pipeline leaves behind."""
    tree = root / "tilegym"
    shutil.copytree(ROOT / "examples/clean/tilegym", tree)
    op = tree / "kernel_out/batched_product"
    (op / "generated").mkdir()
    # what the ported kernel compiles to: the reference's operations, and the port's own three sizes as parameters
    sizes = "".join(f", %size{at}: tile<i32>" for at in range(3))
    for variant in ("direct", "persistent"):
        text = (op / f"reference/reference_{variant}.mlir").read_text()
        (op / f"generated/generated_{variant}.mlir").write_text(
            text.replace(") optimization_hints", f"{sizes}) optimization_hints", 1)
        )
    (op / "batched_product_pipeline.rs").write_text("// compiles the kernel and writes its IR\n")
    reports = op / "reports"
    reports.mkdir()
    (reports / "correctness.md").write_text("VERDICT: ALL_PASS\n\n24 passed\n")
    (reports / "performance.md").write_text("# VERDICT: DONE\n\ngeomean 1.01\n")
    (reports / "perf_profile.md").write_text("top kernels\n\n| `persistent_batched_product` | 98 % |\n")
    (reports / "build_log.md").write_text("cargo build --release: ok\n")
    (reports / "agent_b.md").write_text("VERDICT: COMPILED\n")
    build_library(tree / CRATE / "target/release/libcutile_kernels.so", "cutile_batched_product", "cutile_gemm")
    return tree


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return complete(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def rebuild() -> Callable[..., None]:
    return build_library


@pytest.fixture
def changeable(tmp_path: Path) -> Path:
    return complete(tmp_path)
