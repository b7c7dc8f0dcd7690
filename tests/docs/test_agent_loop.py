"""The loop of docs/agents.md, with agents that do their work, do nothing, or fail; and the shape of a finding shown there."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOOP = ROOT / "docs" / "scripts" / "fix_until_clean.py"

#: deletes the row of each finding, and writes down what it was asked
DELETES_ROWS = """\
import json, pathlib, sys
task = json.load(sys.stdin)
log = pathlib.Path("asked.jsonl")
log.write_text((log.read_text() if log.exists() else "") + json.dumps(task) + "\\n")
for item in task["findings"]:
    path = pathlib.Path(item["filename"])
    rows = path.read_text().split("\\n")
    del rows[item["location"]["row"] - 1]
    path.write_text("\\n".join(rows))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An op with one fault that is fixed safely and one that is mended by hand."""
    folder = tmp_path / "project ü"
    folder.mkdir()
    (folder / ".git").mkdir()
    shutil.copytree(ROOT / "rules" / "bases" / "row_scale", folder / "ops")
    wrapper = folder / "ops" / "row_scale.py"
    text = wrapper.read_text(encoding="utf-8")
    old = "        y = torch.empty_like(x)\n"
    assert text.count(old) == 1
    new = "        y = torch.zeros_like(x)\n        torch.cuda.synchronize()\n"
    wrapper.write_text(text.replace(old, new), encoding="utf-8")
    return folder


@pytest.fixture
def run(tmp_path: Path, project: Path):
    """``run(agent, *arguments)`` runs the loop over ``ops`` with an agent in Python, in the project's folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "cutile-lint"
    command.write_text(f"#!{sys.executable}\nimport sys\nfrom cutile_lint.cli.main import main\nsys.exit(main())\n")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}

    def start(agent: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "agent.py"
        script.write_text(agent, encoding="utf-8")
        words = [sys.executable, str(LOOP), *(arguments or ("ops",)), "--", sys.executable, str(script)]
        return subprocess.run(words, capture_output=True, encoding="utf-8", cwd=project, env=environment, timeout=300)

    return start


def asked(project: Path) -> list[dict]:
    log = project / "asked.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_it_ends_clean_with_an_agent_that_does_its_work(run, project: Path) -> None:
    done = run(DELETES_ROWS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (task,) = asked(project)
    assert {item["code"] for item in task["findings"]} == {"CTL107"}  # the other one was fixed before
    assert (task["round"], task["paths"]) == (1, ["ops"])
    assert task["rules"]["CTL107"].startswith("CTL107 ")
    assert (project / "ops" / "row_scale.py").read_text() == (ROOT / "rules" / "bases" / "row_scale" / "row_scale.py").read_text()
    assert run("raise SystemExit('not needed')").returncode == 0  # what is clean costs no agent


def test_it_stops_when_an_agent_makes_no_headway(run, project: Path) -> None:
    done = run("open('asked', 'a').write('x')", "--rounds", "5", "ops")
    assert done.returncode == 1
    assert re.search(r"row_scale\.py:\d+:\d+: CTL107 ", done.stdout)
    assert (project / "asked").read_text() == "x"


def test_it_stops_when_the_rounds_are_used_up(run, project: Path) -> None:
    # each round moves the fault into another call, so that its message is another one
    agent = """\
import itertools, pathlib
path = pathlib.Path("ops/row_scale.py")
ways = ["torch.cuda.synchronize()", "print(x.sum().item())", "torch.cuda.current_stream().synchronize()"]
text = path.read_text()
old = next(way for way in ways if way in text)
path.write_text(text.replace(old, ways[ways.index(old) + 1]))
"""
    done = run(agent, "--rounds", "2", "ops")
    assert done.returncode == 1 and "torch.cuda.current_stream" in (project / "ops" / "row_scale.py").read_text(), done.stderr


def test_a_failing_agent_and_a_wrong_configuration_end_it(run, project: Path) -> None:
    done = run("raise SystemExit(3)")
    assert done.returncode == 2 and "failed in round 1" in done.stderr
    (project / "cutile-lint.toml").write_text("selct = []\n")
    done = run(DELETES_ROWS)
    assert done.returncode == 2 and "did you mean `select`?" in done.stderr and not asked(project)
    assert run(DELETES_ROWS, "nowhere").returncode == 2


def test_it_says_how_it_is_called() -> None:
    done = subprocess.run([sys.executable, str(LOOP), "ops"], capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 2 and "an agent is missing" in done.stderr


def test_findings_have_the_shape_that_the_page_shows(project: Path) -> None:
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    command = [sys.executable, "-m", "cutile_lint.cli.main", "--no-cache", "--output-format", "json", str(project)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, timeout=120)
    (found,) = [item for item in json.loads(done.stdout) if item["code"] == "CTL101"]
    assert shape(found) == shape(json.loads(block))


def shape(value: object) -> object:
    """Keys in order and kinds of values; of a list its first item."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value[:1]] if isinstance(value, list) else type(value)
