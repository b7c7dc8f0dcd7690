"""What a run may cost, without a clock: which modules it imports, how often it reads and parses, how its work grows."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.generate import generate, ten_faults
from cutile_lint.config import Configurations
from cutile_lint.engine import api
from cutile_lint.engine.cases import load_base
from cutile_lint.unit.linking.crate import Crate
from cutile_lint.unit.linking.program import Parsed

ROOT = Path(__file__).resolve().parents[2]
#: a run answered from the cache: what a started Python has, and these
SHORT_WAY = {
    "cutile_lint",
    "cutile_lint.errors",
    "cutile_lint.inputs",
    "cutile_lint.cli",
    "cutile_lint.cli.main",
    "cutile_lint.cache",
    "cutile_lint.cache.entries",
    "cutile_lint.cache.fast",
    "zlib",
    "_blake2",
    "__future__",
}
#: never imported by a run that finds nothing to fix
HEAVY = {"libcst", "yaml", "rich", "click", "pathspec", "pycparser", "jsonschema", "concurrent.futures", "multiprocessing"}
#: of the standard library and of tree-sitter: a few milliseconds each, for what a check can do without
DEAR = {
    *("dataclasses", "inspect", "decimal", "difflib", "hashlib", "importlib.resources", "shutil", "subprocess", "tempfile"),
    *("tree_sitter_rust", "tree_sitter_mlir"),
}
#: our own: for fixes of what is not there, and for evidence that the op has not
NOT_NEEDED = {
    *(
        "frontends.ir",
        "frontends.reference.analysis",
        "frontends.python.rewrite",
        "frontends.rust.rewrite",
        "frontends.rust.faults",
    ),
    *("unit.autograd.detach_fixes", "unit.options.option_fixes", "unit.options.rust_option_fixes", "unit.transposes.fixes"),
    *("unit.timed.hoist", "unit.timed.launch_fixes", "unit.timed.timed_copies", "unit.timed.uninitialised"),
    *("unit.generated.accumulators", "unit.generated.hints", "unit.generated.stale", "unit.generated.strides"),
}
LISTING = """
import sys
before = set(sys.modules)
from cutile_lint.cli.main import main
status = main(sys.argv[1:])
sys.stdout.flush()
print("MODULES", status, *sorted(set(sys.modules) - before), file=sys.stderr)
"""


def modules_of(folder: Path, *arguments: str) -> tuple[int, set[str]]:
    """Exit status of a run, and the modules that it imported besides those of an idle Python."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", LISTING, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    line = next(line for line in done.stderr.splitlines() if line.startswith("MODULES"))
    _, status, *names = line.split()
    return int(status), set(names)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for path, text in load_base("row_scale").items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / ".git").mkdir()
    return root


def test_a_run_with_nothing_changed_imports_next_to_nothing(project: Path) -> None:
    for _ in range(3):  # the answer is kept, unless somebody is working on cutile-lint just now
        status, names = modules_of(project)
        assert status == 0
        if "ast" not in names:
            break
    assert names - SHORT_WAY == set()


def test_a_clean_run_imports_nothing_for_rewriting(project: Path) -> None:
    status, names = modules_of(project, "--no-cache")
    assert status == 0
    assert names & (HEAVY | DEAR | {f"cutile_lint.{name}" for name in NOT_NEEDED}) == set()
    assert "tree_sitter" in names and "cutile_lint.frontends.python.parser" in names


def test_the_lists_name_modules_that_there_are() -> None:
    for name in NOT_NEEDED:
        path = ROOT.joinpath("cutile_lint", *name.split("."))
        assert path.is_dir() or path.with_suffix(".py").is_file(), name


def test_a_run_with_findings_imports_no_more_than_it_shows(project: Path) -> None:
    wrapper = next(path for path in project.rglob("*.py") if "register_impl(" in path.read_text())
    wrapper.write_text(wrapper.read_text() + "\n# cutile-lint: ignored[CTL101]\n")
    for output_format in ("full", "concise"):
        status, names = modules_of(project, "--no-cache", "--output-format", output_format)
        assert status == 1
        assert names & (HEAVY | DEAR) == set()


