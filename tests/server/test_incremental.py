"""An edited file is analysed again as far as the edit concerns it: the same findings and links as from the beginning, always."""

from __future__ import annotations

import ast
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutile_lint.server import session as server_session
from cutile_lint.server.session import Outcome, Session
from cutile_lint.server.settings import ClientSettings
from cutile_lint.sources import OpenSource, Place
from cutile_lint.unit.linking import loading, program

ROOT = Path(__file__).resolve().parents[2]
LINES = (
    "scale = 1.0",
    "x",
    "pass",
    "# a word",
    "// a word",
    "/* a word */",
    "let scale = 1;",
    "raise ValueError('no')",
    "return None",
    "out = torch.empty(3)",
    "torch.cuda.synchronize()",
    "import torch",
    "def inner(a):\n        return a",
    "if True:\n        y = 2",
    '"""a text"""',
    "del scale",
    "alpha = 2",
    "class Kept:\n        pass",
    "global KEPT\n    KEPT = 1",
)


def session_for(root: Path, wrapper: Path) -> Session:
    session = Session()
    session.set_client(ClientSettings(scope="open"), [root])
    return session


def outcome_of(session: Session, opened: dict[Path, OpenSource], key: Path) -> Outcome | None:
    session.update(opened)
    while (waiting := session.next()) is not None:
        session.check(waiting)
    return session._outcomes.get(key)


def told(place: Place) -> tuple:
    return str(place.path), place.span, place.text


def seen(outcome: Outcome | None) -> object:
    """Everything that a client can see of an outcome."""
    if outcome is None:
        return None
    findings = [
        (
            told(one.place), one.code, one.message, one.help, one.ops, one.level, one.symbol, one.statement and told(one.statement),
            [(told(related.place), related.message) for related in one.related],
            one.fix and (one.fix.message, one.fix.applicability, [(str(e.path), e.start, e.end, e.content) for e in one.fix.edits]),
        )
        for one in outcome.findings
    ]  # fmt: skip
    things = [(thing.kind, thing.name, sorted((told(p), role) for p, role in thing.spots)) for thing in outcome.links.things]
    hints = sorted((told(one.place), one.name, one.type) for one in outcome.links.hints)
    lenses = [(told(one.place), [told(caller) for caller in one.callers], one.facts) for one in outcome.links.lenses]
    return findings, outcome.errors, sorted(outcome.files), sorted(outcome.rust), things, hints, lenses


def edited(text: str, chance: random.Random) -> str:
    """A text with a random edit."""
    lines = text.splitlines(keepends=True)
    row = chance.randrange(len(lines))
    kind = chance.randrange(9)
    if kind < 4:  # a line in a function's body
        rows = [at for at, line in enumerate(lines) if line.startswith("    ") and line.strip()]
        row = chance.choice(rows or [row])
        indent = lines[row][: len(lines[row]) - len(lines[row].lstrip())]
        line = chance.choice(LINES) if chance.random() < 0.7 else chance.choice(re.findall(r"\b[A-Za-z_]\w*\b", text))
        lines.insert(row + chance.randrange(2), f"{indent}{line}\n")
    elif kind == 4:
        del lines[row]
    elif kind == 5:
        lines.insert(row, chance.choice(["\n", "# more\n", "KEPT = 3\n"]))
    elif kind == 6:
        lines[row] = lines[row].rstrip("\n") + chance.choice(["  # said", "  // said", " ", "\n"]) + "\n"
    else:  # a character
        at = chance.randrange(len(text))
        return text[:at] + chance.choice(["", "a", "1", " ", "x"]) + text[at + chance.randrange(2) :]
    return "".join(lines)


