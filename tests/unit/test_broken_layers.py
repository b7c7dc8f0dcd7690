"""A layer that does not parse is reported, and the others are still read."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.config import Settings
from cutile_lint.engine.api import check_paths
from cutile_lint.engine.cases import load_base
from cutile_lint.sources import Workspace
from cutile_lint.unit import load

_SWAPPED = (
    "            let b_t = unsafe { borrow_tensor::<$E>(b_d) };\n",
    "            let (s, t) = (&b_d.shape, &b_d.strides);\n"
    "            let b_t = core::mem::ManuallyDrop::new(unsafe {\n"
    "                Tensor::<$E>::from_raw_parts(b_d.ptr, 0, 0, vec![s[0] as i32, s[2] as i32, s[1] as i32],"
    " vec![t[0] as i32, t[2] as i32, t[1] as i32])\n"
    "            });\n",
)
_ALWAYS_PERMUTED = (
    "let right: Partition<E, { [1, BK, BN] }> = b.partition(const_shape![1, BK, BN]);",
    "let right: Partition<E, { [1, BK, BN] }> = b.partition_permuted(const_shape![1, BK, BN], const_array![0, 2, 1]);",
)


@pytest.fixture
def write(tmp_path: Path):
    def write(base: str, **edits: list[tuple[str, str]]) -> Path:
        for name, text in load_base(base).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            for old, new in edits.get(path.stem, []):
                assert old in text
                text = text.replace(old, new)
            path.write_bytes(text.encode())
        return tmp_path

    return write


def codes(root: Path, *selected: str) -> list[tuple[str, str]]:
    report = check_paths([root], Settings(select=selected))
    assert not report.errors
    return [(finding.code, finding.path.name) for finding in report.findings]


def test_a_broken_wrapper_is_reported_and_the_rust_side_still_checked(write) -> None:
    root = write("batched", batched=[("_KERNEL = ", "_KERNEL = = ")], ffi=[_SWAPPED], kernel=[_ALWAYS_PERMUTED])
    assert codes(root, "CTL900", "CTL401") == [("CTL900", "batched.py"), ("CTL401", "ffi.rs")]


def test_a_broken_export_is_reported_and_the_wrapper_still_read(write) -> None:
    root = write(
        "row_scale",
        ffi=[("use core::ffi::c_void;\n", "use core::ffi::c_void;\nconst LIMIT: i32 = = 5;\n")],
        row_scale=[("torch.empty_like(x)", "torch.zeros_like(x)")],
    )
    assert ("CTL900", "ffi.rs") in codes(root, "CTL900")
    (unit,) = load(Workspace(), sorted(root.rglob("*.py")), Settings())
    works = [(work.kind, work.name) for run in unit.runs for work in run.tensors.works(timed=True)]
    assert ("fill", "torch.zeros_like") in works


def test_an_export_that_cannot_be_read_at_all_leaves_the_wrapper_alone(write) -> None:
    root = write("row_scale", row_scale=[("torch.empty_like(x)", "torch.zeros_like(x)")])
    (root / "row_scale_kernel" / "ffi.rs").write_bytes(b'pub extern "C" fn cutile_row_scale( {{{ (((\n')
    found = codes(root, "CTL900", "CTL902")
    assert ("CTL900", "ffi.rs") in found
    assert not [code for code, _ in found if code == "CTL902"]
    (unit,) = load(Workspace(), sorted(root.rglob("*.py")), Settings())
    assert [work.name for run in unit.runs for work in run.tensors.works(timed=True) if work.kind == "fill"] == [
        "torch.zeros_like"
    ]


def test_a_wrapper_nested_too_deep_is_said_once(write) -> None:
    root = write("row_scale", row_scale=[("_KERNEL = ", "_DEEP = " + "-" * 210 + "1" + "\n_KERNEL = ")])
    assert codes(root, "CTL900", "CTL903") == [("CTL903", "row_scale.py")]


def test_a_file_that_is_not_utf8_is_said_once(write) -> None:
    root = write("row_scale")
    wrapper = root / "row_scale.py"
    wrapper.write_bytes(wrapper.read_bytes().replace(b"# ", b"# \xff ") + b"# \xff\n")
    assert [found for found in codes(root, "CTL900", "CTL903") if found[0] == "CTL903"] == [("CTL903", "row_scale.py")]
