"""Small wrappers, run as the linter runs them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from cutile_lint.config.settings import Settings
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit import load
from cutile_lint.unit.machine.values import Known, Value, alternatives
from cutile_lint.unit.runs import Run

PRELUDE = """\
import torch
from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.autotuner import autotune_launch
from tilegym.backend.cutile_rs.utils import bind_kernel_function_cffi, check_rc, make_tensor_desc


def _launch(out, x, block, occupancy=-1):
    ffi, lib = bind_kernel_function_cffi("op", "")
    check_rc(lib.cutile_op(make_tensor_desc(ffi, out), make_tensor_desc(ffi, x), block, occupancy), "cutile_op")
    return out


"""


def write(root: Path, text: str, **siblings: str) -> list[Path]:
    """A package with the wrapper ``op.py`` (prelude in front) and sibling modules."""
    root.mkdir(exist_ok=True)
    (root / "__init__.py").write_text("")
    paths = []
    for name, content in siblings.items():
        (root / f"{name}.py").write_text(textwrap.dedent(content))
    (root / "op.py").write_text(PRELUDE + textwrap.dedent(text))
    paths.append(root / "op.py")
    return paths


def run(root: Path, text: str, **siblings: str) -> Run:
    """The run of the only op in the wrapper."""
    [unit] = load(Workspace(), write(root / "ops", text, **siblings), Settings())
    [found] = unit.runs
    return found


def timed(found: Run, *kinds: str) -> list[str]:
    """Device work of the timed region as "kind text", in order, each place once; without allocations and views unless asked for."""
    kinds = kinds or ("fill", "copy", "compute", "sync")
    texts = [f"{work.kind} {work.event.place.text}" for work in found.tensors.works(timed=True) if work.kind in kinds]
    return list(dict.fromkeys(texts))


def constants(value: Value) -> set[object]:
    """The constants that a value may be; ``...`` stands for what is no constant."""
    return {one.value if isinstance(one, Known) else ... for _, one in alternatives(value)}