def parsed(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def edits(text: str, seed: int, steps: int) -> Iterator[str]:
    chance = random.Random(seed)
    known = [text]
    while steps:
        new = edited(known[-1], chance) if chance.random() < 0.8 else chance.choice(known)
        if new != known[-1] and parsed(new):
            known.append(new)
            steps -= 1
            yield new


@pytest.mark.parametrize(
    ("example", "wrapper", "seed", "steps"),
    [
        ("clean/skill/scale_residual", "wrapper.py", 1, 12),
        ("faulty/skill/scale_residual", "wrapper.py", 2, 12),
        ("clean/tilegym", "src/tilegym/ops/cutile_rs/gemm.py", 3, 10),  # four ops with helpers in common
    ],
)
def test_edits_give_what_a_check_from_the_beginning_gives(
    tmp_path: Path, example: str, wrapper: str, seed: int, steps: int
) -> None:
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / example, root)
    (root / ".git").mkdir()
    path = root / wrapper
    session = session_for(root, path)
    for text in [path.read_text(), *edits(path.read_text(), seed, steps)]:
        opened = {path: OpenSource(path, text.encode())}
        fresh = session_for(root, path)
        assert seen(outcome_of(session, opened, path)) == seen(outcome_of(fresh, opened, path)), text


def test_edits_in_several_files_give_what_a_check_from_the_beginning_gives(tmp_path: Path) -> None:
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "clean" / "tilegym", root)
    (root / ".git").mkdir()
    package = root / "src" / "tilegym" / "ops" / "cutile_rs"
    wrapper = package / "gemm.py"
    others = [package / "_gemm_checks.py", package / "gemm_kernel" / "ffi.rs", root / "tests" / "ops" / "test_gemm.py"]
    chance = random.Random(4)
    texts = {path: path.read_text() for path in (wrapper, *others)}
    opened = {path: OpenSource(path, text.encode()) for path, text in texts.items()}
    session = session_for(root, wrapper)
    steps = 0
    while steps < 8:
        path = chance.choice([wrapper, *others])
        text = edited(texts[path], chance)
        if text == texts[path] or program.parse(OpenSource(path, text.encode())).faults:
            continue  # a session goes on with what it had
        steps += 1
        texts[path], opened = text, {**opened, path: OpenSource(path, text.encode())}
        fresh = session_for(root, wrapper)
        assert seen(outcome_of(session, opened, wrapper)) == seen(outcome_of(fresh, opened, wrapper)), (path.name, text)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the ops whose rules were run, as it happens."""
    names: list[str] = []
    engine = server_session.run

    def noted(units: list, *arguments: object, **named: object) -> object:
        names.extend(unit.name for unit in units)
        return engine(units, *arguments, **named)

    monkeypatch.setattr(server_session, "run", noted)
    return names


@pytest.mark.parametrize(
    ("example", "function", "line", "ops"),
    [
        # nothing is done with what a statement says
        ("clean", "_check_extent", "m", []),
        ("clean", "_check_extent", "op", []),
        ("clean", "_check_extent", "3", []),
        ("clean", "_check_extent", "scale = 1.0", []),
        ("clean", "_run_ffi", "cfg", []),
        # something may be
        ("clean", "gemm_halves", "x = 1", ["gemm_halves"]),
        ("clean", "_check_extent", "m = int(m)", ["gemm", "gemm_halves", "gemm_rows", "grouped_gemm"]),
        ("clean", "_check_extent", "op()", ["gemm", "gemm_halves", "gemm_rows", "grouped_gemm"]),
        # findings with fixes, which look at the functions around
        ("faulty", "gemm_halves", "x = 1", ["gemm_halves"]),
        ("faulty", "arithmetic_intensity", "x = 1", []),
        ("faulty", "search_space", "x = torch.empty(3)", []),
    ],
)
def test_only_the_ops_that_an_edit_concerns_are_run(
    tmp_path: Path, runs: list[str], example: str, function: str, line: str, ops: list[str]
) -> None:
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / example / "tilegym", root)
    (root / ".git").mkdir()
    path = root / "src" / "tilegym" / "ops" / "cutile_rs" / "gemm.py"
    text = path.read_text()
    session = session_for(root, path)
    outcome_of(session, {path: OpenSource(path, text.encode())}, path)
    assert sorted(set(runs)) == ["gemm", "gemm_halves", "gemm_rows", "grouped_gemm"]
    runs.clear()
    found = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == function)
    first = found.body[1] if ast.get_docstring(found) is not None else found.body[0]
    rows = text.splitlines(keepends=True)
    rows.insert(first.lineno - 1, f"    {line}\n")
    outcome_of(session, {path: OpenSource(path, "".join(rows).encode())}, path)
    assert sorted(runs) == ops


def test_a_name_that_is_only_read_in_a_block_changes_nothing(tmp_path: Path, runs: list[str]) -> None:
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "clean" / "tilegym", root)
    (root / ".git").mkdir()
    path = root / "src" / "tilegym" / "ops" / "cutile_rs" / "gemm.py"
    text = path.read_text()
    block = "    with torch.cuda.device(a.device):\n"
    session = session_for(root, path)
    outcome_of(session, {path: OpenSource(path, text.encode())}, path)
    for line, ops in (("plan", 0), ("launcher", 0), ("plan()", 4)):
        runs.clear()
        outcome_of(session, {path: OpenSource(path, text.replace(block, f"{block}        {line}\n", 1).encode())}, path)
        assert len(runs) == ops, line
        outcome_of(session, {path: OpenSource(path, text.encode())}, path)


def in_function(text: str, function: str, line: str) -> str:
    """The text with a line at the start of a function's body."""
    found = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == function)
    first = found.body[1] if ast.get_docstring(found) is not None else found.body[0]
    rows = text.splitlines(keepends=True)
    rows.insert(first.lineno - 1, f"    {line}\n")
    return "".join(rows)


