"""Which files a command line means."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cutile_lint.sources.discovery import discover
from cutile_lint.sources.ignore import Patterns


def _tree(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def _found(root: Path, *args: object, **kwargs: object) -> list[str]:
    return [path.relative_to(root).as_posix() for path in discover([root], *args, **kwargs).files]  # type: ignore[arg-type]


def test_folders_give_the_files_of_ops_and_nothing_else(tmp_path: Path) -> None:
    _tree(tmp_path, "b/kernel.rs", "a.py", "a.txt", "ref/analysis.json", "ref/other.json", "Cargo.toml", "gen/x.mlir")
    _tree(
        tmp_path, ".git/hook.py", "target/debug/build.rs", ".venv/lib/m.py", "node_modules/m/x.py", "__pycache__/a.py", ".#a.py"
    )
    assert _found(tmp_path) == ["Cargo.toml", "a.py", "b/kernel.rs", "gen/x.mlir", "ref/analysis.json"]


def test_the_current_folder_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _tree(tmp_path, "a.py")
    monkeypatch.chdir(tmp_path)
    assert discover([]).files == [tmp_path / "a.py"]


def test_a_file_given_twice_is_found_once_and_a_missing_one_is_told(tmp_path: Path) -> None:
    _tree(tmp_path, "a.py", "notes.md")
    result = discover([tmp_path, tmp_path / "a.py", tmp_path / "." / "a.py", tmp_path / "gone.py", tmp_path / "notes.md"])
    assert result.files == [tmp_path / "a.py"]
    assert result.missing == {str(tmp_path / "gone.py"): "no such file or directory"}


def test_a_folder_that_cannot_be_listed_is_told_unless_excluded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _tree(tmp_path, "a.py", "secret/b.py", "gone/c.py", ".git/HEAD", "made/d.py")
    (tmp_path / ".gitignore").write_text("made/\n")
    errors = {"secret": PermissionError(13, "Permission denied"), "gone": FileNotFoundError(2, "No such file")}
    errors["made"] = errors["secret"]
    scandir = os.scandir

    def listed(folder: str) -> object:
        if error := errors.get(os.path.basename(folder)):
            raise error
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", listed)
    result = discover([tmp_path])
    assert result.files == [tmp_path / "a.py"]
    assert result.unlisted == {tmp_path / "secret": "Permission denied"}
    assert discover([tmp_path], lambda folder: lambda path, is_dir: path.endswith("secret")).unlisted == {}


def test_gitignore_holds_in_folders_not_for_names(tmp_path: Path) -> None:
    _tree(tmp_path, ".git/HEAD", "gen/a.py", "keep/gen/b.py", "out.py", "keep/out.py", "keep/deep/out.py")
    (tmp_path / ".gitignore").write_text("# made\n/gen/\nout.py\n")
    (tmp_path / "keep" / ".gitignore").write_text("!out.py\n")
    assert _found(tmp_path) == ["keep/deep/out.py", "keep/gen/b.py", "keep/out.py"]
    assert [path.name for path in discover([tmp_path / "out.py"]).files] == ["out.py"]
    assert discover([tmp_path / "keep" / "gen"]).files == [tmp_path / "keep" / "gen" / "b.py"]
    (tmp_path / "sub").mkdir()
    _tree(tmp_path, "sub/out.py", "sub/in.py")
    assert discover([tmp_path / "sub"]).files == [tmp_path / "sub" / "in.py"]


def test_excludes_hold_for_names_too(tmp_path: Path) -> None:
    _tree(tmp_path, "a.py", "skip/b.py")
    patterns = Patterns(["skip/"])

    def excluded(path: str, is_dir: bool) -> bool:
        return patterns.covers(os.path.relpath(path, tmp_path), is_dir)

    assert _found(tmp_path, lambda folder: excluded) == ["a.py"]
    named = discover([tmp_path / "skip" / "b.py"], lambda folder: excluded)
    assert named.files == [] and named.excluded == [tmp_path / "skip" / "b.py"]


def test_links_to_folders_are_not_followed_links_to_files_are(tmp_path: Path) -> None:
    _tree(tmp_path, "real/a.py")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "real" / "up").symlink_to("..")
    (tmp_path / "link.py").symlink_to(tmp_path / "real" / "a.py")
    (tmp_path / "dangling.py").symlink_to(tmp_path / "nothing")
    assert _found(tmp_path) == ["link.py", "real/a.py"]


NAMES = ["a", "b.py", "a.py", "ab", "x y", "[a]", "#a", "!b"]  # ASCII: for git a `?` is a byte, for us a character
PIECES = st.sampled_from(
    ["a", "b", "*", "**", "?", "/", "/", ".py", "[ab]", "[!a]", "[a-c]", "\\", "!", "#", " ", "x", "é", "[", "]"]
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(lines=["[\\a]"])
@example(lines=["[\\]b]", "[!\\-a]*", "[\\\\-b]"])
@given(lines=st.lists(st.lists(PIECES, min_size=1, max_size=5).map("".join), min_size=1, max_size=6))
def test_patterns_mean_what_git_says(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    root = tmp_path_factory.getbasetemp() / "repository"
    if not root.exists():
        root.mkdir()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        for folder in (root, root / "x", root / "x" / "b"):
            folder.mkdir(exist_ok=True)
            for name in NAMES:
                if not (folder / name).exists():
                    (folder / name).write_text("")
    (root / ".gitignore").write_text("\n".join(lines) + "\n")
    patterns = Patterns(lines)
    files = sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.parts[len(root.parts)]
    )
    asked = "\0".join(files).encode()
    told = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=root,
        input=asked,
        capture_output=True,
    ).stdout
    assert [name for name in files if patterns.covers(name)] == [name for name in files if name in told.decode().split("\0")]
