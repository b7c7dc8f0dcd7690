"""What is shipped: the sdist builds the wheel, and the wheel works in an empty environment away from the source."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import cutile_lint

ROOT = Path(__file__).resolve().parents[2]


def run(command: Sequence[str | Path], cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP", "VIRTUAL_ENV"))}
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env={**clean, **env}, capture_output=True, text=True, timeout=300
    )


def succeed(command: Sequence[str | Path], cwd: Path, **env: str) -> str:
    done = run(command, cwd, **env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass
class Built:
    sdist: Path
    wheel: Path
    #: the sdist, unpacked
    source: Path

    def sdist_names(self) -> set[str]:
        with tarfile.open(self.sdist) as archive:
            return {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}

    def wheel_names(self) -> set[str]:
        with zipfile.ZipFile(self.wheel) as archive:
            return set(archive.namelist())

    def metadata(self) -> str:
        with zipfile.ZipFile(self.wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            return archive.read(name).decode("utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The sdist, and the wheel built from nothing but the sdist."""
    out = tmp_path_factory.mktemp("dist")
    succeed([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", out], ROOT)
    (sdist,) = out.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(out / "src", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (source,) = (out / "src").iterdir()
    succeed([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out], source)
    (wheel,) = out.glob("*.whl")
    return Built(sdist, wheel, source)


@dataclass
class Installed:
    """An environment with the wheel in it; its dependencies are those of the environment that runs the tests."""

    python: Path
    script: Path
    folder: Path


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    home = tmp_path_factory.mktemp("empty")
    venv.create(home / "venv", with_pip=False)
    scripts = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    succeed([*pip, "--disable-pip-version-check", built.wheel], home)
    site = Path(succeed([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], home).strip())
    # a path line, so that the .pth file of an editable install over there is not read
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "zz_dependencies.pth").write_text("\n".join(sorted(paths)) + "\n", encoding="utf-8")
    return Installed(python, scripts / "cutile-lint", home)


def test_the_wheel_holds_the_package_with_rules_bases_and_index(built: Built) -> None:
    names = built.wheel_names()
    for path in [*(ROOT / "cutile_lint").rglob("*.py"), *(ROOT / "rules").rglob("*")]:
        if not path.is_file() or "__pycache__" in path.parts or path == ROOT / "cutile_lint" / "_rules" / "__init__.py":
            continue
        name = path.relative_to(ROOT).as_posix()
        name = f"cutile_lint/_{name}" if name.startswith("rules/") else name
        assert name in names
    assert {"cutile_lint/py.typed", "cutile_lint/config/schema.json"} <= names
    assert {"cutile_lint/_rules/__init__.py", "cutile_lint/_rules_index.json"} <= names
    assert {name.split("/", 1)[0] for name in names} == {"cutile_lint", f"cutile_lint-{cutile_lint.__version__}.dist-info"}
    assert not [name for name in names if "__pycache__" in name or name.endswith(".tmp")]


def test_the_sdist_holds_what_is_needed_to_build_and_test(built: Built) -> None:
    names = built.sdist_names()
    assert {"LICENSE", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "pyproject.toml", "hatch_build.py"} <= names
    assert {".pre-commit-hooks.yaml", ".ci/run", "rules/__init__.py", "docs/rule-format.md"} <= names
    assert {"cutile_lint/_rules/__init__.py", "tests/packaging/test_distribution.py"} <= names
    assert not [name for name in names if "_rules_index.json" in name or name.startswith((".ci/venv", ".git/"))]


def test_the_metadata_says_licence_version_and_readme(built: Built) -> None:
    metadata = built.metadata()
    assert f"Version: {cutile_lint.__version__}\n" in metadata
    assert "License-Expression: MIT\n" in metadata
    assert "License-File: LICENSE\n" in metadata
    assert "Description-Content-Type: text/markdown\n" in metadata
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in built.wheel_names())
    assert "Provides-Extra: test\n" in metadata and "Provides-Extra: watch\n" in metadata
    assert "Classifier: Typing :: Typed\n" in metadata
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert not [line for line in needed if any(name in line for name in ("watchfiles", "pytest", "jsonschema", "pre-commit"))]


def test_the_version_is_said_once_and_the_changelog_speaks_of_it() -> None:
    import re

    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in text and f'"{cutile_lint.__version__}"' not in text
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] in ("Unreleased", cutile_lint.__version__)
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", cutile_lint.__version__)