@pytest.mark.parametrize(
    ("lines", "ops"),
    [
        # which name it is makes no difference while nothing binds it
        (["alpha = z", "alpha = ze", "alpha = zet", "alpha = zeta"], [1, 0, 0, 0]),
        (["alpha = [z]", "alpha = [ze]", "alpha = [z]"], [1, 0, 0]),
        (["group_a = ze or group_a", "group_a = zeta or group_a"], [1, 0]),
        (["f_(alpha)", "fl_(alpha)"], [1, 0]),
        # but these stand for something, or say it
        (["alpha = floa", "alpha = float"], [1, 1]),
        (["alpha = group_", "alpha = group_a"], [1, 1]),
        (["alpha = alpha.w", "alpha = alpha.wo"], [1, 1]),
        (["alpha = _check_exten", "alpha = _check_extent"], [1, 1]),
        (["work = w", "wo = w"], [1, 1]),
        (["group_a = 'w'", "group_a = 'wo'"], [1, 1]),
    ],
)
def test_a_name_that_nothing_binds_is_looked_at_once(tmp_path: Path, runs: list[str], lines: list[str], ops: list[int]) -> None:
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "clean" / "tilegym", root)
    (root / ".git").mkdir()
    path = root / "src" / "tilegym" / "ops" / "cutile_rs" / "gemm.py"
    text = path.read_text()
    session = session_for(root, path)
    outcome_of(session, {path: OpenSource(path, text.encode())}, path)
    counts = []
    for line in lines:
        runs.clear()
        opened = {path: OpenSource(path, in_function(text, "grouped_gemm", line).encode())}
        after = outcome_of(session, opened, path)
        counts.append(len(runs))
        assert seen(after) == seen(outcome_of(session_for(root, path), opened, path)), line
        del runs[counts[-1] :]
    assert counts == ops


def test_a_name_that_is_known_is_noticed_when_there_is_time(tmp_path: Path) -> None:
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "clean" / "tilegym", root)
    (root / ".git").mkdir()
    path = root / "src" / "tilegym" / "ops" / "cutile_rs" / "gemm.py"
    text = path.read_text().replace("    rc = lib.", "    more = NAME__.deepcopy(a)\n    rc = lib.", 1)
    assert "NAME__" in text and "copy" not in re.findall(r"\w+", path.read_text())
    session = session_for(root, path)
    for name in ("cop", "copy"):  # it is not imported, but what else could it be
        opened = {path: OpenSource(path, text.replace("NAME__", name).encode())}
        outcome_of(session, opened, path)
    assert session.doubt()
    after = outcome_of(session, opened, path)
    assert after is not None and [finding.code for finding in after.findings] == ["CTL102"]
    assert not session.doubt()


