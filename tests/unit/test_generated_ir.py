"""Rules on generated IR against what the real compiler printed (tests/frontends/ir/fixtures)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.engine.cases import load_base
from cutile_lint.engine.registry import builtin_rules
from cutile_lint.fixes.case_runner import MemoryRunner

FIXTURES = Path(__file__).parents[1] / "frontends" / "ir" / "fixtures"
RULES = [info for info in builtin_rules() if info.code.startswith("CTL70") and info.code != "CTL706"]


def found(generated: dict[str, str], reference: dict[str, str] | None = None, base: str = "gemm") -> list[tuple[str, str]]:
    """(code, message) of the rules on generated IR for fixtures by variant."""
    tree = dict(load_base(base))
    for folder, texts in (("generated", generated), ("reference", reference or {})):
        for variant, name in texts.items():
            tree[f"{base}_kernel/{folder}/{folder}{variant}.mlir"] = (FIXTURES / f"{name}.mlir").read_text()
    result = MemoryRunner().check(tree, RULES, {}, ["."])
    assert result.errors == []
    return [(finding.code, finding.message) for finding in result.findings]


@pytest.mark.parametrize(
    "name", ["gemm", "gemm_prefixed", "gemm_two_ctas", "persistent_scale", "row_softmax", "search", "transposed_loads"]
)
def test_what_the_compiler_prints_is_clean(name: str) -> None:
    assert found({"": name}) == []


def test_half_precision_accumulator() -> None:
    assert ("CTL702", "`mmaf` accumulates in f16") in found({"": "gemm_f16_accumulator"})


def test_hints_are_compared_in_both_spellings() -> None:
    assert found({"": "gemm"}, {"": "gemm_prefixed"}) == []
    assert found({"": "gemm_prefixed"}, {"": "gemm"}) == []


def test_cluster_size_that_the_reference_does_not_have() -> None:
    codes = [code for code, _ in found({"": "gemm_two_ctas"}, {"": "gemm"})]
    assert codes
    assert set(codes) == {"CTL705"}


def test_gather_where_the_reference_has_views() -> None:
    codes = [code for code, _ in found({"": "gather_add"}, {"": "gemm"})]
    assert "CTL703" in codes
    assert "CTL703" not in [code for code, _ in found({"": "gather_add"}, {"": "gather_add"})]


def test_variants_are_compared_with_their_own_reference() -> None:
    same = {"_direct": "gemm", "_persistent": "gemm_two_ctas"}
    assert found(same, same) == []


def test_nothing_is_parsed_without_generated_ir(monkeypatch: pytest.MonkeyPatch) -> None:
    from cutile_lint.unit.linking.program import Program

    def refuse(self: Program, path: Path) -> None:
        raise AssertionError(f"{path} was parsed")

    monkeypatch.setattr(Program, "ir_module", refuse)
    assert found({}) == []
