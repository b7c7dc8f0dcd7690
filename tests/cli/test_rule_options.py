"""Options of rules: set in the configuration, refused with a reason, shown, part of what a result rests on, open to plugins."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULE = """\
code: ACME1{number}
name: {name}
level: error
fix: manual
layer: wrapper
summary: Calls that are unwanted
what: Reports calls.
why: They cost time.
example: |
  ```python
  torch.cuda.empty_cache()
  ```
fix_safety: Manual.
leaves_alone: [other calls]
options:
  calls: {{type: strings, default: [torch.cuda.empty_cache], description: names of calls}}
{rest}valid:
  - name: nothing
    base: row_scale
  - name: none-are-unwanted
    base: row_scale
    options: {{rules: {{ACME1{number}: {{calls: []}}}}}}
    edits: &edits
      row_scale.py:
        - ["        y = torch.empty_like(x)\\n", "        y = torch.empty_like(x)\\n        torch.cuda.empty_cache()\\n"]
invalid:
  - name: the-default
    base: row_scale
    edits: *edits
    findings:
      - at: torch.cuda.empty_cache()
  - name: another
    base: row_scale
    edits: *edits
    options: {{rules: {{{name}: {{calls: [torch.empty_like]}}}}}}
    findings:
      - at: y = «torch.empty_like(x)»
"""
PATTERN = "pattern: {call: {option: calls}, place: timed-region, message: '`{call}` is unwanted'}\n"
CODE = """\
from cutile_lint.findings import Finding


def check(unit, options):
    for run in unit.runs:
        for event in run.trace.events:
            if event.kind == "call" and event.name in options["calls"] and event.timed:
                yield Finding(event.place, f"`{event.name}` is unwanted")
"""


def lint(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    command = [sys.executable, "-m", "cutile_lint.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


def codes(*arguments: str) -> list[str]:
    done = lint(*arguments, "--output-format", "json")
    assert not done.stderr or "not loaded" in done.stderr, done.stderr
    return [finding["code"] for finding in json.loads(done.stdout)]


@pytest.fixture
def op(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clean op, but for a crate that comes from a path and may have any version."""
    (tmp_path / ".git").mkdir()
    shutil.copytree(ROOT / "rules" / "bases" / "row_scale", tmp_path / "op")
    manifest = tmp_path / "op" / "cutile_kernels" / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace('cutile = "=0.2.0"', 'cutile = { path = "../cutile" }\nhelper = "1"'))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_change_of_an_option_is_seen_though_results_are_kept(op: Path) -> None:
    file = op / "cutile-lint.toml"
    file.write_text("")
    assert codes("op") == codes("op") == ["CTL515"]
    file.write_text("[rules.CTL515]\nallow-path = true\n")
    assert codes("op") == codes("op") == []
    file.write_text('[rules.unpinned-cargo-dependency]\nallow-path = true\ncrates = ["helper", "cutile"]\n')
    assert codes("op") == codes("op") == ["CTL515"]


def test_extending_adds_options_and_config_says_where_each_comes_from(op: Path) -> None:
    (op / "base.toml").write_text('[rules.CTL515]\nallow-path = true\ncrates = ["a"]\n[rules.CTL620]\ntolerance = 1\n')
    (op / "op" / "cutile-lint.toml").write_text('extend = "../base.toml"\n[rules.CTL515]\ncrates = ["cutile"]\n')
    assert codes("op") == []
    lines = lint("config", "op").stdout.splitlines()
    assert 'rules.CTL515.crates = ["cutile"]  # op/cutile-lint.toml' in lines
    assert "rules.CTL515.allow-path = true  # base.toml" in lines and "rules.CTL620.tolerance = 1  # base.toml" in lines
    assert "rules.CTL802.tolerance-factor = 1.0  # default" in lines
    told = json.loads(lint("config", "op", "--output-format", "json").stdout)["settings"]
    assert told["rules.CTL620.tolerance"] == {"value": 1, "origin": str(op / "base.toml")}
    (op / "base.toml").write_text("[rules.CTL620]\ntolerance = -1\n")
    for command in (["op"], ["config", "op"], ["checklist", "op"], ["flow", "op"]):
        done = lint(*command)
        assert done.returncode == 2
        assert f"{op / 'base.toml'}: key `rules.CTL620.tolerance` takes an integer from 0, not `-1`" in done.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("CTL620.tolerence = 1", "`rules.CTL620.tolerence`: CTL620 (latency-differs) has no option `tolerence`; did you mean `tolerance`?"),
        ("CTL620.x = 1", "CTL620 (latency-differs) has no option `x`; it has `tolerance`"),
        ("CTL101.x = 1", "`rules.CTL101.x`: CTL101 (fill-in-kernel-fn) has no options"),
        ("CTL620.tolerance = true", "key `rules.CTL620.tolerance` takes an integer from 0, not `True`"),
        ("CTL802.tolerance-factor = nan", "key `rules.CTL802.tolerance-factor` takes a number from 1, not `nan`"),
        ('CTL208.ignore-fields = "BM"', "key `rules.CTL208.ignore-fields` takes a list of strings, not `'BM'`"),
        ('CTL509.allow = ["unwrapp"]', "not `['unwrapp']`; did you mean `unwrap`?"),
        ("latency-difers.tolerance = 1", "there is no rule `latency-difers`; did you mean `latency-differs`?"),
        ("CTL6.tolerance = 1", "key `rules` has the entry `CTL6`, which is neither the code of one rule"),
        ("CTL620 = 1", "key `rules` entry `CTL620` takes a table, not `1`"),
        ("CTL620.tolerance = 1\nlatency-differs.tolerance = 1", "`rules.CTL620` and `rules.latency-differs` are the same rule"),
    ],
)  # fmt: skip
def test_wrong_options_end_the_run_with_a_reason(op: Path, text: str, told: str) -> None:
    file = op / "pyproject.toml"
    file.write_text(f"[tool.cutile-lint.rules]\n{text}\n")
    done = lint("op")
    assert done.returncode == 2 and f"error: {file}: " in done.stderr and told in done.stderr, done.stderr


