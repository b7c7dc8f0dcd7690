"""2,000 inputs of the fuzz run (``python -m tests.robustness.fuzz --count 20000`` makes more); and structures by hypothesis."""
# ruff: noqa: E501

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutile_lint.sources import Source
from tests.robustness.fuzz.campaign import run
from tests.robustness.fuzz.targets import LANGUAGES, READERS
from tests.summary import FUZZ

SEED = 7
_LEAVES = {
    "python": ("x", "1", "'a'", "f'{x}'", "...", "torch.zeros(1)", "None"),
    "rust": ("x", "1", '"a"', "x::y::<3>", "()", "m!(1, $x)", "'a'"),
    "mlir": ("%0", "i32", "tile<4xf32>", '"a"', "@f", "^bb0", "1.0"),
    "json": ("1", '"a"', "null", "[]", "{}", "1e400", '"configs"'),
    "toml": ("1", "'a'", "[]", "{}", "true", "1979-05-27", "inf"),
    "cdef": ("int", "a", "*", "void", "const", "int32_t", "1"),
}
_SHAPES = {
    "python": ("({})", "[{}, {}]", "f({}, k={})", "lambda: {}", "{} if {} else {}", "{{{}: {}}}", "x = {}\n", "def f():\n    return {}\n", "{}.a", "not {}"),
    "rust": ("({})", "[{}, {}]", "f({}, {})", "|x| {}", "if {} {{ {} }} else {{ {} }}", "{{ {} }}", "let x = {};", "fn f() {{ {} }}", "{}.a", "!{}", "m!{{ {} }}"),
    "mlir": ("{}, {}", "({}) -> {}", "{{\n{}\n}}", "%1 = constant <{}> : {}\n", "cuda_tile.module @m {{ entry @e({}) {{ {} }} }}", "[{}]", "<{}>"),
    "json": ("[{}, {}]", '{{"a": {}}}', '{{"variants": {}, "configs": {}}}', '{{"backend": {}}}', "{} {}", "[{}"),
    "toml": ("a = {}\n", "[a]\nb = {}\n", "[{}, {}]", "{{a = {}}}", "[[a]]\n{}", "[dependencies]\ncutile = {}\n"),
    "cdef": ("{} {}", "{} f({});", "{}({})", "struct {{ {} x; }} {};", "typedef {} {};", "{}[{}]", "{} /* {} */"),
}  # fmt: skip


def test_the_fuzz_run(record_property: Callable[[str, object], None]) -> None:
    tried: Counter[str] = Counter()
    checked: Counter[str] = Counter()
    failures = []
    for tally in run(SEED, list(range(2000)), LANGUAGES, 2):
        tried += tally.tried
        checked += tally.checked
        failures += [f"--seed {SEED} --only {one.number}: {one.what}\n{one.detail}" for one in tally.failures]
    record_property(FUZZ, json.dumps({"tried": tried, "checked": checked}))
    assert not failures, "python -m tests.robustness.fuzz " + "\n".join(failures)
    assert tried.total() == 2000


@pytest.mark.parametrize("language", READERS)
def test_any_structure_is_read(language: str) -> None:
    def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        def filled(shape: str) -> st.SearchStrategy[str]:
            return st.lists(inner, min_size=shape.count("{}"), max_size=shape.count("{}")).map(lambda parts: shape.format(*parts))

        return st.sampled_from(_SHAPES[language]).flatmap(filled)

    @settings(max_examples=60, deadline=None)
    @given(st.recursive(st.sampled_from(_LEAVES[language]), grown, max_leaves=25))
    def reads(text: str) -> None:
        READERS[language](Source(Path("/p/a.py"), text.encode()))

    reads()
