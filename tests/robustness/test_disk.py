"""What disks and other programs do to a run: each file stays the old or becomes the new text, whole, and it is said."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from cutile_lint.config import Configurations
from cutile_lint.engine import api
from tests.robustness.project import PROGRAM, Project, can_mount, make_project, short_leash, small_files

#: a wrapper with something to fix that costs next to nothing
SMALL = b"""\
from tilegym.backend import register_impl


@register_impl("gain", backend="cutile-rs")
def gain(x):
    return x.new_empty(3)  # cutile-lint: ignore[CTL101] not needed
"""

#: before a command: root without the power over others' files
POWERLESS = ("setpriv", "--inh-caps=-all", "--bounding-set=-all") if os.getuid() == 0 else ()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def test_files_that_cannot_be_read(project: Project) -> None:
    wrapper = project.named("row_scale.py")
    folder = wrapper.parent
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "gone.py").symlink_to("nowhere.py")
    (folder / "up").symlink_to("..")
    (folder / "down").symlink_to(".")
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.py")
    (folder / "binary.py").write_bytes(bytes(range(256)))
    before = project.lint("--no-cache", "--output-format", "concise", ".").stdout
    assert "CTL101" in before and "Traceback" not in before
    project.lint(
        "--no-cache", str(folder / "loop.py"), str(folder / "pipe.py"), str(folder / "folder.py"), str(folder / "gone.py")
    )


def test_a_file_without_the_right_to_read_it(project: Project) -> None:
    """As root, without the power over others' files."""
    ffi = project.named("ffi.rs")
    ffi.chmod(0)
    done = project.lint("--no-cache", "--output-format", "concise", ".", prefix=POWERLESS)
    assert "CTL903" in done.stdout and "cannot be read: Permission denied" in done.stdout, done.stdout + done.stderr


def test_folders_without_the_right_to_list_them(project: Project) -> None:
    """They are named like files that cannot be read, in every run; so is a file whose folder may not be entered."""
    folder = project.named("ffi.rs").parent
    relative = folder.relative_to(project.root)
    folder.chmod(0)
    try:
        for words in ([], [], [str(relative)]):
            done = project.lint("--output-format", "concise", *words, prefix=POWERLESS)
            assert done.returncode == (0 if words else 1) and "All checks passed" not in done.stdout
            assert f"{relative}:1:1: info[CTL903] the folder cannot be read: Permission denied" in done.stdout.splitlines()
        ignored = project.lint("--ignore", "CTL903", str(relative), prefix=POWERLESS)
        assert "CTL903" not in ignored.stdout
        for command in ([], ["checklist"], ["flow"]):
            named = project.lint(*command, str(relative / "ffi.rs"), prefix=POWERLESS)
            assert named.returncode == 2 and "Permission denied" in named.stderr, named.stderr
            whole = project.lint(*command, str(relative), prefix=POWERLESS)
            assert "the folder cannot be read: Permission denied" in whole.stdout + whole.stderr
    finally:
        folder.chmod(0o755)
    assert "CTL903" not in project.lint("--output-format", "concise").stdout


def test_files_that_vanish_between_listing_and_reading(project: Project) -> None:
    configurations = Configurations()
    files = api.find_files([project.root], configurations).files
    shutil.rmtree(project.named("row_scale.py").parent)
    assert not api.check_files(files, configurations, jobs=1).errors


def test_a_read_only_tree(project: Project) -> None:
    """It is checked as ever; ``--fix`` says which file it could not write, and what is still to be fixed in it."""
    wrapper = project.named("row_scale.py")
    old = wrapper.read_bytes()
    for path in project.root.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    project.root.chmod(0o555)
    try:
        assert "CTL101" in project.lint(".", prefix=POWERLESS).stdout
        done = project.lint("--fix", ".", prefix=POWERLESS)
        assert done.returncode == 2 and "row_scale.py: not fixed" in done.stderr, done.stderr
        assert "CTL101" in done.stdout and "Fixed" not in done.stdout, done.stdout
        for command in (["baseline"], ["add-ignore"], ["clean"]):
            project.lint(*command, prefix=POWERLESS)
    finally:
        project.root.chmod(0o755)
        for path in project.root.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert wrapper.read_bytes() == old


