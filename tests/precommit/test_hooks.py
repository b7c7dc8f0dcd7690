"""The hooks, run by the real pre-commit in a scratch repository, and what a run on one changed file says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: what an installation from the repository needs
SHIPPED = ("cutile_lint", "rules", "hatch_build.py", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
FAULT = ("y = torch.empty_like(x)\n", "y = torch.zeros_like(x)\n")


def environment(home: Path) -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT", "PYTHON", "VIRTUAL_ENV"))
    }
    name = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(home),
        "PRE_COMMIT_COLOR": "never",
    }
    who = {f"GIT_{role}_{part}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    return {**kept, **name, **who}


class Repository:
    """A git repository in a folder of its own."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.environment = folder, environment(home)
        self.git("init", "--quiet", "--initial-branch", "main")

    def run(self, *command: str | Path, ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(part) for part in command], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600
        )
        assert not ok or done.returncode == 0, done.stdout + done.stderr
        return done

    def git(self, *arguments: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run("git", *arguments, ok=ok)

    def pre_commit(self, *arguments: str | Path, ok: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "pre_commit", *arguments, ok=ok)

    def commit(self, message: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        self.git("add", "--all")
        return self.git("commit", "--quiet", "-m", message, ok=ok)

    def head(self) -> str:
        return self.git("log", "-1", "--format=%s").stdout.strip()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environments that it makes."""
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture(scope="module")
def linter(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Repository:
    """The checkout as it is now, as a repository that pre-commit can clone."""
    folder = tmp_path_factory.mktemp("cutile-lint")
    leave = shutil.ignore_patterns("__pycache__", "_rules_index*")
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=leave)
        else:
            shutil.copy(source, folder / name)
    made = Repository(folder, home)
    made.commit("now")
    return made


@pytest.fixture
def op(tmp_path: Path) -> Path:
    """A clean op."""
    (tmp_path / ".git").mkdir()  # nothing around it is looked at
    return Path(shutil.copytree(ROOT / "rules" / "bases" / "row_scale", tmp_path / "ops"))


def test_a_faulty_commit_is_refused_mended_and_passes(linter: Repository, home: Path, op: Path) -> None:
    project = Repository(op, home)
    revision = linter.git("rev-parse", "HEAD").stdout.strip()
    hooks = f"repos:\n- repo: {linter.folder}\n  rev: {revision}\n  hooks:\n  - id: cutile-lint-fix\n  - id: cutile-lint\n"
    (op / ".pre-commit-config.yaml").write_text(hooks)
    wrapper = op / "row_scale.py"
    clean = wrapper.read_text()
    project.commit("the op")
    project.pre_commit("install")

    wrapper.write_text(clean.replace(*FAULT))
    tried = project.pre_commit("try-repo", linter.folder, "cutile-lint", "--files", "row_scale.py", ok=False)
    assert tried.returncode == 1 and "error[CTL101]" in tried.stdout and "--> row_scale.py:" in tried.stdout

    refused = project.commit("faulty", ok=False)
    assert refused.returncode == 1 and project.head() == "the op"
    assert "files were modified by this hook" in refused.stdout + refused.stderr
    assert wrapper.read_text() == clean

    wrapper.write_text(clean + "# mended\n")
    project.commit("mended")
    assert project.head() == "mended"

    wrapper.write_text(clean.replace(*FAULT) + "# by hand\n")
    project.git("add", "--all")
    project.pre_commit("run", "cutile-lint", ok=False)
    (op / ".pre-commit-config.yaml").write_text(hooks.replace("  - id: cutile-lint-fix\n", ""))
    assert "CTL101" in project.commit("faulty again", ok=False).stderr
    assert project.head() == "mended"
    (op / "notes.md").write_text("text\n")
    wrapper.write_text(clean)
    project.commit("notes")
    assert project.head() == "notes"


# ── one changed file ───────────────────────────────────────────────────────


def lint(folder: Path, *arguments: str) -> tuple[int, list[dict[str, object]], str]:
    command = [sys.executable, "-m", "cutile_lint.cli.main", "--no-cache", "--output-format", "json", *arguments]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120
    )
    return done.returncode, json.loads(done.stdout or "[]"), done.stderr


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, path
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    "changed",
    ["row_scale.py", "row_scale_kernel/ffi.rs", "row_scale_kernel/kernel.rs", "ffi_util.rs", "cutile_kernels/Cargo.toml"],
)
def test_one_changed_file_brings_its_partners(op: Path, changed: str) -> None:
    replace(op / "row_scale.py", *FAULT)
    replace(op / "ffi_util.rs", "if $occupancy > 0", "if true")
    status, findings, errors = lint(op, changed)
    found = {(Path(str(item["filename"])).name, item["code"]) for item in findings}
    assert (status, errors) == (1, "")
    assert {("row_scale.py", "CTL101"), ("ffi_util.rs", "CTL204")} <= found


@pytest.mark.parametrize("changed", ["ffi.rs", "reference/analysis.json", "reference/reference_direct.mlir"])
def test_a_changed_file_of_a_pipeline_brings_the_op_elsewhere_in_the_repository(tmp_path: Path, changed: str) -> None:
    tree = Path(shutil.copytree(ROOT / "examples" / "faulty" / "tilegym", tmp_path / "tilegym"))
    (tree / ".git").mkdir()
    status, findings, errors = lint(tree, f"kernel_out/batched_product/{changed}")
    assert (status, errors) == (1, "")
    assert {"batched_product.py", "ffi.rs"} <= {Path(str(item["filename"])).name for item in findings}


def test_excludes_hold_for_files_passed_by_name_and_for_partners(op: Path) -> None:
    replace(op / "row_scale.py", *FAULT)
    (op / "cutile-lint.toml").write_text('exclude = ["row_scale.py"]\n')
    assert lint(op, "row_scale.py") == (0, [], "")
    assert lint(op, "row_scale_kernel/ffi.rs") == (0, [], "")


def test_a_file_outside_any_op_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "tool.py").write_text("import os\n" * 100)
    (tmp_path / "main.rs").write_text("fn main() {}\n" * 100)
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "other"\n')
    code = (
        "import sys; from cutile_lint.cli.main import main; status = main(['--no-cache', 'tool.py', 'main.rs', 'Cargo.toml']);"
        "assert not {'tree_sitter', 'libcst', 'yaml', 'pycparser'} & set(sys.modules), sys.modules.keys(); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "All checks passed.\n", "")
