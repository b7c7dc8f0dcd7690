"""Cached output is the output: whatever changes, the next run says what a run without a cache says."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cutile_lint.cache import entries, fast, store
from cutile_lint.cli.main import main
from cutile_lint.engine import api
from cutile_lint.engine.cases import load_base

CACHE = ".cutile_lint_cache"


class Said(NamedTuple):
    status: int
    out: str
    err: str


class Project:
    """A tree of one op on disk, and the command line in it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.capsys = capsys
        self.checks = 0

    def lint(self, *arguments: str) -> Said:
        self.capsys.readouterr()
        try:
            status = main(["check", *arguments])
        except SystemExit as end:
            status = int(end.code or 0)
        return Said(status, *self.capsys.readouterr())

    def checked(self, *arguments: str) -> tuple[Said, bool]:
        """What a run says, and whether files were checked for it."""
        before = self.checks
        return self.lint(*arguments), self.checks > before

    def agrees(self, *arguments: str) -> Said:
        """What a run with the cache says; it must be what one without says."""
        cached = self.lint(*arguments)
        assert cached == self.lint("--no-cache", *arguments)
        return cached

    def entries(self) -> list[Path]:
        folder = self.root / CACHE
        return sorted(path for path in folder.iterdir() if path.suffix in (".found", ".said")) if folder.exists() else []

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Project]:
    made = Project(make_tree(tmp_path / "project"), capsys)
    monkeypatch.chdir(made.root)
    monkeypatch.setattr(store, "installation", lambda inputs: None)  # others may be working on the rules just now
    check_files = api.check_files

    def counting(*arguments: object, **named: object) -> api.CheckReport:
        made.checks += 1
        return check_files(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(api, "check_files", counting)
    yield made


FAULT = "torch.zeros_like(x)"


def make_tree(root: Path) -> Path:
    """The base op ``row_scale`` with a fill in its timed region, a helper, a reference and a repository around it."""
    for path, text in load_base("row_scale").items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / ".git").mkdir()
    return root


def file_named(project: Project, name: str) -> Path:
    return next(path for path in sorted(project.root.rglob(name)) if CACHE not in path.parts)


def age(root: Path) -> None:
    """Make everything look old enough to be sure of."""
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            os.utime(path, ns=(10**18, 10**18))


# ── hits ──


def test_a_second_run_checks_nothing_and_says_the_same(project: Project) -> None:
    first, did = project.checked()
    assert did
    second, did = project.checked()
    assert second == first and not did
    assert {path.suffix for path in project.entries()} == {".found", ".said"}


def test_findings_serve_every_output_format(project: Project) -> None:
    plant(project)
    project.lint()
    for output_format in ("concise", "json", "json-lines", "sarif", "github", "gitlab", "markdown"):
        said, did = project.checked("--output-format", output_format)
        assert not did, output_format
        assert said == project.lint("--no-cache", "--output-format", output_format)
    for option in (["--statistics"], ["--exit-zero"], ["--min-level", "info"]):
        said, did = project.checked(*option)
        assert not did
        assert said == project.lint("--no-cache", *option)


def test_an_empty_answer_is_an_answer(project: Project) -> None:
    assert project.lint("--output-format", "json-lines") == project.lint("--output-format", "json-lines") == Said(0, "", "")


def plant(project: Project) -> None:
    """Put a fault into the wrapper: findings with fixes and related places."""
    wrapper = next(path for path in project.root.rglob("*.py") if "autotune_launch" in path.read_text())
    wrapper.write_text(wrapper.read_text().replace("def kernel_fn(cfg):\n", "def kernel_fn(cfg):\n        torch.zeros_like(x)\n"))
    assert project.lint("--no-cache").status == 1


def test_a_file_touched_or_written_again_with_the_same_text_is_no_change(project: Project) -> None:
    project.lint()
    for path in project.root.rglob("*.*"):
        if CACHE not in path.parts and path.is_file():
            path.write_bytes(path.read_bytes())
    said, did = project.checked()
    assert not did
    assert said == project.lint("--no-cache")


