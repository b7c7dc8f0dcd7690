"""``Cargo.toml`` and the version table."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.frontends.manifest import Manifest, Requirement, read_manifest, target_version
from cutile_lint.frontends.versions import (
    MEMORY_OPS,
    OLDEST,
    V0_2_0,
    V0_3_0,
    V0_3_1,
    Version,
    accepts_bare_entry,
    borrowing_functions,
    compile_options,
    entry_keys,
    latency_position,
    shape_macro,
    supports,
    tma_position,
)
from cutile_lint.sources import Source


def read(content: str | bytes) -> Manifest:
    return read_manifest(Source(Path("/crate/Cargo.toml"), content.encode() if isinstance(content, str) else content))


CRATE = """\
# größe
[package]
name = "op-kernels" # the crate
edition = "2021"

[lib]
name = "op_kernels"
crate-type = ["cdylib", "rlib"]
path = "src/lib.rs"

[profile.release]
panic = "abort"

[dependencies]
cutile = "=0.2.0"
renamed = { package = "cutile-ir", version = "^0.3", features = [
  "a", # }
  "b" ] }
dotted.version = "0.2"

[dependencies.local]
path = "../local"

[target.'cfg(unix)'.dependencies]
libc = "0.2"
"""


def test_a_crate() -> None:
    found = read(CRATE)
    assert found.faults == []
    assert found.library == "op_kernels" and found.is_cdylib and found.panics_abort() and not found.panics_abort("dev")
    assert found.edition is not None and (found.edition.value, found.edition.place.text) == ("2021", '"2021"')
    assert found.edition.key.start == (4, 1)
    assert found.lib_path is not None and found.lib_path.value == "src/lib.rs"
    assert found.panic["release"].place.start == (12, 9)


def test_dependencies_and_their_places() -> None:
    found = read(CRATE)
    cutile = found.dependency("cutile")
    assert cutile is not None and cutile.is_exact and cutile.key.text == "cutile" and cutile.place.text == '"=0.2.0"'
    renamed = found.dependency("cutile-ir")
    assert renamed is not None and renamed.name == "renamed" and renamed.features == ("a", "b") and not renamed.is_exact
    assert renamed.version is not None and renamed.version.place.text == '"^0.3"'
    dotted, local, libc = (found.dependency(name) for name in ("dotted", "local", "libc"))
    assert dotted is not None and dotted.version is not None and dotted.version.place.text == '"0.2"'
    assert local is not None and local.path is not None and local.path.value == "../local" and local.version is None
    assert libc is not None


@pytest.mark.parametrize(
    ("dependency", "version", "known", "exact"),
    [
        ('cutile = "=0.2.0"', "0.2.0", True, True),
        ('cutile = "0.3"', "0.3.0", True, False),
        ('cutile = "^0.3.1"', "0.3.1", True, False),
        ('cutile = { version = "=0.3.1", features = [] }', "0.3.1", True, True),
        ('ct = { package = "cutile", version = "~0.3.1" }', "0.3.1", True, False),
        ('cutile = { git = "https://example.com/c", tag = "v0.3.0" }', "0.3.0", True, True),
        ('cutile = { git = "https://example.com/c", branch = "main" }', "0.2.0", False, False),
        ('cutile = { path = "../cutile" }', "0.2.0", False, False),
        ('cutile = "*"', "0.2.0", False, False),
        ('cutile-ir = "=0.3.1"', "0.2.0", False, False),
        ("cutile = 3", "0.2.0", False, False),
    ],
)
def test_target_version(dependency: str, version: str, known: bool, exact: bool) -> None:
    found = target_version(read(f"[dependencies]\n{dependency}\n"))
    assert (str(found.version), found.is_known, found.is_exact) == (version, known, exact)


def test_target_version_from_the_workspace() -> None:
    crate = read("[dependencies]\ncutile.workspace = true\n")
    root = read('[workspace]\nmembers = ["a"]\n[workspace.dependencies]\ncutile = { version = "0.3.1" }\n')
    assert crate.dependencies[0].is_inherited and root.is_workspace and root.members == ("a",)
    found = target_version(crate, root)
    assert (str(found.version), found.is_known) == ("0.3.1", True)
    assert found.place is not None and found.place.text == '"0.3.1"'
    assert not target_version(crate).is_known
    assert target_version(None).version == OLDEST


@pytest.mark.parametrize(
    ("text", "allowed", "refused"),
    [
        ("=0.2.0", ["0.2.0"], ["0.2.1", "0.3.0"]),
        ("0.2", ["0.2.0", "0.2.9"], ["0.3.0", "0.1.9"]),
        ("^0.3.1", ["0.3.1", "0.3.2"], ["0.3.0", "0.4.0"]),
        ("~0.2.1", ["0.2.1", "0.2.5"], ["0.2.0", "0.3.0"]),
        (">=0.2, <0.4", ["0.2.0", "0.3.1"], ["0.4.0"]),
        ("0.2.*", ["0.2.5"], ["0.3.0"]),
        ("0.0.3", ["0.0.3"], ["0.0.4"]),
        ("1", ["1.9.0"], ["2.0.0"]),
        ("*", ["0.0.1", "9.0.0"], []),
    ],
)
def test_requirements(text: str, allowed: list[str], refused: list[str]) -> None:
    requirement = Requirement.parse(text)
    for version in (*allowed, *refused):
        parsed = Version.parse(version)
        assert parsed is not None and requirement.allows(parsed) == (version in allowed)


@pytest.mark.parametrize(
    ("broken", "place"),
    [
        ("[package\nname = 1", (1, 9)),
        ("a = ", (1, 5)),
        ('x = "é" y\n', (1, 9)),
        ("a = 1\r\na = 2\r\n", (2, 6)),
        ("a = " + "[" * 5000, (1, 1)),
    ],
)
def test_malformed_toml_is_a_fault_with_its_place(broken: str, place: tuple[int, int]) -> None:
    found = read(broken)
    (fault,) = found.faults
    row, column = found.source.position(fault.span.start)
    assert row == place[0] and abs(column - place[1]) <= 1  # interpreters differ by a column
    assert found.dependencies == []


@pytest.mark.parametrize(
    "content", ["", "\ufeff", "package = 3\nlib = []\ndependencies = 7\nprofile = 1\n", "[[bin]]\nname = 'x'\n"]
)
def test_odd_manifests_are_empty_ones(content: str) -> None:
    found = read(content)
    assert found.faults == [] and found.library == "" and found.dependencies == []


def test_line_endings_and_bom() -> None:
    found = read("\ufeff" + CRATE.replace("\n", "\r\n"))
    assert found.edition is not None and found.edition.place.text == '"2021"' and found.edition.key.start == (4, 1)


def test_versions_compare() -> None:
    order = ["0.1.9", "0.2.0-rc.1", "0.2.0", "0.3.0", "0.3.1", "0.10.0", "1.0.0"]
    parsed = [Version.parse(text) for text in order]
    assert [str(version) for version in sorted((version for version in parsed if version), key=Version._key)] == order
    assert V0_2_0 < V0_3_0 <= V0_3_1 and Version.parse("v0.3.1") == V0_3_1 and Version.parse("main") is None


def test_positions_of_latency_and_tma() -> None:
    assert latency_position("load_view_tko", V0_2_0) == 4 and tma_position("load_view_tko", V0_2_0) == 5
    assert latency_position("core::store_view_tko_mut", V0_3_1) == 5 and tma_position("store_view_tko_mut", V0_3_1) == 6
    assert latency_position("store_ptr_tko", V0_3_0) == 6 and tma_position("store_ptr_tko", V0_3_0) is None
    assert latency_position("store_view_tko_bounded", V0_2_0) is None
    assert latency_position("addf", V0_3_0) is None
    assert MEMORY_OPS["load_ptr_tko"].latency_form == "type"


def test_what_a_version_has() -> None:
    assert not accepts_bare_entry(V0_2_0) and accepts_bare_entry(V0_3_0)
    assert (shape_macro(V0_3_0), shape_macro(V0_3_1)) == ("const_shape!", "shape!")
    assert compile_options(V0_2_0) == ("occupancy", "num_cta_in_cga", "max_divisibility")
    assert "num_worker_warps_per_cta" in compile_options(V0_3_0) and "device_debug" in compile_options(V0_3_1)
    assert "deny_in_kernel_checks" not in entry_keys(V0_2_0) and "deny_in_kernel_checks" in entry_keys(V0_3_0)
    assert "from_foreign" not in borrowing_functions(V0_2_0) and "from_foreign" in borrowing_functions(V0_3_0)
    assert supports("load-pipelined", V0_3_0) and not supports("load-pipelined", V0_2_0)
