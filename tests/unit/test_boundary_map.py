"""The boundary map of the bases and what each slot of a tuned launch gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.config.settings import Settings
from cutile_lint.engine.cases import load_base
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit import KernelUnit, load
from cutile_lint.unit.boundary.slots import Boundary


def unit_of(base: str, edits: dict[str, list[tuple[str, str]]] | None = None) -> KernelUnit:
    tree = load_base(base)
    for path, changes in (edits or {}).items():
        for old, new in changes:
            assert tree[path].count(old) == 1
            tree[path] = tree[path].replace(old, new)
    root = Path("/op").absolute()
    overlays = {root / path: text.encode() for path, text in tree.items()}
    (unit,) = [unit for unit in load(Workspace(overlays), sorted(overlays), Settings()) if unit.name == base]
    return unit


def rows(boundary: Boundary) -> dict[str, set[tuple[str, int]]]:
    return {slot.name: {(use.role, use.index) for use in slot.uses} for slot in boundary.slots}


def test_every_slot_of_the_gemm_has_its_meaning() -> None:
    (boundary,) = unit_of("gemm").boundary
    found = rows(boundary)
    assert [slot.declared.name for slot in boundary.slots if slot.declared] == [slot.name for slot in boundary.slots]
    assert ("descriptor", 0) in found["c"]
    assert ("descriptor", 2) in found["b"]
    assert found["bm"] == {("generic", 1)}
    assert found["num_programs"] == {("grid", 0)}
    assert found["num_cta_in_cga"] == {("option", -1)}
    assert found["persistent"] == {("condition", -1)}
    assert ("device", -1) in found["device_id"]
    assert ("stream", -1) in found["raw_stream"]
    assert [launch.entry_name for launch in boundary.kernel_launches] == ["persistent_gemm_kernel", "direct_gemm_kernel"]
    assert {slot.name: slot.option for slot in boundary.slots if slot.option} == {
        "num_cta_in_cga": "num_cta_in_cga",
        "occupancy": "occupancy",
    }


def test_generics_carry_the_names_of_the_entry() -> None:
    (boundary,) = unit_of("row_scale").boundary
    slot = boundary.slot_named("bn")
    assert slot is not None
    assert [(use.role, use.name) for use in slot.uses] == [("generic", "BN")]


def test_an_option_is_known_by_its_setter_and_not_by_its_name() -> None:
    edits = {
        "row_scale_kernel/ffi.rs": [
            ("    num_cta_in_cga: i32,\n    occupancy: i32,\n", "    p: i32,\n    q: i32,\n"),
            ("compile_options!(occupancy, num_cta_in_cga)", "compile_options!(q, p)"),
        ]
    }
    (boundary,) = unit_of("row_scale", edits).boundary
    assert {slot.name: slot.option for slot in boundary.slots if slot.option} == {"p": "num_cta_in_cga", "q": "occupancy"}


@pytest.mark.parametrize("name", ["num_ctas", "cluster_size", "NUM_CTA"])
def test_the_declared_name_decides_for_an_option_that_is_never_applied(name: str) -> None:
    edits = {
        "row_scale_kernel/ffi.rs": [
            ("    num_cta_in_cga: i32,\n", f"    {name}: i32,\n"),
            ("compile_options!(occupancy, num_cta_in_cga)", "compile_options!(occupancy, 0)"),
        ]
    }
    (boundary,) = unit_of("row_scale", edits).boundary
    slot = boundary.slot_named(name)
    assert slot is not None
    assert slot.option == "num_cta_in_cga"


def test_a_broken_cdef_is_a_fault_and_the_slots_are_still_known() -> None:
    edits = {"row_scale.py": [("int32_t bm, int32_t bn,", "int32_t bm int32_t bn,")]}
    (boundary,) = unit_of("row_scale", edits).boundary
    assert boundary.cdef is None
    assert boundary.cdef_fault is not None
    assert all(slot.declared is None for slot in boundary.slots)
    assert ("grid", 0) in rows(boundary)["grid_size"]


def test_a_declared_parameter_has_its_place_in_the_literal() -> None:
    unit = unit_of("row_scale")
    (boundary,) = unit.boundary
    place = boundary.slots[1].declared_place
    assert place is not None
    assert place.text == "const TensorDesc* x"
    assert place.path.name == "row_scale.py"


def test_a_launch_of_another_arity_is_not_aligned() -> None:
    edits = {"row_scale.py": [("        int(bn),\n", "")]}
    unit = unit_of("row_scale", edits)
    (boundary,) = unit.boundary
    assert not any(boundary.is_aligned(launch) for launch in boundary.launches)
    assert unit.option_arguments == []