def test_a_full_disk(project: Project, tmp_path: Path) -> None:
    """A file system with no room left, where one can be mounted; else files that may not grow."""
    copy = tmp_path / "before"
    shutil.copytree(project.root, copy)
    script = (
        'mount -t tmpfs -o size=256k tmpfs "$1" && cp -r "$2"/. "$1" && cd "$1" && { cat /dev/zero > filler 2>/dev/null; "$3" --fix .; }'
        '; status=$?; rm -f filler; find . -name "*.cutile-lint" | grep . && exit 9'
        '; diff -r --exclude .cutile_lint_cache . "$2" >&2 && exit $status'
    )
    if can_mount():
        command = ["unshare", "-m", "sh", "-c", script, "sh", str(project.root), str(copy), PROGRAM]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        status, said = done.returncode, done.stderr
        assert "Traceback" not in said, said
    else:
        told = project.lint("--fix", ".", leash=small_files)
        status, said = told.returncode, told.stderr
        assert {path.name for path in project.root.rglob("*.cutile-lint")} == set()
    assert status == 2 and "row_scale.py: not fixed" in said, said


def test_two_runs_at_once(project: Project) -> None:
    for _ in range(3):
        shutil.copytree(project.named("row_scale.py").parent, project.root / f"copy{_}")
    command = [PROGRAM, "--fix", "."]
    runs = [
        subprocess.Popen(command, cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for run in runs:
        _, err = run.communicate(timeout=300)
        assert "Traceback" not in err and run.returncode in (0, 1, 2), err
        assert run.returncode != 2 or "changed on disk while it was being fixed" in err, err
    assert {path.read_text().count("torch.zeros_like") for path in project.root.rglob("row_scale.py")} == {1}, (
        "the one that is meant"
    )
    assert not list(project.root.rglob("*.cutile-lint"))


def test_a_cache_of_somebody_else(project: Project) -> None:
    good = project.lint(".")
    folder = project.root / ".cutile_lint_cache"
    for harm in (
        b"",
        b"\0" * 500,
        b"cutile-lint cache\n",
        b"cutile-lint cache\n" + b"0" * 64 + b" 9999999999 1\n",
        os.urandom(2000),
    ):
        for path in folder.iterdir():
            path.write_bytes(harm)
        assert (again := project.lint(".")).stdout == good.stdout and again.returncode == good.returncode
    shutil.rmtree(folder)
    folder.write_text("a file")
    assert project.lint(".").stdout == good.stdout


def test_what_a_killed_run_left_is_removed(project: Project) -> None:
    """By the next write of the same file; what a living process writes, and what is not exactly of that name and kind, stays."""
    wrapper = project.named("row_scale.py")
    gone = subprocess.Popen(["true"])
    gone.wait()
    old = wrapper.with_name(f".{wrapper.name}.{gone.pid}-abcdefgh.cutile-lint")
    others = [
        wrapper.with_name(f".{wrapper.name}.{os.getpid()}-abcdefgh.cutile-lint"),
        wrapper.with_name(f".{wrapper.name}.notes.cutile-lint"),
        wrapper.with_name(f".other.py.{gone.pid}-abcdefgh.cutile-lint"),
        wrapper.with_name(f".{wrapper.name}.{gone.pid}-link.cutile-lint"),
    ]
    for path in (old, *others[:-1]):
        path.write_bytes(b"half a")
        os.utime(path, (0, 0))
    others[-1].symlink_to(wrapper)
    young = wrapper.with_name(f".{wrapper.name}.{gone.pid}-justnow.cutile-lint")
    young.write_bytes(b"half a")
    assert "Fixed 1 finding" in project.lint("--fix", "--no-cache", ".").stdout
    assert not old.exists() and young.exists() and all(path.is_symlink() or path.exists() for path in others)


def test_killed_while_200_files_are_written(tmp_path: Path) -> None:
    """Each file is the old or the new text; what is left over is checked by nobody, and the next run does the rest."""
    old = SMALL
    root = tmp_path / "many"
    for number in range(200):
        (root / f"op{number:03}").mkdir(parents=True)
        (root / f"op{number:03}" / "wrapper.py").write_bytes(old)
    arguments = ["--fix", "--no-cache", "."]
    alone = Project(tmp_path / "alone")
    (alone.root / "op").mkdir(parents=True)
    (alone.root / "op" / "wrapper.py").write_bytes(old)
    alone.lint(*arguments)
    new = (alone.root / "op" / "wrapper.py").read_bytes()
    assert new != old
    run = subprocess.Popen([PROGRAM, *arguments], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    first = root / "op000" / "wrapper.py"
    while run.poll() is None and first.read_bytes() == old:
        time.sleep(0.001)
    run.send_signal(signal.SIGKILL)
    run.wait()
    texts = [path.read_bytes() for path in sorted(root.rglob("wrapper.py"))]
    assert len(texts) == 200 and set(texts) <= {old, new} and texts[0] == new
    Project(root).lint(*arguments, leash=short_leash)
    assert {path.read_bytes() for path in root.rglob("wrapper.py")} == {new}