@pytest.mark.parametrize(("line", "runs_again"), [("// a word", False), ("/* a */", False), ("let scale = 1;", True)])
@pytest.mark.parametrize("file", ["ffi.rs", "kernel.rs"])
def test_a_comment_in_a_rust_file_is_of_no_op(tmp_path: Path, runs: list[str], file: str, line: str, runs_again: bool) -> None:
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "faulty" / "tilegym", root)
    (root / ".git").mkdir()
    package = root / "src" / "tilegym" / "ops" / "cutile_rs"
    wrapper, rust = package / "gemm.py", package / "gemm_kernel" / file
    opened = {path: OpenSource(path, path.read_bytes()) for path in (wrapper, rust)}
    session = session_for(root, wrapper)
    outcome_of(session, opened, wrapper)
    runs.clear()
    rows = rust.read_text().splitlines(keepends=True)
    row = next(at for at, text in enumerate(rows) if text.lstrip().startswith("let "))
    rows.insert(row, f"{line}\n")
    opened = {**opened, rust: OpenSource(rust, "".join(rows).encode())}
    after = outcome_of(session, opened, wrapper)
    assert bool(runs) == runs_again
    assert seen(after) == seen(outcome_of(session_for(root, wrapper), opened, wrapper))


def test_a_change_in_rust_runs_no_python(tmp_path: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "faulty" / "tilegym", root)
    (root / ".git").mkdir()
    package = root / "src" / "tilegym" / "ops" / "cutile_rs"
    wrapper, rust = package / "gemm.py", package / "gemm_kernel" / "ffi.rs"
    opened = {path: OpenSource(path, path.read_bytes()) for path in (wrapper, rust)}
    session = session_for(root, wrapper)
    ran: list[Path] = []
    run = loading.run_registered

    def noted(program: object, path: Path, *arguments: object) -> object:
        ran.append(path)
        return run(program, path, *arguments)

    monkeypatch.setattr(loading, "run_registered", noted)
    outcome_of(session, opened, wrapper)
    assert len(ran) == 4
    text = rust.read_text()
    first = text.index("{\n", text.index('extern "C" fn')) + 2
    for line in ("return -7;", "let a = b;", "", "// the end"):
        runs.clear()
        ran.clear()
        changed = text[:first] + f"    {line}\n" + text[first:]
        opened = {**opened, rust: OpenSource(rust, changed.encode())}
        after = outcome_of(session, opened, wrapper)
        assert len(runs) in (0, 4) and not ran, line
        assert seen(after) == seen(outcome_of(session_for(root, wrapper), opened, wrapper)), line
    # a change of Python between them makes their places old ones
    opened = {**opened, wrapper: OpenSource(wrapper, b"# a word\n" + wrapper.read_bytes())}
    outcome_of(session, opened, wrapper)
    opened = {**opened, rust: OpenSource(rust, changed.replace("// the end", "return -8;").encode())}
    after = outcome_of(session, opened, wrapper)
    assert seen(after) == seen(outcome_of(session_for(root, wrapper), opened, wrapper))


