"""The documentation says what the program does: rule pages, keys, options, examples; and it builds into a site without warnings."""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from cutile_lint.cli.main import COMMANDS
from cutile_lint.config.keys import READERS, read_table
from cutile_lint.config.settings import OUTPUT_FORMATS, RUNTIME_NAMES, Settings
from cutile_lint.engine.registry import Registry, builtin_rules
from cutile_lint.engine.rule_docs import RuleDoc, load_doc
from cutile_lint.engine.rule_options import check_options
from cutile_lint.reports.rule_pages import differences, pages, rule_page, write

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RULES = builtin_rules()
WRITTEN = [path for path in sorted(DOCS.rglob("*.md")) if path.parent.name != "rules"] + [ROOT / "README.md"]
REMAKE = "python -m cutile_lint.reports.rule_pages docs/rules"


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path, language: str) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


# ── rule pages ──


def test_rule_pages_say_what_the_yaml_files_say() -> None:
    drifted = differences(DOCS / "rules", pages(RULES))
    assert not drifted, f"docs/rules differs from rules/**/*.yaml in {', '.join(drifted)}: run `{REMAKE}`"


@pytest.mark.parametrize("info", RULES, ids=lambda info: info.code)
def test_a_rules_page_has_everything_that_its_yaml_file_says(info) -> None:
    doc = load_doc(info)
    page = re.sub(r"\[([A-Z]+\d+)\]\(\1\.md\)", r"\1", rule_page(doc, {rule.code for rule in RULES}))
    lines = {line.strip() for line in page.split("\n")}
    texts = [doc.what, doc.why, doc.cost, doc.example, doc.use_instead, doc.fix_safety, *doc.leaves_alone, *doc.checklist]
    for line in (line.strip() for text in texts for line in text.split("\n")):
        assert line in lines or f"- {line}" in lines
    assert page.count("```") % 2 == 0
    for heading in ("What it does", "Why is this bad?", "Example", "What it leaves alone", "Fix safety"):
        assert f"## {heading}\n" in page


def test_pages_are_written_and_stale_ones_removed(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "rules"
    wanted = pages(RULES[:2])
    assert write(folder, wanted) == sorted(wanted)
    assert write(folder, wanted) == []
    page = folder / f"{RULES[0].code}.md"
    page.write_text(page.read_text(encoding="utf-8") + "By hand.\n", encoding="utf-8")
    (folder / "CTL000.md").write_text("# gone\n", encoding="utf-8")
    assert differences(folder, wanted) == ["CTL000.md", page.name]
    write(folder, wanted)
    assert differences(folder, wanted) == [] and not (folder / "CTL000.md").exists()


def test_the_command_checks_and_writes(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cutile_lint.reports.rule_pages", *arguments]
        return subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT, timeout=120)

    folder = str(tmp_path / "rules")
    assert run(folder, "--check").returncode == 1
    assert run(folder).returncode == 0
    again = run(folder, "--check")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_lists_and_code_get_their_blank_lines_and_codes_their_links() -> None:
    text = "See CTL102 and `CTL102`:\n- one CTL999\n  more\n- two\n```python\nCTL102 = 1\n- 2\n```"
    page = rule_page(RuleDoc(RULES[0], what=text), {"CTL101", "CTL102"})
    assert "See [CTL102](CTL102.md) and `CTL102`:\n\n- one CTL999\n  more\n- two\n```python\nCTL102 = 1\n- 2\n```\n" in page


def test_the_index_names_every_rule_once() -> None:
    index = (DOCS / "rules" / "index.md").read_text(encoding="utf-8")
    table, _, options = index.partition("## Options\n")
    assert re.findall(r"^\| \[(\w+)\]\(\1\.md\)", table, re.MULTILINE) == sorted(info.code for info in RULES)
    named = [(info.code, option.name) for info in RULES for option in info.options]
    assert re.findall(r"^\| \[(\w+)\]\(\1\.md\) \| `([\w-]+)` \|", options, re.MULTILINE) == named


# ── what the other pages claim ──


def test_the_configuration_page_has_all_keys() -> None:
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+) \|", text, re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`([\w-]+)`", row)]
    assert sorted(names) == sorted([*READERS, "extend", *OUTPUT_FORMATS])
    assert all(f"`{role}`" in text for role in RUNTIME_NAMES)


