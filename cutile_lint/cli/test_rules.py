"""``cutile-lint test-rules``: run the cases in anyone's rules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from cutile_lint.cli.common import command_parser, end
from cutile_lint.engine.cases import check_case, make_case
from cutile_lint.engine.patterns import load_pattern
from cutile_lint.engine.registry import RuleInfo, builtin_rules, folder_rules
from cutile_lint.engine.rule_docs import load_doc
from cutile_lint.errors import UserError
from cutile_lint.fixes.case_runner import MemoryRunner
from cutile_lint.reports.summary import plural
from cutile_lint.reports.text import clean
from cutile_lint.reports.view import View


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "test-rules", "Run the cases of rules: each must find, and fix, what its YAML file says. Imports the rules."
    )
    made.add_argument("paths", nargs="+", metavar="PATH", help="a folder of rules, a group in it, or a rule's YAML file")
    made.add_argument("-k", dest="word", default="", metavar="WORD", help="only cases whose name has this word")
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    view = View()
    failed = passed = 0
    errors: list[str] = []
    rules = [info for path in options.paths for info in _rules_at(Path(path))]
    every = [*builtin_rules(), *rules]
    for info in rules:
        problems, count = _test(info, every, options.word, errors)
        failed, passed = failed + len(problems), passed + count - len(problems)
        if count:
            print(f"{info.code} {info.name}: {plural(count, 'case')}" + (f", {len(problems)} failed" if problems else ""))
        elif not options.word:
            errors.append(f"{view.path(info.yaml_path)}: the rule has no cases")
        for name, told in problems:
            print(f"  {name}")
            for line in told:
                print("".join(f"    {clean(part)}\n" for part in line.splitlines()), end="")
    print(f"{plural(passed, 'case')} passed" + (f", {failed} failed." if failed else "."))
    sys.stdout.flush()
    return end(errors) or int(failed > 0)


def _rules_at(path: Path) -> list[RuleInfo]:
    """The rules that a path means. Raises UserError when there are none."""
    path = path.absolute()
    if path.is_file() and path.suffix in (".yaml", ".py"):
        wanted = path.with_suffix(".yaml")
        found = [info for info in folder_rules(path.parents[1]) if info.yaml_path == wanted]
    elif path.is_dir():
        found = list(folder_rules(path))
        if not found and any(path.glob("*.yaml")):
            found = [info for info in folder_rules(path.parent) if info.yaml_path.parent == path]
    else:
        raise UserError(f"{path}: no such file or directory")
    if not found:
        raise UserError(f"{path}: no rules; they lie in `<group>/<name>.yaml` below a folder of rules")
    return found


def _test(info: RuleInfo, every: list[RuleInfo], word: str, errors: list[str]) -> tuple[list[tuple[str, list[str]]], int]:
    """The cases that fail with what is wrong, and the number that ran."""
    problems: list[tuple[str, list[str]]] = []
    try:
        if info.coded and not info.yaml_path.with_suffix(".py").is_file():
            load_pattern(info.yaml_path)
        doc = load_doc(info)
    except UserError as error:
        errors.append(str(error))
        return [], 0
    count = 0
    for valid, data in [(True, data) for data in doc.valid] + [(False, data) for data in doc.invalid]:
        name = f"{'valid' if valid else 'invalid'} case `{data['name']}`"
        if word not in name:
            continue
        count += 1
        try:
            told = check_case(make_case(info, data, valid=valid), MemoryRunner(), every)
        except UserError as error:
            told = [str(error)]
        if told:
            problems.append((name, told))
    return problems, count