def test_a_blank_beside_a_finding_in_rust_moves_what_is_known(tmp_path: Path, runs: list[str]) -> None:
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "clean" / "tilegym", root)
    (root / ".git").mkdir()
    package = root / "src" / "tilegym" / "ops" / "cutile_rs"
    wrapper, rust = package / "gemm.py", package / "gemm_kernel" / "ffi.rs"
    text = rust.read_text()
    first = text.index("{\n", text.index("fn cutile_gemm")) + 2
    typed = [
        text[:first] + f"    let{blank}\n" + text[first:] for blank in ("", " ")
    ]  # takes the check behind it for its pattern
    session = session_for(root, wrapper)
    opened = {wrapper: OpenSource(wrapper, wrapper.read_bytes()), rust: OpenSource(rust, typed[0].encode())}
    before = outcome_of(session, opened, wrapper)
    assert before is not None and "CTL508" in {finding.code for finding in before.findings}
    runs.clear()
    opened = {**opened, rust: OpenSource(rust, typed[1].encode())}
    after = outcome_of(session, opened, wrapper)
    assert not runs
    assert seen(after) == seen(outcome_of(session_for(root, wrapper), opened, wrapper))


def test_a_text_that_was_refused_is_not_the_last_good_one(tmp_path: Path) -> None:
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "faulty" / "skill" / "scale_residual", root)
    (root / ".git").mkdir()
    path = root / "wrapper.py"
    text = path.read_bytes()
    session = session_for(root, path)
    before = seen(outcome_of(session, {path: OpenSource(path, text)}, path))
    outcome_of(session, {path: OpenSource(path, text + b"\0")}, path)
    opened = {path: OpenSource(path, text + b"def broken(:\n")}
    assert seen(outcome_of(session, opened, path)) == before


def test_a_file_that_is_read_before_it_is_told_is_noticed(tmp_path: Path) -> None:
    """It comes between the check of the open op, which lists its folder, and the look through the workspace, which reads it."""
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "faulty" / "skill", root)
    (root / ".git").mkdir()
    wrapper, kernel = root / "scale_residual" / "wrapper.py", root / "scale_residual" / "kernel.rs"
    text = kernel.read_text()
    kernel.unlink()
    session = Session()
    session.set_client(ClientSettings(scope="workspace"), [root])
    opened = {wrapper: OpenSource(wrapper, wrapper.read_bytes())}
    session.update(opened)
    key = session.next()
    assert key == wrapper
    assert "CTL105" not in {finding.code for finding in session.check(key).findings}
    kernel.write_text(text)
    while (key := session.next()) is not None:
        session.check(key)
    session.update(opened, [kernel])
    while (key := session.next()) is not None:
        session.check(key)
    assert "CTL105" in {finding.code for finding in session._outcomes[wrapper].findings}


def test_a_file_that_a_wrapper_turns_out_to_use_is_no_loose_one(tmp_path: Path) -> None:
    """The loose files come first when a Rust file is open: before it is known what the wrappers use."""
    for name in ("first", "second"):
        shutil.copytree(ROOT / "examples" / "faulty" / "skill", tmp_path / name)
    (tmp_path / "second" / "cutile-lint.toml").write_text('extend-exclude = ["scale_residual/"]\n')
    session = Session()
    session.set_client(ClientSettings(scope="workspace"), [tmp_path / "first"])
    kernel = tmp_path / "second" / "scale_residual" / "kernel.rs"
    session.update({kernel: OpenSource(kernel, kernel.read_bytes())})
    while (key := session.next()) is not None:
        session.check(key)
    found = [finding for outcome in session._outcomes.values() for finding in outcome.findings if finding.code == "CTL202"]
    assert [[place.place.path.name for place in finding.related] for finding in found] == [["wrapper.py", "ffi.rs"]]


def test_a_file_is_waited_for_while_an_old_result_speaks_of_it(tmp_path: Path) -> None:
    root = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "faulty" / "skill", root)
    ffi = root / "scale_residual" / "ffi.rs"
    text = ffi.read_bytes()
    for changed_after in range(1, 5):
        session = Session()
        session.set_client(ClientSettings(scope="workspace"), [root])
        session.update({ffi: OpenSource(ffi, text)})
        checks = 0
        while (key := session.next()) is not None:
            session.check(key)
            checks += 1
            if checks == changed_after:
                session.update({ffi: OpenSource(ffi, b"// a word\n" + text)})
            old = [one for one in session._dirty if ffi in session._outcomes.get(one, Outcome()).files]
            assert session.is_waiting(ffi) or not old