def test_files_that_matter_to_nobody_are_no_change(project: Project) -> None:
    project.lint()
    (project.root / ".vimrc.swp").write_text("")
    (project.root / "__pycache__").mkdir()
    (project.root / ".hidden").mkdir()
    assert not project.checked()[1]


def test_stamps_are_made_good_after_a_close_look(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.lint()
    monkeypatch.setattr(fast, "time_ns", lambda: 4 * 10**18)  # much later: nothing is young any more
    assert not project.checked()[1]
    monkeypatch.setattr("cutile_lint.inputs._same_content", lambda *_: pytest.fail("a sure file was read"))
    assert not project.checked()[1]


# ── never stale ──


KINDS = ["row_scale.py", "ffi.rs", "kernel.rs", "ffi_util.rs", "lib.rs", "Cargo.toml"]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("what", ["change", "same size", "delete", "rename", "empty"])
def test_no_change_of_a_file_is_missed(project: Project, name: str, what: str) -> None:
    path = file_named(project, name)
    project.lint()
    data = path.read_bytes()
    if what == "change":
        path.write_bytes(data + b"\n" + (b"x = (" if name.endswith(".py") else b"}"))
    elif what == "same size":
        state = path.stat()
        path.write_bytes(data.replace(b"cutile", b"cutilx"))
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    elif what == "delete":
        path.unlink()
    elif what == "rename":
        path.rename(path.with_name("other_" + name))
    else:
        path.write_bytes(b"")
    gone = not path.exists()
    said, did = project.checked()
    assert did or name == "Cargo.toml" or (not gone and path.read_bytes() == data)
    assert said == project.lint("--no-cache")
    path.write_bytes(data)
    project.agrees()


REGISTERS = 'from tilegym.backend import register_impl\n\n\n@register_impl("{}", backend="{}")\ndef op(x):\n    return x\n'


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("cutile-lint.toml", 'select = ["CTL2"]\n'),
        ("cutile-lint.toml", 'exclude = ["*.py"]\n'),
        ("pyproject.toml", '[tool.cutile-lint]\nignore = ["ALL"]\n'),
        (".gitignore", "*.py\n"),
        (".git/info/exclude", "*.rs\n"),
        ("{wrapper}/__init__.py", "import torch\n"),
        ("{wrapper}/other.py", REGISTERS.format("o", "cutile-rs")),
        ("{wrapper}/../cutile/row_scale.py", REGISTERS.format("row_scale", "cutile")),
        ("{rust}/analysis.json", "{}\n"),
        ("{rust}/reference/analysis.json", '{"kernel_name": "row_scale"}\n'),
        ("{rust}/reference/reference.mlir", "module {}\n"),
        ("{rust}/more.rs", "pub fn more() -> i32 { 1 }\n"),
        ("far/away/wrapper.py", "def f(:\n"),
    ],
)  # fmt: skip
def test_no_new_file_is_missed(project: Project, path: str, text: str) -> None:
    plant(project)
    project.lint()
    wrapper = file_named(project, "row_scale.py").parent
    rust = file_named(project, "ffi.rs").parent
    path = os.path.normpath(path.format(wrapper=wrapper, rust=rust))
    project.write(path, text)
    project.agrees()
    project.write(path, text + ("# more\n" if path.endswith((".py", ".toml")) else "\n"))
    project.agrees()
    (project.root / path).unlink()
    project.agrees()


def test_a_configuration_that_is_extended_counts(project: Project) -> None:
    plant(project)
    project.write("base.toml", "")
    project.write("cutile-lint.toml", 'extend = "base.toml"\n')
    assert project.lint().status == 1
    project.write("base.toml", 'ignore = ["ALL"]\n')
    assert project.agrees().status == 0


def test_a_link_that_leads_elsewhere_counts(project: Project, tmp_path: Path) -> None:
    wrapper = file_named(project, "row_scale.py")
    outside = tmp_path / "outside.py"
    shutil.copy(wrapper, outside)
    wrapper.unlink()
    wrapper.symlink_to(outside)
    first = project.agrees()
    outside.write_text(outside.read_text() + "\nx = (\n")
    assert project.agrees() != first


