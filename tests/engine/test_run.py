"""Running rules: metadata filled in, one finding per code and place, a failing rule stops no other."""

from __future__ import annotations

import shutil
from pathlib import Path

from cutile_lint.config import Configurations, Settings
from cutile_lint.engine import api
from cutile_lint.engine.registry import folder_rules
from cutile_lint.engine.run import RunError, run, told
from cutile_lint.findings import Level

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: finds a word in every file of the unit
FIND = """
from cutile_lint.findings import Finding, Level
from cutile_lint.sources import Place, Span

def check(unit):
    for source in unit.files:
        start = source.data.find(b"WORD")
        while start >= 0:
            yield Finding(Place(source, Span(start, start + len(b"WORD"))), "`WORD` is here")
            start = source.data.find(b"WORD", start + 1)
"""


def find(word: str) -> str:
    return FIND.replace("WORD", word)


def test_findings_carry_the_rules_metadata_sorted_by_place(write_rule, unit) -> None:
    write_rule("XYZ002", "twos", find("two"), level="info")
    root = write_rule("XYZ001", "ones", find("one"), level="warning")
    report = run([unit("b", {"b.py": "two one two"}), unit("a", {"a.py": "one"})], folder_rules(root))
    assert [
        (item.path.name, item.place.span.start, item.code, item.name, item.level.value, item.ops) for item in report.findings
    ] == [
        ("a.py", 0, "XYZ001", "ones", "warning", ("a",)),
        ("b.py", 0, "XYZ002", "twos", "info", ("b",)),
        ("b.py", 4, "XYZ001", "ones", "warning", ("b",)),
        ("b.py", 8, "XYZ002", "twos", "info", ("b",)),
    ]
    assert report.ok


def test_a_shared_place_is_found_once_and_names_every_op(write_rule, unit) -> None:
    root = write_rule("XYZ001", "ones", find("one"))
    shared = {"ffi_util.rs": "one"}
    report = run([unit("matmul", shared), unit("bmm", shared)], folder_rules(root))
    assert [item.ops for item in report.findings] == [("bmm", "matmul")]


def test_two_codes_at_one_place_are_two_findings(write_rule, unit) -> None:
    write_rule("XYZ001", "ones", find("one"))
    root = write_rule("XYZ002", "again", find("one"))
    assert [item.code for item in run([unit("a", {"a.py": "one"})], folder_rules(root)).findings] == ["XYZ001", "XYZ002"]


def test_a_rule_may_set_the_level_of_a_finding(write_rule, unit) -> None:
    root = write_rule("XYZ001", "ones", find("one").replace('is here"', 'is here", level_override=Level.INFO'), level="error")
    assert [item.level for item in run([unit("a", {"a.py": "one"})], folder_rules(root)).findings] == [Level.INFO]


def test_a_failing_rule_is_named_with_its_unit_and_stops_no_other(write_rule, unit) -> None:
    write_rule("XYZ001", "breaks", find("one") + "    raise KeyError('slot')\n")
    write_rule("XYZ002", "cannot-load", "import no_such_module_anywhere\n")
    root = write_rule("XYZ003", "works", find("one"))
    report = run([unit("a", {"a.py": "one"}), unit("b", {"b.py": ""})], folder_rules(root))
    assert [(item.path.name, item.code) for item in report.findings] == [("a.py", "XYZ001"), ("a.py", "XYZ003")]
    assert [str(error).rpartition(" (")[0] for error in report.errors] == [
        "rule XYZ002 cannot be loaded: ModuleNotFoundError: No module named 'no_such_module_anywhere'",
        "rule XYZ001 failed on `a`: KeyError: 'slot'",
        "rule XYZ001 failed on `b`: KeyError: 'slot'",
    ]
    assert "breaks.py" in report.errors[1].traceback
    assert not report.ok


def test_suppressed_findings_are_set_aside_and_their_comment_is_used(write_rule, unit) -> None:
    root = write_rule("XYZ001", "ones", find("one"))
    text = "one()  # cutile-lint: ignore[XYZ001]\none()\nx()  # cutile-lint: ignore[ones]\n"
    report = run([unit("a", {"a.py": text})], folder_rules(root))
    assert [item.place.start[0] for item in report.suppressed] == [1, 3]
    assert [item.place.start[0] for item in report.findings] == [2]
    assert [sorted(item.used) for item in report.suppressions[0].items] == [["XYZ001"], ["XYZ001"]]


