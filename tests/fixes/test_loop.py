"""What a user sees of fixing: the texts that come out, and what is said about the fixes that were not kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from cutile_lint.findings import Applicability, Edit, Finding, Fix
from cutile_lint.fixes import FixResult, fix_loop
from cutile_lint.sources import Place, Source, Span, Workspace

Rule = Callable[[Source], Iterator[Finding]]


def replacing(pattern: str, content: str, code: str = "T1", applicability: Applicability = Applicability.SAFE) -> Rule:
    """A rule that finds a pattern and wants it replaced."""

    def rule(source: Source) -> Iterator[Finding]:
        for match in re.finditer(pattern.encode(), source.data):
            edit = Edit(source, match.start(), match.end(), content)
            yield Finding(Place(source, Span(*match.span())), "m", fix=Fix("f", (edit,), applicability), code=code)

    return rule


def run(folder: Path, *rules: Rule, **options: object) -> FixResult:
    def check(overlays: Mapping[Path, bytes]) -> list[Finding]:
        files = Workspace(overlays)
        sources = [files.source(path) for path in sorted(folder.iterdir())]
        return [finding for rule in rules for source in sources if source for finding in rule(source)]

    return fix_loop(check, **options)  # type: ignore[arg-type]


def write(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = zeros(1)\ny = zeros(2)\n", b"x = empty(1)\ny = empty(2)\n"),
        (b"\xef\xbb\xbfx = zeros(1)\r\n# caf\xc3\xa9 \xf0\x9f\x98\x80\r\nif x:\r\n\ty = zeros(2)", None),
        (b"", b""),
    ],
)
def test_only_the_edited_bytes_change(tmp_path: Path, before: bytes, after: bytes | None) -> None:
    path = write(tmp_path, "a.py", before)
    result = run(tmp_path, replacing("zeros", "empty"), style=False)
    assert result.changed.get(path, before) == (before.replace(b"zeros", b"empty") if after is None else after)
    assert path.read_bytes() == before and result.remaining == []


def test_new_lines_get_the_line_ending_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a.py", b"f(a)\r\ng()\r\n")
    assert run(tmp_path, replacing(r"f\(a\)", "b = a\nf(b)"), style=False).changed[path] == b"b = a\r\nf(b)\r\ng()\r\n"


def test_conflicts_wait_for_the_next_pass(tmp_path: Path) -> None:
    path = write(tmp_path, "a.py", b"f(a, b)\n")
    inner, outer = replacing(r"\ba\b", "A", "T1"), replacing(r"f\((\w), b\)", "g(A, b)", "T2")
    for rules in ((inner, outer), (outer, inner)):
        result = run(tmp_path, *rules, style=False)
        assert result.changed[path] == b"g(A, b)\n" and result.remaining == []


def test_many_insertions_at_one_place_all_come(tmp_path: Path) -> None:
    path = write(tmp_path, "a.py", b"pass\n")

    def inserting(word: str) -> Rule:
        def rule(source: Source) -> Iterator[Finding]:
            if word not in source.text:
                place = Place(source, Span(0, 4))
                yield Finding(place, word, fix=Fix("f", (Edit(source, 0, 0, f"{word} = 1\n"),)), code=word)

        return rule

    words = [f"w{number:02}" for number in range(25)]
    result = run(tmp_path, *map(inserting, words), style=False)
    assert sorted(result.changed[path].decode().split()[::3])[1:] == words
    assert len(result.applied) == 25 and result.fights == []


def test_a_fix_over_two_files_is_applied_in_both_or_in_none(tmp_path: Path) -> None:
    one, two = write(tmp_path, "a.py", b"name = 1\n"), write(tmp_path, "b.py", b"name = 2\nother = 3\n")

    def renaming(new: str) -> Rule:
        def rule(source: Source) -> Iterator[Finding]:
            partner = Source(two, b"name = 2\nother = 3\n")
            if source.path == one and source.text.startswith("name"):
                edits = (Edit(source, 0, 4, "title"), Edit(partner, 0, 4, new))
                yield Finding(Place(source, Span(0, 4)), "m", fix=Fix("f", edits), code="T1")

        return rule

    good = run(tmp_path, renaming("title"), style=False)
    assert good.changed == {one: b"title = 1\n", two: b"title = 2\nother = 3\n"}
    broken = run(tmp_path, renaming("not a name"), replacing("other", "rest", "T2"), style=False)
    assert broken.changed == {two: b"name = 2\nrest = 3\n"}
    assert [item.finding.code for item in broken.undone] == ["T1"]
    assert "no longer compiles (row 1: " in broken.undone[0].reason
    assert [finding.code for finding in broken.remaining] == ["T1"]


def test_what_breaks_a_file_is_undone_and_the_others_stay(tmp_path: Path) -> None:
    path = write(tmp_path, "a.py", b"def f():\n    return zeros(1)\nx = ones(2)\n")
    result = run(tmp_path, replacing(r"def f\(\):", "f:", "T1"), replacing("ones", "empty", "T2"), style=False)
    assert result.changed[path] == b"def f():\n    return zeros(1)\nx = empty(2)\n"
    assert [item.finding.code for item in result.undone] == ["T1"] and len(result.applied) == 1


def test_code_that_parses_but_does_not_compile_is_undone_too(tmp_path: Path) -> None:
    write(tmp_path, "a.py", b"def f():\n    return 1\n")
    result = run(tmp_path, replacing(r"def f\(\):\n    ", ""), style=False)
    assert result.changed == {} and "outside function" in result.undone[0].reason


def test_rust_with_a_new_syntax_error_is_undone_an_old_one_does_not_matter(tmp_path: Path) -> None:
    path = write(tmp_path, "a.rs", b"fn f() { g(1); }\nfn h( {\n")
    result = run(tmp_path, replacing(r"g\(1\)", "g(2)", "T1"), replacing("fn f", "fn (", "T2"), style=False)
    assert result.changed[path] == b"fn f() { g(2); }\nfn h( {\n"
    assert [item.reason for item in result.undone] == ["the file has a new syntax error"]


def test_unsafe_fixes_are_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "a.py", b"x = zeros(1)\n")
    rule = replacing("zeros", "empty", applicability=Applicability.UNSAFE)
    assert run(tmp_path, rule).changed == {}
    assert path in run(tmp_path, rule, unsafe=True).changed


def test_rules_that_undo_each_other_are_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = write(tmp_path, "a.py", b"x = red\ny = old\n")
    rules = (replacing("red", "blue", "T1"), replacing("blue", "red", "T2"), replacing("old", "new", "T3"))
    result = run(tmp_path, *rules, style=False)
    assert [fight.codes for fight in result.fights] == [("T1", "T2")] or "T3" in result.fights[0].codes
    assert result.changed[path].endswith(b"y = new\n")
    assert {finding.code for finding in result.remaining} <= {"T1", "T2"}


def test_a_fix_that_brings_its_own_finding_back_ends(tmp_path: Path) -> None:
    write(tmp_path, "a.py", b"x = 1\n")
    result = run(tmp_path, replacing("x = 1\n", "x = 1\nx = 1\n"), style=False)
    assert result.changed == {} and [fight.codes for fight in result.fights] == [("T1",)]


def test_a_fix_that_changes_nothing_or_overlaps_itself_is_undone(tmp_path: Path) -> None:
    write(tmp_path, "a.py", b"x = 1\n")

    def overlapping(source: Source) -> Iterator[Finding]:
        edits = (Edit(source, 0, 3, "a"), Edit(source, 2, 4, "b"))
        yield Finding(Place(source, Span(0, 1)), "m", fix=Fix("f", edits), code="T2")

    result = run(tmp_path, replacing("x", "x"), overlapping, style=False)
    assert result.changed == {} and result.fights == []
    assert {item.reason for item in result.undone} == {"it changes nothing", "two edits of the fix overlap"}


def test_a_file_that_may_not_change_withholds_the_fix(tmp_path: Path) -> None:
    write(tmp_path, "a.py", b"x = zeros(1)\n")
    result = run(tmp_path, replacing("zeros", "empty"), refusal=lambda path: f"`{path.name}` is excluded")
    assert result.changed == {} and [item.reason for item in result.withheld] == ["`a.py` is excluded"]
    assert len(result.remaining) == 1


def test_a_formatted_file_stays_formatted_and_another_keeps_its_style(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", b"[tool.ruff]\nline-length = 40\n")
    clean = write(tmp_path, "clean.py", b"value = call(first_argument, second)\n")
    messy = write(tmp_path, "messy.py", b"value = call( first_argument,second )\n")
    rule = replacing("second", "second_argument")
    result = run(tmp_path, lambda source: rule(source) if b"second_" not in source.data else iter(()))
    assert result.changed[clean] == b"value = call(\n    first_argument, second_argument\n)\n"
    assert result.changed[messy] == b"value = call( first_argument,second_argument )\n"