@pytest.mark.parametrize("options", [["--select", "CTL2"], ["--ignore", "CTL101"], ["--extend-select", "ALL"], ["src", "src"]])
def test_options_that_decide_findings_ask_another_question(project: Project, options: list[str]) -> None:
    plant(project)
    (project.root / "src").mkdir(exist_ok=True)
    project.lint()
    assert project.checked(*options)[1]
    project.agrees(*options)


def test_width_and_colour_are_those_of_the_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(project)
    plain = project.lint()
    monkeypatch.setenv("COLUMNS", "50")
    assert project.agrees() != plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in project.agrees().out


def test_another_folder_to_start_from_is_another_question(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(project)
    here = project.lint(str(project.root))
    monkeypatch.chdir(project.root.parent)
    there = project.agrees(str(project.root))
    assert there != here


def test_the_installation_counts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.lint()
    monkeypatch.setattr(entries, "__version__", "0.0.0")
    assert project.checked()[1]


def test_every_module_and_rule_is_on_record() -> None:
    from cutile_lint.inputs import Inputs

    monkeypatch_free = Inputs()
    _installation(monkeypatch_free)
    names = set(map(os.path.basename, monkeypatch_free.files))
    assert {"api.py", "fill_in_kernel_fn.py", "fill_in_kernel_fn.yaml", "syntax.py"} <= names
    assert monkeypatch_free.folders


_installation = store.installation


# ── edits at random ──

EDITS = [
    ("row_scale.py", "append", "\nx = torch.zeros(3)\n"),
    ("row_scale.py", "replace", ("torch", "tarch")),
    ("row_scale.py", "replace", ("cutile", "cutilx")),
    ("ffi.rs", "replace", ("occupancy", "occupanzy")),
    ("ffi.rs", "append", "\n}}"),
    ("kernel.rs", "replace", ("store", "stare")),
    ("lib.rs", "delete", None),
    ("ffi_util.rs", "delete", None),
    ("Cargo.toml", "append", "\n# comment\n"),
    ("cutile-lint.toml", "write", 'ignore = ["CTL1"]\n'),
    ("cutile-lint.toml", "write", 'severity = { CTL101 = "info" }\n'),
    ("cutile-lint.toml", "delete", None),
    (".gitignore", "write", "ffi.rs\n"),
    (".gitignore", "delete", None),
    ("extra.py", "write", "import torch\n"),
    ("extra.py", "delete", None),
    ("row_scale.py", "restore", None),
    ("ffi.rs", "restore", None),
    ("lib.rs", "restore", None),
]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(EDITS), min_size=1, max_size=4))
def test_any_edits(project: Project, edits: list[tuple[str, str, object]]) -> None:
    shutil.rmtree(project.root)
    make_tree(project.root)
    os.chdir(project.root)
    homes = {path.name: path for path in project.root.rglob("*.*") if path.is_file()}
    before = {path: path.read_bytes() for path in homes.values()}
    project.agrees()
    for name, kind, detail in edits:
        path = homes.get(name, project.root / name)
        if kind == "write":
            path.write_text(str(detail))
        elif kind == "append" and path.exists():
            path.write_text(path.read_text() + str(detail))
        elif kind == "replace" and path.exists():
            path.write_text(path.read_text().replace(*detail))  # type: ignore[misc]
        elif kind == "delete":
            path.unlink(missing_ok=True)
        elif kind == "restore":
            path.write_bytes(before[path])
        project.agrees()


# ── entries that are not ours, folders that are not ours ──


@pytest.mark.parametrize("harm", [b"", b"\0", b"cutile-lint cache\n", b"cutile-lint cache\n00000000 1 2\nabc", bytes(range(256))])
def test_a_broken_entry_is_a_miss(project: Project, harm: bytes) -> None:
    good = project.lint()
    for path in project.entries():
        path.write_bytes(harm)
    said, did = project.checked()
    assert did and said == good
    assert not project.checked()[1]


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.99])
def test_a_torn_or_changed_entry_is_a_miss(project: Project, cut: float) -> None:
    good = project.lint()
    for path in project.entries():
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * cut)])
    assert project.checked() == (good, True)
    for path in project.entries():
        data = bytearray(path.read_bytes())
        data[int(len(data) * cut)] ^= 1
        path.write_bytes(bytes(data))
    assert project.checked()[0] == good