def test_a_suppression_of_a_rule_that_is_not_selected_is_no_mistake(write_rule, unit) -> None:
    root = write_rule("XYZ001", "ones", find("one"))
    write_rule("XYZ002", "twos", find("two"))
    known = {"XYZ001": "XYZ001", "XYZ002": "XYZ002"}.get
    text = "one()  # cutile-lint: ignore[XYZ002, XYZ009]\n"
    report = run([unit("a", {"a.py": text})], folder_rules(root)[:1], known=known)
    assert [item.message for item in report.suppressions[0].mistakes] == [
        "`XYZ009` is no rule's code or name, so it silences nothing"
    ]


def test_settings_of_the_findings_file_decide(write_rule, unit) -> None:
    write_rule("XYZ001", "ones", find("one"))
    root = write_rule("XYZ002", "twos", find("two"))
    tree = {"new.py": "one two", "old/a.py": "one two", "third_party/b.py": "one two"}

    def settings(path: Path) -> Settings:
        if "old" in path.parts:
            return Settings(root=Path("/tree"), select=("XYZ002",), severity={"XYZ": Level.INFO})
        return Settings(root=Path("/tree"), per_file_ignores={"third_party/": ("ALL",)})

    report = run([unit("a", tree)], folder_rules(root), settings)
    assert [(item.path.as_posix(), item.code, item.level.value) for item in report.findings] == [
        ("/tree/new.py", "XYZ001", "error"),
        ("/tree/new.py", "XYZ002", "error"),
        ("/tree/old/a.py", "XYZ002", "info"),
    ]


def test_no_units_and_no_rules_give_an_empty_report(write_rule, unit) -> None:
    assert run([], ()).findings == []
    assert run([unit("a", {"a.py": ""})], ()).findings == []


def test_one_fault_of_ours_is_told_once_and_a_plugins_with_its_file() -> None:
    errors = [RunError(f"CTL10{number}", "op", "KeyError: 'x'") for number in range(5)]
    errors += [RunError("CTL201", "other", "KeyError: 'x'"), RunError("ACME101", "op", "KeyError: 'x'", origin="a.yaml")]
    assert told(errors) == [
        "internal error: the rules CTL100, CTL101, CTL102 and 2 more failed on `op`: KeyError: 'x'",
        "internal error: rule CTL201 failed on `other`: KeyError: 'x'",
        "rule ACME101 failed on `op`: KeyError: 'x' (a.yaml)",
    ]


def test_a_statement_that_the_finding_does_not_stand_in_is_not_its_statement(write_rule, unit) -> None:
    text = find("one").replace('is here")', 'is here", statement=Place(source, Span(0, 3)))')
    root = write_rule("XYZ001", "ones", text)
    report = run([unit("a", {"a.py": "one one"})], folder_rules(root))
    assert [item.statement is not None for item in report.findings] == [True, False]


def test_a_comment_at_a_statement_of_a_macro_silences_what_stands_in_it(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "faulty" / "tilegym", tmp_path / "tilegym")
    rust = tmp_path / "tilegym" / "src" / "tilegym" / "ops" / "cutile_rs" / "ffi_util.rs"
    setter = "options = options.num_cta_in_cga($num_cta_in_cga);"
    found = {}
    for comment in ("// one of many", "// cutile-lint: ignore[CTL204] all callers give one"):
        text = (EXAMPLES / "faulty" / rust.relative_to(tmp_path)).read_text()
        rust.write_text(
            text.replace(setter, f"{comment}".join(("options = ", "\n            options.num_cta_in_cga($num_cta_in_cga);")))
        )
        report = api.check_files(api.find_files([tmp_path], Configurations()).files, Configurations(), {}, None, jobs=1)
        found[comment] = [item.code for item in report.findings if item.path == rust and item.code == "CTL204"]
    assert list(found.values()) == [["CTL204"], []]