def test_rust_is_parsed_for_rust_only(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("import torch\n\n\ndef f(x):\n    return torch.zeros(3)\n")
    status, names = modules_of(tmp_path, "--no-cache")
    assert status == 0
    assert names & {"tree_sitter", "tree_sitter_rust", *HEAVY} == set()


def test_the_op_whose_fixes_are_measured_has_ten_faults(tmp_path: Path) -> None:
    ten_faults(tmp_path)
    fixable = [finding.code for finding in check(tmp_path).findings if finding.fix and finding.fix.applicability.value == "safe"]
    assert len(fixable) == 10
    status, names = modules_of(tmp_path, "--no-cache", "--fix", "--exit-zero")
    assert status == 0
    assert not names & {"libcst", "hashlib", "tree_sitter_rust"}


# ── reads and parses ──


class Counts:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from cutile_lint.frontends import python, rust
        from cutile_lint.sources.workspace import Workspace

        self.parsed: Counter[Path] = Counter()
        self.read: Counter[Path] = Counter()
        self.steps = 0
        for frontend in (python, rust):
            monkeypatch.setattr(frontend, "parse", self._counting(frontend.parse))
        read = Workspace._read

        def counting_read(workspace: Workspace, path: Path) -> bytes | None:
            self.read[path] += 1
            return read(workspace, path)

        monkeypatch.setattr(Workspace, "_read", counting_read)

    def _counting(self, parse):  # type: ignore[no-untyped-def]
        def counted(source, *rest, **named):  # type: ignore[no-untyped-def]
            self.parsed[source.path] += 1
            return parse(source, *rest, **named)

        return counted


def check(folder: Path, jobs: int = 1) -> api.CheckReport:
    configurations = Configurations()
    return api.check_files(api.find_files([folder], configurations).files, configurations, jobs=jobs)


def test_every_file_is_read_and_parsed_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = Counts(monkeypatch)
    assert check(project).errors == []
    assert set(counts.parsed.values()) == {1}
    assert set(counts.read.values()) == {1}


def test_files_that_belong_to_no_op_are_not_parsed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        (project / f"other_{number}.py").write_text("import torch\n\n\ndef f(x):\n    return torch.zeros(3)\n")
        (project / f"other_{number}.rs").write_text("pub fn f() -> i32 { 1 }\n" if number % 2 else "// cutile\n")
    counts = Counts(monkeypatch)
    check(project)
    assert not [path for path in counts.parsed if path.name.startswith("other_") and path.suffix == ".py"]


def test_work_grows_with_the_number_of_ops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three times the ops: at most three times the parses, and little more than that of function calls."""
    totals = []
    for size in (48, 144):
        folder = tmp_path / str(size)
        generate(folder, size)
        with monkeypatch.context() as patch:
            counts = Counts(patch)
            calls = 0

            def count(frame: object, event: str, argument: object) -> None:
                nonlocal calls
                calls += event == "call"

            sys.setprofile(count)
            try:
                report = check(folder)
            finally:
                sys.setprofile(None)
            assert report.errors == []
        fills = sum(finding.code == "CTL101" for finding in report.findings)
        totals.append((sum(counts.parsed.values()), sum(counts.read.values()), calls, fills))
    (parses, reads, calls_small, found), (more_parses, more_reads, calls_large, more_found) = totals
    assert more_found == 3 * found > 0
    assert more_parses <= 3 * parses * 1.1
    assert more_reads <= 3 * reads * 1.1
    assert calls_large <= 3 * calls_small * 1.1


def test_texts_are_let_go(tmp_path: Path) -> None:
    generate(tmp_path, 60)
    report = check(tmp_path)
    assert report.workspace is not None
    kept = [path for path, source in report.workspace._sources.items() if source is not None]
    assert len(kept) < 40


def test_what_is_known_of_a_crate_goes_with_it(tmp_path: Path) -> None:
    """Without a collection of cycles: what is left after a batch is set aside and not looked at again."""
    generate(tmp_path, 60)
    gc.collect()
    gc.disable()
    try:
        report = check(tmp_path)
        known = [crate for crate in gc.get_objects() if isinstance(crate, Crate) and crate._answers]
    finally:
        gc.enable()
    assert report.errors == []
    assert len(known) <= Parsed.CRATES


# ── in an editor ──


def test_only_the_edited_file_is_parsed_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A keystroke costs one parse, of the edited file; what the edit does not concern is not run again."""
    from cutile_lint.server.session import Session
    from cutile_lint.server.settings import ClientSettings
    from cutile_lint.sources import OpenSource
    from cutile_lint.unit import runs

    wrapper = next(path for path in sorted(project.rglob("*.py")) if "register_impl(" in path.read_text())
    counts = Counts(monkeypatch)
    entered = 0
    run_callable = runs.Machine.run_callable

    def counting(*given: object) -> object:
        nonlocal entered
        entered += 1
        return run_callable(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(runs.Machine, "run_callable", counting)
    session = Session()
    session.set_client(ClientSettings(scope="open"), [project])

    def keystroke(text: str) -> tuple[Counter[Path], Counter[Path], int]:
        nonlocal entered
        entered = 0
        counts.parsed.clear()
        counts.read.clear()
        session.update({wrapper: OpenSource(wrapper, text.encode())})
        while (key := session.next()) is not None:
            session.check(key)
        return +counts.parsed, +counts.read, entered

    text = wrapper.read_text()
    assert len(keystroke(text)[0]) > 1
    spot = text.index("return ", text.index("register_impl("))
    indent = text[text.rindex("\n", 0, spot) : spot]
    once = Counter({wrapper: 1})
    for typed in ("# w", "# wo"):  # nothing runs again
        assert keystroke(text[:spot] + typed + indent + text[spot:]) == (once, Counter(), 0)
    parsed, read, ran = keystroke(text[:spot] + "print(1)" + indent + text[spot:])
    assert (parsed, read) == (once, Counter())
    assert ran == 1  # the op; its Rust side is as it was


# ── several processes ──


def test_more_processes_find_the_same_in_the_same_order(tmp_path: Path) -> None:
    generate(tmp_path, 30)

    def run(*arguments: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "cutile_lint.cli.main", "--no-cache", "--output-format", "json", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr

    one = run("-j", "1")
    assert one[0] == 1 and len(json.loads(one[1])) > 20
    assert run("-j", "2") == run("-j", "5") == run() == one


def test_an_answer_of_more_processes_is_kept_and_never_stale(tmp_path: Path) -> None:
    generate(tmp_path, 24)

    def run(*arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "cutile_lint.cli.main", "--output-format", "concise", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout

    assert run("-j", "2") == run("-j", "2") == run("--no-cache")
    kernel = next(path for path in sorted(tmp_path.rglob("ffi.rs")))
    kernel.write_text(kernel.read_text() + "\n}}\n")
    assert run("-j", "2") == run("--no-cache")


def test_an_interrupt_ends_all_processes_at_once(tmp_path: Path) -> None:
    import signal
    import time

    generate(tmp_path, 200)
    process = subprocess.Popen(
        [sys.executable, "-m", "cutile_lint.cli.main", "--no-cache", "-j", "2", "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    children: list[str] = []
    while len(children) < 2 and process.poll() is None:
        time.sleep(0.05)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "cutile-lint: interrupted\n")
    assert not [child for child in children if Path(f"/proc/{child}").exists()]
