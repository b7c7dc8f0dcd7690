"""Rules of one's own: scaffold, cases, folders, packages, trust, and what is said of broken ones."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint(cwd: Path, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    search = os.pathsep.join(map(str, [ROOT, *([path] if path else [])]))
    environment = {**os.environ, "PYTHONPATH": search, "COLUMNS": "80"}
    command = [sys.executable, "-m", "cutile_lint.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=120)


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    """The files of docs/plugins.md in a folder of their own."""
    text = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    found = re.findall(r"^`(rules/[\w/.]+)`:\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 4
    for name, content in found:
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path / "project"


@pytest.fixture
def op(guide: Path) -> Path:
    """An op beside the rules, with what two of them find."""
    (guide / ".git").mkdir()
    shutil.copytree(ROOT / "rules" / "bases" / "row_scale", guide / "ops")
    wrapper, export = guide / "ops" / "row_scale.py", guide / "ops" / "row_scale_kernel" / "ffi.rs"
    wrapper.write_text(
        wrapper.read_text().replace("y = torch.empty_like(x)\n", "y = torch.empty_like(x)\n        torch.cuda.empty_cache()\n")
    )
    export.write_text(export.read_text().replace("grid_size as u32", "grid_size.try_into().unwrap()"))
    return guide


def codes(done: subprocess.CompletedProcess[str]) -> set[str]:
    return {finding["code"] for finding in json.loads(done.stdout)} & {"ACME101", "ACME102", "ACME103"}


def test_the_guides_rules_pass_their_cases(guide: Path) -> None:
    done = lint(guide, "test-rules", "rules")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("8 cases passed.\n")
    one = lint(guide, "test-rules", "rules/acme/no_unwrap.yaml")
    assert one.stdout == "ACME102 no-unwrap: 2 cases\n2 cases passed.\n"
    assert lint(guide, "test-rules", "rules/acme", "-k", "helper").stdout.endswith("1 case passed.\n")


def test_a_case_that_fails_says_what_was_expected(guide: Path) -> None:
    path = guide / "rules/acme/no_empty_cache.yaml"
    path.write_text(
        path.read_text().replace("at: forget()", "at: _cdiv(m, cfg.BM)").replace("place: timed-region", "place: anywhere")
    )
    done = lint(guide, "test-rules", "rules")
    assert done.returncode == 1
    assert "no finding at '_cdiv(m, cfg.BM)' in row_scale.py" in done.stdout and "not expected: row_scale.py:" in done.stdout
    assert "6 cases passed, 2 failed." in done.stdout


def test_a_scaffold_fails_until_it_is_written(tmp_path: Path) -> None:
    for extra in ([], ["--pattern", "python"], ["--pattern", "rust"]):
        done = lint(tmp_path, "new-rule", f"my-rule-{extra[-1] if extra else 'plain'}", *extra)
        assert done.returncode == 0, done.stderr
    assert sorted(path.suffix for path in tmp_path.rglob("my_rule*")) == [".py", ".yaml", ".yaml", ".yaml"]
    done = lint(tmp_path, "test-rules", "rules")
    assert done.returncode == 1 and done.stdout.endswith("3 cases passed, 6 failed.\n"), done.stdout
    again = lint(tmp_path, "new-rule", "my-rule-plain")
    assert again.returncode == 2 and "a rule `my-rule-plain` is there already" in again.stderr
    for wrong in (["My_Rule"], ["a-rule", "--code", "x1"], ["fill-in-kernel-fn"], ["a-rule", "--code", "CTL101"]):
        assert lint(tmp_path, "new-rule", *wrong).returncode == 2


def test_project_rules_need_trust_or_a_given_configuration(op: Path) -> None:
    (op / "cutile-lint.toml").write_text('rule-paths = ["rules"]\n')
    found = lint(op, "ops", "--output-format", "json")
    assert codes(found) == set() and "`rule-paths` is not loaded without --trust-project-rules" in found.stderr
    assert codes(lint(op, "ops", "--output-format", "json", "--trust-project-rules")) == {"ACME101", "ACME102"}
    assert codes(lint(op, "ops", "--output-format", "json", "--config", "cutile-lint.toml")) == {"ACME101", "ACME102"}
    chosen = lint(op, "ops", "--output-format", "json", "--trust-project-rules", "--select", "no-unwrap")
    assert codes(chosen) == {"ACME102"}
    wrapper = op / "ops/row_scale_kernel/ffi.rs"
    wrapper.write_text(wrapper.read_text().replace(".grid((", "// cutile-lint: ignore[ACME102]\n.grid(("))
    assert codes(lint(op, "ops", "--output-format", "json", "--trust-project-rules")) == {"ACME101"}


def test_an_installed_package_is_found_by_its_entry_point(op: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(op / "rules", site / "acme_rules")
    (site / "acme_rules" / "__init__.py").write_text("")
    info = site / "acme_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[cutile_lint.rules]\nacme = acme_rules\n")
    assert codes(lint(op, "ops", "--output-format", "json")) == set()
    assert codes(lint(op, "ops", "--output-format", "json", path=site)) == {"ACME101", "ACME102"}
    assert "ACME103 many-slots" in lint(op, "rule", "--all", path=site).stdout
    assert "how many arguments are accepted" in lint(op, "rule", "ACME103", path=site).stdout
    (info / "entry_points.txt").write_text("[cutile_lint.rules]\nacme = gone_rules\n")
    broken = lint(op, "ops", "--select", "CTL1,ACME1", path=site)
    assert broken.returncode == 2 and "plugin `acme`: there is no package `gone_rules`" in broken.stderr


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("many_slots.py", "import nothing_like_this\n", "rule ACME103 cannot be loaded: ModuleNotFoundError: No module named"),
        ("many_slots.py", "x = (\n", "rule ACME103 cannot be loaded: SyntaxError"),
        ("many_slots.py", "import sys\nsys.exit(3)\n", "rule ACME103 cannot be loaded: SystemExit: 3"),
        (
            "many_slots.py",
            "def check(unit, options):\n    return 1 / 0\n",
            "rule ACME103 failed on `row_scale`: ZeroDivisionError",
        ),
        ("many_slots.py", "def check(unit, options):\n    return ['no finding']\n", "rule ACME103 failed on `row_scale`: "),
        ("many_slots.py", "def check(unit):\n    return []\n", "the rule has options, its function is `check(unit, options)`"),
        ("many_slots.yaml", "code: [\n", "many_slots.yaml: line 2, column 1: "),
        (
            "many_slots.yaml",
            "code: A\nwhat: `a`\n",
            "many_slots.yaml: line 2, column 7: found character that cannot start any token",
        ),
        ("many_slots.yaml", "code: CTL101\nname: many-slots\n", "many_slots.yaml: key `level` is missing"),
        ("no_unwrap.yaml", "pattern: {rust: '(nope) @finding', message: m}\n", "`pattern` key `rust` is no query for Rust: "),
        ("no_unwrap.yaml", "pattern: {rust: '(identifier) @x', message: m}\n", "captures no node as `@finding`"),
        ("no_unwrap.yaml", "pattern: {call: a, place: nowhere, message: m}\n", "`pattern` key `place` goes with `call`"),
        ("no_unwrap.yaml", "pattern: {call: a, mesage: m}\n", "`pattern` has an unknown key `mesage`"),
    ],
)
def test_a_broken_rule_is_named_after_the_findings(op: Path, name: str, text: str, told: str) -> None:
    (op / "cutile-lint.toml").write_text('rule-paths = ["rules"]\n')
    path = op / "rules" / "acme" / name
    if text.startswith("pattern:"):
        text = re.sub(r"^pattern:.*?(?=^valid:)", lambda _: text, path.read_text(), flags=re.MULTILINE | re.DOTALL)
    path.write_text(text)
    wrapper = op / "ops" / "row_scale.py"
    wrapper.write_text(
        wrapper.read_text().replace("if x.requires_grad:\n        x = x.detach()", "if x.requires_grad:\n        pass")
    )
    done = lint(op, "ops", "--trust-project-rules", "--output-format", "concise", "--exit-zero")
    assert done.returncode == 2 and told in done.stderr and name.partition(".")[0] in done.stderr, done.stderr
    assert "[CTL3" in done.stdout and "Traceback" not in done.stderr


def test_codes_that_are_taken_are_refused(op: Path) -> None:
    (op / "cutile-lint.toml").write_text('rule-paths = ["rules"]\n')
    path = op / "rules" / "acme" / "no_unwrap.yaml"
    path.write_text(path.read_text().replace("ACME102", "CTL101"))
    done = lint(op, "ops", "--trust-project-rules")
    assert done.returncode == 2 and "a rule `CTL101` is there already: cutile-lint's own" in done.stderr