def test_the_index_in_the_wheel_is_that_of_the_rules(built: Built) -> None:
    from cutile_lint.engine.rule_index import build_index

    with zipfile.ZipFile(built.wheel) as archive:
        shipped = json.loads(archive.read("cutile_lint/_rules_index.json"))
    assert shipped["frozen"] is True
    assert shipped == build_index(ROOT / "rules", frozen=True)


LOOK = """
import json, sys, cutile_lint
from cutile_lint.engine.cases import load_base
from cutile_lint.engine.registry import load_rules
for info in load_rules():
    info.coded and info.load()
load_base("row_scale")
print(json.dumps([cutile_lint.__file__, [i.code for i in load_rules()], [n for n in sys.modules if n.startswith("rules")]]))
"""


@pytest.mark.parametrize("way", ["wheel", "unpacked source"])
def test_the_rules_are_found_and_loaded(way: str, built: Built, installed: Installed) -> None:
    from cutile_lint.engine.registry import load_rules

    python, folder = (installed.python, installed.folder) if way == "wheel" else (sys.executable, built.source)
    place, codes, stray = json.loads(succeed([python, "-c", LOOK], folder))
    assert Path(place).is_relative_to(folder)
    assert codes == [info.code for info in load_rules()]
    assert stray == []


def test_the_console_script_tells_its_version(installed: Installed) -> None:
    assert cutile_lint.__version__ in succeed([installed.script, "--version"], installed.folder)


def test_the_installed_package_has_its_api_commands_and_schema(installed: Installed) -> None:
    code = "import cutile_lint, json; print(json.dumps([item.code for item in cutile_lint.check(['op'])]))"
    op = shutil.copytree(ROOT / "rules" / "bases" / "row_scale", installed.folder / "op")
    wrapper = Path(op) / "row_scale.py"
    wrapper.write_text(
        wrapper.read_text(encoding="utf-8").replace("torch.empty_like(x)\n        grid", "torch.zeros_like(x)\n        grid")
    )
    assert json.loads(succeed([installed.python, "-c", code], installed.folder)) == ["CTL101"]
    assert json.loads(succeed([installed.script, "config", "--schema"], installed.folder))["title"] == "cutile-lint"
    assert "complete -o filenames" in succeed([installed.script, "completion", "bash"], installed.folder)
    succeed([installed.script, "new-rule", "a-rule"], installed.folder)
    tested = run([installed.script, "test-rules", "rules"], installed.folder)
    assert tested.returncode == 1 and "1 case passed, 2 failed." in tested.stdout, tested.stdout + tested.stderr


def test_the_main_job_runs_on_a_copy_of_the_examples(installed: Installed) -> None:
    tree = installed.folder / "faulty"
    shutil.copytree(ROOT / "examples" / "faulty", tree)
    done = run([installed.script, "--output-format", "json", tree], installed.folder)
    findings = json.loads(done.stdout)
    assert done.returncode == 1, done.stderr
    assert {"CTL1", "CTL2", "CTL3", "CTL4"} <= {finding["code"][:4] for finding in findings}
    assert all(Path(finding["filename"]).is_relative_to(tree) for finding in findings)


def test_ci_installs_with_the_command_of_the_readme() -> None:
    command = "pip install -e '.[test]'"
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert command.replace("install", "install --quiet") in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_hooks_call_the_console_script() -> None:
    import yaml

    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [(hook["id"], hook["entry"], hook["require_serial"]) for hook in hooks] == [
        ("cutile-lint", "cutile-lint", True),
        ("cutile-lint-fix", "cutile-lint --fix", True),
    ]
