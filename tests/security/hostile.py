"""A tree that means harm: an op with a fault, and around it everything that a careless program would run or follow."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from cutile_lint.engine.cases import load_base
from cutile_lint.records import dataclass

PROGRAM = Path(sys.executable).with_name("cutile-lint")
#: modules that something of ours, or of what we use, imports late
SHADOWED = (
    "json",
    "sources",
    "rules",
    "ruff",
    "libcst",
    "yaml",
    "hashlib",
    "pickle",
    "difflib",
    "pycparser",
    "tree_sitter",
    "encodings",
)
FORMATS = ("full", "concise", "json", "json-lines", "sarif", "github", "gitlab", "markdown")


@dataclass(slots=True)
class Tree:
    """``root`` is checked, ``outside`` is not part of it; ``trace`` comes to be when something of the tree is run."""

    root: Path
    outside: Path
    trace: Path
    home: Path

    def run(
        self, *arguments: str, command: Sequence[str] = (str(PROGRAM),), stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "XDG_", "COLUMNS", "FORCE_"))
        }
        environment["HOME"] = str(self.home)
        return subprocess.run(
            [*command, *arguments], cwd=self.root, env=environment, capture_output=True, input=stdin, timeout=120
        )

    def write(self, path: str, text: str, executable: bool = False) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if executable:
            file.chmod(0o755)
        return file

    @property
    def wrapper(self) -> Path:
        return next(path for path in sorted(self.root.rglob("*.py")) if b"autotune_launch(" in path.read_bytes())

    def all_outside(self) -> dict[str, bytes]:
        """Every file outside of the tree (the user's own cache folder aside), with its content."""
        files = [path for folder in (self.outside, self.home) for path in sorted(folder.rglob("*")) if path.is_file()]
        return {str(path): path.read_bytes() for path in files if self.home / ".cache" / "cutile-lint" not in path.parents}


def make_tree(folder: Path) -> Tree:
    tree = Tree(folder / "tree", folder / "outside", folder / "ran", folder / "home")
    for path, text in load_base("row_scale").items():
        tree.write(f"src/{path}", text)
    (tree.root / ".git").mkdir()
    tree.outside.mkdir()
    tree.home.mkdir()
    (tree.outside / "secret.txt").write_text("secret\n")
    return tree


def booby_trap(tree: Tree) -> None:
    """Code that leaves a trace wherever a program may pick it up."""
    code = f"open({str(tree.trace)!r}, 'a').write(__name__ + chr(10))\n"
    for name in ("conftest", "sitecustomize", "usercustomize", "setup", "noxfile", *SHADOWED):
        tree.write(f"{name}.py", code)
    for name in ("cutile_lint_rules", "plugins"):
        tree.write(f"{name}/__init__.py", code)
    for path in tree.root.rglob("*.py"):
        if "autotune_launch(" in path.read_text():
            path.write_text(path.read_text() + "\n" + code)
    tree.write("rules/own/mine.py", code + "def check(unit):\n    return []\n")
    tree.write("rules/own/mine.yaml", RULE)
    tree.write("evil-1.0.dist-info/entry_points.txt", "[cutile_lint.rules]\nevil = evil\n")
    tree.write("evil-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    tree.write("evil/__init__.py", code)
    script = f"#!/bin/sh\ntouch {tree.trace}\n"
    for path in (
        "ruff",
        "git",
        "bin/ruff",
        ".venv/bin/ruff",
        ".git/hooks/post-checkout",
        ".git/hooks/pre-commit",
        ".git/fsmonitor",
    ):
        tree.write(path, script, executable=True)
    tree.write(".git/config", f"[core]\n\tfsmonitor = {tree.root}/.git/fsmonitor\n\thooksPath = .git/hooks\n")
    tree.write("pyproject.toml", '[tool.cutile-lint]\nrule-paths = ["rules", "plugins"]\n[tool.ruff]\nline-length = 100\n')


RULE = "code: OWN001\nname: mine\nlevel: error\nfix: manual\nlayer: wrapper\nsummary: mine\nwhat: mine\nwhy: mine\n"
