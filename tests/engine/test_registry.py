"""Finding and selecting rules; the compiled index."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cutile_lint.config import Settings
from cutile_lint.engine import rule_index
from cutile_lint.engine.registry import Registry, RuleInfo, SelectorError, folder_rules, load_rules
from cutile_lint.engine.rule_index import RuleFileError, build_index, load_index
from cutile_lint.findings import Level

CHECK = "def check(unit):\n    yield from ()\n"


def rule(code: str, name: str) -> RuleInfo:
    return RuleInfo(code, name, Level.ERROR, "manual", "wrapper", (), "", f"group.{name}", True, Path("rules"), "")


REGISTRY = Registry([rule("CTL101", "fill"), rule("CTL102", "copy"), rule("CTL110", "again"), rule("CTL201", "lost")])


def codes(**chosen: tuple[str, ...]) -> list[str]:
    return [info.code for info in REGISTRY.selected(Settings(**chosen))]


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        (("ALL",), (), ["CTL101", "CTL102", "CTL110", "CTL201"]),
        (("CTL1",), (), ["CTL101", "CTL102", "CTL110"]),
        (("CTL10",), (), ["CTL101", "CTL102"]),
        (("lost",), (), ["CTL201"]),
        (("CTL1",), ("CTL101",), ["CTL102", "CTL110"]),
        (("CTL101",), ("CTL1",), ["CTL101"]),
        (("CTL101",), ("fill",), []),
        (("ALL",), ("ALL",), []),
    ],
)
def test_the_more_specific_selector_wins(select: tuple[str, ...], ignore: tuple[str, ...], expected: list[str]) -> None:
    assert codes(select=select, ignore=ignore) == expected


def test_rules_on_in_any_of_several_settings_are_loaded() -> None:
    chosen = REGISTRY.selected(Settings(select=("fill",)), Settings(select=("CTL2",)))
    assert [info.code for info in chosen] == ["CTL101", "CTL201"]


@pytest.mark.parametrize("selector", ["CTL8", "CTL1O1", "ctl101", "", "fil", "101", "CTL101 ", "C*"])
@pytest.mark.parametrize("option", ["select", "ignore", "extend_select"])
def test_an_unknown_selector_is_a_usage_error_that_names_it(selector: str, option: str) -> None:
    with pytest.raises(SelectorError, match="no rule is selected by") as error:
        codes(**{option: (selector,)})
    assert f"`{selector}`" in str(error.value)


def test_a_near_miss_is_suggested() -> None:
    with pytest.raises(SelectorError, match="did you mean `CTL201`"):
        codes(select=("CLT201",))


def test_a_rule_is_read_with_its_metadata_and_its_check_on_demand(write_rule) -> None:
    root = write_rule("XYZ001", "odd-thing", "def check(unit):\n    yield unit\n", needs="[reference]", level="info", fix="safe")
    (info,) = folder_rules(root)
    assert (info.code, info.name, info.level, info.fix, info.needs) == ("XYZ001", "odd-thing", Level.INFO, "safe", ("reference",))
    assert not [name for name in sys.modules if name.endswith("group_odd_thing")]
    assert list(info.load()("seen")) == ["seen"]


def test_modules_of_two_folders_do_not_meet(write_rule, tmp_path: Path) -> None:
    first = write_rule("XYZ001", "one", "def check(unit):\n    return ['first']\n")
    first = first.rename(tmp_path / "first")
    second = write_rule("XYZ001", "one", "def check(unit):\n    return ['second']\n")
    assert [folder_rules(root)[0].load()(None) for root in (first, second)] == [["first"], ["second"]]


def test_a_code_or_name_used_twice_is_refused(write_rule) -> None:
    root = write_rule("XYZ001", "one", CHECK)
    write_rule("XYZ001", "two", CHECK)
    with pytest.raises(RuleFileError, match=r"the code `XYZ001` is used by `group\.one` and by `group\.two`"):
        folder_rules(root)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"level": "fatal"}, "`level` is 'fatal'"),
        ({"fix": "perhaps"}, "`fix` is 'perhaps'"),
        ({"layer": None}, "key `layer` is missing"),
        ({"code": "12"}, "`code` is 12"),
        ({"name": "Odd_Thing"}, "`name` is 'Odd_Thing'"),
        ({"summary": "[a]"}, "`summary` must be a text"),
        ({"level": "error\nlevel: info"}, "key `level` occurs twice"),
        ({"summary": "{"}, "group/odd.yaml"),
    ],
)
def test_a_broken_rule_file_is_named_with_its_key(write_rule, changes: dict, message: str) -> None:
    root = write_rule("XYZ001", "odd", CHECK, **changes)
    with pytest.raises(RuleFileError) as error:
        build_index(root)
    assert message in str(error.value).replace(os.sep, "/")
    assert "odd.yaml" in str(error.value)


def test_the_index_is_made_once_and_again_after_each_kind_of_change(write_rule, tmp_path: Path, monkeypatch) -> None:
    root = write_rule("XYZ001", "one", CHECK)
    cached = tmp_path / "index.json"
    built = []
    monkeypatch.setattr(rule_index, "build_index", lambda *args, **kw: built.append(1) or build_index(*args, **kw))

    def read() -> list[str]:
        return [row[0] for row in load_index(root, cached)]

    assert (read(), read(), len(built)) == (["XYZ001"], ["XYZ001"], 1)
    write_rule("XYZ002", "two", CHECK)
    assert (read(), read(), len(built)) == (["XYZ001", "XYZ002"], ["XYZ001", "XYZ002"], 2)
    write_rule("XYZ003", "two", CHECK, summary="longer than before")
    assert (read(), len(built)) == (["XYZ001", "XYZ003"], 3)
    (root / "group" / "one.yaml").unlink()
    assert (read(), len(built)) == (["XYZ003"], 4)
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 0, "rules": []}', "\x00"])
def test_a_damaged_index_is_made_again(write_rule, tmp_path: Path, content: str) -> None:
    root = write_rule("XYZ001", "one", CHECK)
    cached = tmp_path / "index.json"
    cached.write_text(content, encoding="utf-8")
    assert [row[0] for row in load_index(root, cached)] == ["XYZ001"]
    assert json.loads(cached.read_text(encoding="utf-8"))["rules"]


def test_an_index_that_cannot_be_kept_is_used_from_memory(write_rule, tmp_path: Path) -> None:
    root = write_rule("XYZ001", "one", CHECK)
    assert [row[0] for row in load_index(root, tmp_path / "nowhere" / "index.json")] == ["XYZ001"]


def test_a_frozen_index_is_not_compared_with_the_files(write_rule, tmp_path: Path) -> None:
    root = write_rule("XYZ001", "one", CHECK)
    cached = tmp_path / "index.json"
    cached.write_text(json.dumps(build_index(root, frozen=True)), encoding="utf-8")
    write_rule("XYZ002", "two", CHECK)
    assert [row[0] for row in load_index(root, cached)] == ["XYZ001"]


def test_helper_modules_bases_and_other_files_are_no_rules(write_rule) -> None:
    root = write_rule("XYZ001", "one", CHECK)
    (root / "bases").mkdir()
    (root / "bases" / "thing.yaml").write_text("code: 1", encoding="utf-8")
    (root / "group" / "_shared.py").write_text("", encoding="utf-8")
    (root / "notes.yaml").write_text("a: b", encoding="utf-8")
    assert [info.code for info in folder_rules(root)] == ["XYZ001"]


def test_the_built_in_rules_load_without_yaml_once_the_index_is_there() -> None:
    load_rules()
    program = "import sys; from cutile_lint.engine.registry import load_rules; load_rules(); print(*sorted(sys.modules))"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert not {"yaml", "libcst", "tree_sitter", "rich", "click", "tempfile"} & set(done.stdout.split())