@pytest.mark.parametrize("path", WRITTEN, ids=relative)
def test_examples_of_configuration_are_accepted(path: Path) -> None:
    for block in blocks(path, "toml"):
        tool = tomllib.loads(block).get("tool", {})
        if tool:
            fields = read_table(tool["cutile-lint"], path)
            assert fields
            check_options(Settings(rules=fields.get("rules", {})), Registry(RULES), whole=False)


class Accepted(Exception):
    """A command has read its options, and would begin its work."""


def accepts(command: Callable[[list[str]], int], words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a command read options without doing anything; exits for one that it doesn't know."""
    read = argparse.ArgumentParser.parse_args

    def stop(*arguments: Any) -> None:
        read(*arguments)
        raise Accepted

    with monkeypatch.context() as patch, pytest.raises(Accepted):
        patch.setattr(argparse.ArgumentParser, "parse_args", stop)
        command(words)


@pytest.mark.parametrize("path", WRITTEN, ids=relative)
def test_command_lines_are_accepted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(blocks(path, "console") + blocks(path, "yaml") + blocks(path, "sh"))
    for line in re.findall(r"^\s*(?:- (?:run: )?)?cutile-lint (\S.*)$", text, re.MULTILINE):
        words = [word.strip("\"'") for word in re.findall(r'"[^"]*"|\S+', re.split(r"\s[<>#]+\s|\s>\S|\s&&\s", line)[0])]
        command = words.pop(0) if words[0] in COMMANDS else "check"
        home = "cutile_lint.cli.options" if command == "check" else f"cutile_lint.cli.{COMMANDS[command]}"
        module = importlib.import_module(home)
        if hasattr(module, "parser"):
            module.parser().parse_args(words)  # exits for an option that it doesn't know
        else:
            accepts(module.main, words, monkeypatch)


@pytest.mark.parametrize("path", WRITTEN, ids=relative)
def test_examples_in_yaml_and_json_are_well_formed(path: Path) -> None:
    for block in blocks(path, "yaml"):
        assert yaml.safe_load(block)
    for block in blocks(path, "json"):
        assert json.loads(block)


def test_pre_commit_examples_name_hooks_that_exist() -> None:
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    named = [
        hook["id"]
        for block in blocks(DOCS / "pre-commit.md", "yaml")
        for repo in yaml.safe_load(block)["repos"]
        for hook in repo["hooks"]
    ]
    assert set(named) == hooks


def test_ci_examples_upload_the_file_that_they_write() -> None:
    text = "".join(blocks(DOCS / "ci.md", "yaml"))
    written = re.findall(r"--output-file (\S+)", text)
    read = re.findall(r"(?:sarif_file|codequality): (\S+)", text)
    assert written == read != []


@pytest.mark.parametrize("path", WRITTEN, ids=relative)
def test_pages_hold_no_path_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(?:home|root|work|Users)/", text)


# ── the site ──


class Resources(HTMLParser):
    """What a page makes the browser load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.found.append(given["src"] or "")
        if tag == "link" and given.get("rel") != "canonical" and given.get("href"):
            self.found.append(given["href"] or "")


def test_the_site_builds_without_warnings_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr and "not included in the" not in done.stderr, done.stderr
    built = sorted(site.rglob("*.html"))
    assert len(built) > len(RULES)
    for page in built:
        text = page.read_text(encoding="utf-8")
        assert str(ROOT) not in text and str(tmp_path) not in text
        resources = Resources()
        resources.feed(text)
        assert resources.found and not [url for url in resources.found if re.match(r"(?:\w+:)?//", url)]
    for sheet in site.rglob("*.css"):
        assert not re.search(r"@import|url\(\s*['\"]?(?:https?:)?//", sheet.read_text(encoding="utf-8"))
