"""Every rule's cases through the real engine, and what holds for every rule's two files."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from cutile_lint.engine.cases import Case, CaseRun, Tree, check_case, load_base, load_cases
from cutile_lint.engine.registry import RuleInfo, builtin_rules
from cutile_lint.engine.rule_docs import RuleDoc, load_doc
from cutile_lint.findings import Finding
from cutile_lint.fixes.case_runner import MemoryRunner

RULES = builtin_rules()
#: has no module: it is about what all other rules found
SAID_BY_THE_ENGINE = {"CTL901"}
CASES = [case for info in RULES for case in load_cases(load_doc(info))]


class Recorder(MemoryRunner):
    """Keeps the findings that a case gave, for the conventions that every message follows."""

    def __init__(self) -> None:
        super().__init__()
        self.findings: list[Finding] = []

    def check(self, tree: Tree, rules, options, paths) -> CaseRun:
        result = super().check(tree, rules, options, paths)
        self.findings += result.findings
        return result


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    runner = Recorder()
    problems = check_case(case, runner, RULES)
    problems += [f"{finding.code}: {text}" for finding in runner.findings for text in convention(finding)]
    assert not problems, "\n".join(problems)


def convention(finding: Finding) -> list[str]:
    """What is wrong with the wording of a finding: one lower-case sentence that names the thing in backticks."""
    message, problems = finding.message, []
    if not re.match(r"[a-z`]", message):
        problems.append(f"the message begins neither with a small letter nor with a backtick: {message!r}")
    if message.endswith(".") or "\n" in message:
        problems.append(f"the message ends in a full stop or has several lines: {message!r}")
    file_wide = finding.code in ("CTL900", "CTL903")  # a parser's own words, or a place that is a whole file
    if (not re.search(r"`[^`]+`", message) and not file_wide) or message.count("`") % 2:
        problems.append(f"the message names no thing in backticks: {message!r}")
    for text in (finding.help, *(item.message for item in finding.related), finding.fix.message if finding.fix else ""):
        if text.endswith(".") or "\n" in text or text.count("`") % 2:
            problems.append(f"a help, fix or related text is no single phrase without full stop: {text!r}")
    if finding.place.span.start >= finding.place.span.end and finding.place.source.data and not file_wide:
        problems.append(f"the place is empty: {finding.place}")
    return problems


@pytest.mark.parametrize("name", sorted(path.name for path in (Path(__file__).parents[1] / "rules" / "bases").iterdir()))
def test_a_base_is_clean_and_compiles(name: str) -> None:
    tree = load_base(name)
    for path, text in tree.items():
        if path.endswith(".py"):
            compile(text, path, "exec")
    result = MemoryRunner().check(tree, RULES, {}, ["."])
    assert [f"{finding.place}: {finding.code} {finding.message}" for finding in result.findings] == []
    assert result.errors == []


doc = functools.lru_cache(load_doc)


@pytest.mark.parametrize("info", RULES, ids=lambda info: info.code)
def test_a_rule_is_complete(info: RuleInfo) -> None:
    text: RuleDoc = doc(info)
    wanted = ("what", "why", "example", "fix_safety", "leaves_alone", "valid", "invalid")
    missing = [key for key in wanted if not getattr(text, key)]
    assert not missing
    assert "\n" not in info.summary
    assert not info.summary.endswith(".")
    names = [case["name"] for case in (*text.valid, *text.invalid)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("info", RULES, ids=lambda info: info.code)
def test_a_rule_lies_where_its_name_says(info: RuleInfo) -> None:
    assert re.fullmatch(r"CTL[1-9][0-9]{2}", info.code)
    assert info.module.rpartition(".")[2] == info.name.replace("-", "_")
    assert info.coded or info.code in SAID_BY_THE_ENGINE
    assert not info.coded or callable(info.load())


def test_the_rules_of_a_group_share_the_first_digit() -> None:
    groups = {(info.module.partition(".")[0], info.code[:4]) for info in RULES}
    assert len({group for group, _ in groups}) == len(groups)


def test_every_group_is_a_package_with_a_module_or_helper_per_file() -> None:
    root = RULES[0].root if RULES else Path(__file__).parents[1] / "rules"
    modules = {info.module for info in RULES}
    for path in root.glob("*/*.py"):
        if path.parent.name == "bases" or path.name.startswith("_"):
            continue
        assert (path.parent / "__init__.py").is_file()
        assert f"{path.parent.name}.{path.stem}" in modules, f"{path} has no YAML file; helpers begin with an underscore"