def test_an_entry_of_another_question_under_our_name_is_a_miss(project: Project) -> None:
    project.lint()
    said = next(path for path in project.entries() if path.suffix == ".said")
    _, *rest = entries.unpack(entries.secret() or b"", said.read_bytes(), 5) or []
    said.write_bytes(entries.pack(entries.secret() or b"", b"other", *rest))
    assert fast.answer(["."]) is None


def test_no_cache_neither_reads_nor_writes(project: Project) -> None:
    project.lint("--no-cache")
    assert not (project.root / CACHE).exists()
    project.lint()
    assert project.checked("--no-cache")[1]


@pytest.mark.parametrize("options", [["--fix"], ["--diff"], ["nothing-there"]])
def test_runs_that_change_files_or_fail_keep_nothing(project: Project, options: list[str]) -> None:
    project.lint(*options)
    assert project.entries() == []


def test_a_folder_that_cannot_be_made_keeps_nothing(project: Project) -> None:
    (project.root / "taken").write_text("")
    said, did = project.checked("--cache-dir", "taken/cache")
    assert did and said.status == 0
    assert project.checked("--cache-dir", "taken/cache") == (said, True)


def test_the_folder_ignores_itself_and_can_be_elsewhere(project: Project) -> None:
    project.lint()
    assert (project.root / CACHE / ".gitignore").read_text().endswith("\n*\n")
    project.lint("--cache-dir", "elsewhere/cache")
    assert list((project.root / "elsewhere/cache").glob("*.found"))
    project.write("cutile-lint.toml", 'cache-dir = "configured"\n')
    project.lint()
    assert list((project.root / "configured").glob("*.found"))
    assert not project.checked()[1]
    assert fast.cache_folder(["."]) == str(project.root / "configured")


def test_clean_removes_what_is_ours_only(project: Project) -> None:
    project.lint()
    mine = project.root / CACHE / "notes.txt"
    mine.write_text("mine")
    assert main(["clean"]) == 0 and list((project.root / CACHE).iterdir()) == [mine]
    mine.unlink()
    project.lint()
    assert main(["clean"]) == 0 and not (project.root / CACHE).exists()
    assert main(["clean"]) == 0


def test_old_entries_make_room(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_ENTRIES", 6)
    for number in range(8):
        project.lint("--ignore", f"CTL{number + 1}" if number < 5 else f"CTL10{number - 4}")
    assert len(project.entries()) <= 8


def test_two_at_once(project: Project) -> None:
    """Writers and readers of one entry: every reader sees a whole one."""
    folder, key, broken = str(project.root), b"key", []
    texts = [bytes([65 + number]) * 50_000 for number in range(4)]

    def work(text: bytes) -> None:
        for _ in range(40):
            entries.write(folder, key, f".{threading.get_ident()}", text)
            entries.write(folder, key, ".found", text)
            found = entries.read(folder, key, ".found", 1)
            if found is None or found[0] not in texts:
                broken.append(found)

    threads = [threading.Thread(target=work, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not broken


@pytest.mark.parametrize(
    "arguments",
    [["-"], ["--fix"], ["--diff", "."], ["--help"], ["-h"], ["--version"], ["--no-cache"], ["--stdin-filename", "a.py"], ["--output-file=x"]],
)  # fmt: skip
def test_the_unusual_goes_the_long_way(arguments: list[str]) -> None:
    assert fast.cache_folder(arguments) is None


def test_both_ways_print_the_same_bytes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(project)
    commands: list[list[str]] = [[], ["."], ["--output-format", "json"], ["--statistics", "."], ["--select=CTL1", "."]]
    for command in commands:
        long = project.lint(*command)
        short = project.lint(*command)
        assert short == long
        with monkeypatch.context() as patch:
            patch.setattr(fast, "answer", lambda arguments: None)
            assert project.lint(*command) == long
