"""No file outside of the tree is written, whatever its configuration and its links say; a planted cache is not believed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cutile_lint.cache import entries
from tests.security.hostile import Tree, make_tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_tree(tmp_path)


@pytest.mark.parametrize("target", ["{outside}/cache", "../outside/cache", "~/cache", "link", "link/cache"])
def test_results_are_kept_inside(tree: Tree, target: str) -> None:
    (tree.root / "link").symlink_to(tree.outside)
    tree.write("cutile-lint.toml", f'cache-dir = "{target.format(outside=tree.outside)}"\n')
    (tree.outside / "notes.tmp").write_text("mine")
    before = tree.all_outside()
    done = tree.run(".")
    assert done.returncode in (0, 1) and b"`cache-dir` leads out of the project" in done.stderr, done.stderr.decode()
    cleaned = tree.run("clean")
    assert cleaned.returncode == 2 and b"leads out of the project" in cleaned.stderr
    assert tree.all_outside() == before


def test_a_link_in_place_of_the_cache_is_not_followed(tree: Tree) -> None:
    (tree.root / ".cutile_lint_cache").symlink_to(tree.outside)
    before = tree.all_outside()
    assert b"a link that leads out of the project" in tree.run(".").stderr
    assert tree.run("clean").returncode == 2
    assert tree.all_outside() == before


def test_links_in_the_cache_are_not_written_through(tree: Tree) -> None:
    tree.run(".")
    folder = tree.root / ".cutile_lint_cache"
    for path in list(folder.iterdir()):
        path.unlink()
        path.symlink_to(tree.outside / "secret.txt")
    before = tree.all_outside()
    tree.run(".")
    tree.run("--select", "CTL101", ".")
    assert tree.all_outside() == before


def test_clean_removes_nothing_that_it_did_not_make(tree: Tree) -> None:
    tree.write("cutile-lint.toml", 'cache-dir = "notes"\n')
    kept = {tree.write(f"notes/{name}", "mine") for name in ("a.tmp", "b.found", "c.said", "0123.tmp", ".gitignore")}
    assert tree.run(".").returncode in (0, 1)
    assert tree.run("clean").returncode == 0
    assert set((tree.root / "notes").iterdir()) - {tree.root / "notes/CACHEDIR.TAG"} == kept


@pytest.mark.parametrize("target", ["{outside}/base.json", "../outside/base.json", "~/base.json", "link/base.json"])
def test_a_baseline_is_written_inside(tree: Tree, target: str) -> None:
    (tree.root / "link").symlink_to(tree.outside)
    tree.write("cutile-lint.toml", f'baseline = "{target.format(outside=tree.outside)}"\n')
    before = tree.all_outside()
    done = tree.run("baseline")
    assert done.returncode == 2 and b"leads out of the project" in done.stderr, done.stderr.decode()
    assert tree.all_outside() == before


@pytest.mark.parametrize("command", [["--fix", "--unsafe-fixes"], ["add-ignore", "--min-level", "info"]])
@pytest.mark.parametrize("named", [True, False])
def test_a_file_behind_a_link_out_of_the_tree_stays(tree: Tree, command: list[str], named: bool) -> None:
    faulty(tree)
    wrapper = tree.wrapper
    outside = tree.outside / "wrapper.py"
    wrapper.rename(outside)
    wrapper.symlink_to(outside)
    before = tree.all_outside()
    done = tree.run(*command, str(wrapper) if named else ".")
    assert tree.all_outside() == before and wrapper.is_symlink()
    assert b"is outside the project" in done.stdout + done.stderr, (done.stdout + done.stderr).decode()


def test_a_folder_behind_a_link_out_of_the_tree_stays(tree: Tree) -> None:
    faulty(tree)
    folder = tree.wrapper.parent
    folder.rename(tree.outside / "ops")
    folder.symlink_to(tree.outside / "ops")
    before = tree.all_outside()
    tree.run("--fix", ".")
    tree.run("--fix", str(folder))
    assert tree.all_outside() == before


def test_extending_what_is_no_configuration_tells_none_of_it(tree: Tree) -> None:
    for target in ("../outside/secret.txt", "/dev/zero", "/dev/stdin", "..", "loop", "/proc/self/mem"):
        tree.write("cutile-lint.toml", f'extend = "{target}"\n')
        done = tree.run(".")
        assert done.returncode == 2 and b"Traceback" not in done.stderr, done.stderr.decode()
        assert b"secret\n" not in done.stderr


def test_an_answer_that_the_tree_brings_is_not_believed(tree: Tree) -> None:
    """Somebody who knows the folder and the installation seals a clean bill with a secret of his own."""
    faulty(tree)
    honest = tree.run(".")
    assert honest.returncode == 1
    seal = (tree.home / ".cache/cutile-lint/key").read_bytes()
    for path in (tree.root / ".cutile_lint_cache").iterdir():
        for count in (5, 4):
            sections = entries.unpack(seal, path.read_bytes(), count) if path.suffix in (".found", ".said") else None
            if sections and path.suffix == ".said":
                path.write_bytes(entries.pack(os.urandom(32), *sections[:3], b"0", b"out\0All clean.\x1b[2J\n"))
    again = tree.run(".")
    assert (again.returncode, again.stdout) == (honest.returncode, honest.stdout)


def faulty(tree: Tree) -> None:
    """A fill in the timed region, with a safe fix."""
    text = tree.wrapper.read_text()
    assert "torch.empty_like(x)" in text
    tree.wrapper.write_text(text.replace("torch.empty_like(x)", "torch.zeros_like(x)"))