def test_rules_of_ones_own_have_options(op: Path) -> None:
    folder = op / "rules" / "acme"
    folder.mkdir(parents=True)
    (folder / "with_pattern.yaml").write_text(RULE.format(number="01", name="with-pattern", rest=PATTERN))
    (folder / "with_code.yaml").write_text(RULE.format(number="02", name="with-code", rest=""))
    (folder / "with_code.py").write_text(CODE)
    cases = lint("test-rules", "rules")
    assert cases.returncode == 0 and cases.stdout.endswith("8 cases passed.\n"), cases.stdout + cases.stderr
    text = 'rule-paths = ["rules"]\nignore = ["CTL515"]\nextend-select = ["ACME102"]\n'
    (op / "cutile-lint.toml").write_text(text + '[rules.ACME101]\ncalls = ["torch.empty*"]\n[rules.with-code]\ncalls = []\n')
    assert codes("op", "--trust-project-rules") == ["ACME101"]
    assert "names of calls" in lint("rule", "ACME101").stdout  # reading a page runs nothing
    assert codes("op") == []  # what is not loaded may well have these options, and these codes
    assert 'rules.ACME101.calls = ["torch.empty*"]  # cutile-lint.toml' in lint("config", "--trust-project-rules").stdout
    assert 'rules.ACME101."calls" = ["torch.empty*"]  # cutile-lint.toml' in lint("config").stdout
    known = json.loads(lint("config", "--schema", "--trust-project-rules").stdout)["properties"]["rules"]["properties"]
    assert known["ACME102"]["properties"]["calls"]["default"] == ["torch.cuda.empty_cache"]
    (op / "cutile-lint.toml").write_text(text + "[rules.ACME101]\ncall = []\n")
    done = lint("op", "--trust-project-rules")
    assert done.returncode == 2 and "ACME101 (with-pattern) has no option `call`; did you mean `calls`?" in done.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("[a]", "`options` must be a mapping"),
        ("{A: {type: string, default: a, description: b}}", "has `A`, which is no name"),
        ("{a: {type: text, default: a, description: b}}", "entry `a` has the type `text`; one of boolean, integer,"),
        ("{a: {type: string, description: b}}", "entry `a` lacks the key `default`"),
        ("{a: {type: integer, default: b, description: b}}", "entry `a` has a `default` that does not fit: it takes an integer, not `'b'`"),
        ("{a: {type: string, default: a, description: b, choices: [c]}}", "does not fit: it takes a string, one of `c`, not `'a'`"),
        ("{a: {type: string, default: a, description: b, minimum: 1}}", "may have a number as `minimum` if"),
        ("{a: {type: string, default: a, description: b, help: c}}", "entry `a` has an unknown key `help`"),
        ("{b: {type: strings, default: [], description: b}}", "makes nothing of the option `b`"),
    ],
)  # fmt: skip
def test_options_that_are_wrongly_declared_are_explained(op: Path, options: str, told: str) -> None:
    path = op / "rules" / "acme" / "with_pattern.yaml"
    path.parent.mkdir(parents=True)
    text = RULE.format(number="01", name="with-pattern", rest=PATTERN)
    declared = "  calls: {type: strings, default: [torch.cuda.empty_cache], description: names of calls}\n"
    assert declared in text
    path.write_text(text.replace(f"options:\n{declared}", f"options: {options}\n"))
    done = lint("test-rules", "rules")
    assert done.returncode == 2 and "with_pattern.yaml: " in done.stderr and told in done.stderr, done.stderr
