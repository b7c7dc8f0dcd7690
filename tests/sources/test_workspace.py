"""Reading files: cached, overlays first, failures on record and never a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cutile_lint.sources import Workspace, workspace


def test_reads_a_file_once_and_keeps_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfx = 'caf\xc3\xa9'\r\n")
    files = Workspace()
    source = files.source(path)
    assert source is not None and source.data == path.read_bytes()
    path.write_text("changed")
    assert files.source(path) is source
    assert files.reads[path] is not None and files.reads[path].size == len(source.data)


def test_other_spellings_are_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    files = Workspace()
    source = files.source(Path("sub/../a.py"))
    assert source is not None and source.path == tmp_path / "a.py"
    assert files.source(tmp_path / "a.py") is source


def test_a_missing_file_is_a_recorded_miss(tmp_path: Path) -> None:
    files = Workspace()
    assert files.source(tmp_path / "gone.py") is None
    assert not files.exists(tmp_path / "gone.rs")
    assert files.source(tmp_path / ("n" * 300)) is None
    assert {tmp_path / "gone.py", tmp_path / "gone.rs"} <= files.misses
    assert files.problems == {}


def test_an_overlay_wins_and_may_be_new(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("old\n")
    files = Workspace({tmp_path / "a.py": b"new\n", tmp_path / "pkg" / "b.rs": b"fn b() {}\n"})
    assert files.source(tmp_path / "a.py").text == "new\n"
    assert files.source(tmp_path / "pkg" / "b.rs").text == "fn b() {}\n"
    assert files.exists(tmp_path / "pkg") and files.exists(tmp_path / "pkg" / "b.rs")
    assert files.entries(tmp_path) == [tmp_path / "a.py", tmp_path / "pkg"]
    assert files.entries(tmp_path / "pkg") == [tmp_path / "pkg" / "b.rs"]
    assert files.reads[tmp_path / "a.py"] is None


def test_other_overlays_keep_the_sources_that_did_not_change(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("x = 1\n")
    a, b, c = (tmp_path / name for name in ("a.py", "b.py", "c.py"))
    first = Workspace({b: b"y = 1\n", c: b"z = 1\n"})
    sources = {path: first.source(path) for path in (a, b, c)}
    second = first.overlaid({b: b"y = 1\n", a: b"w = 1\n"})
    assert second.source(b) is sources[b]
    assert second.source(a).text == "w = 1\n"
    assert second.source(c).text == "x = 1\n"
    third = second.overlaid({})
    assert third.source(a).text == "x = 1\n" and third.source(c) is second.source(c)


@pytest.mark.parametrize(
    ("content", "kind", "told"),
    [
        (b"ok = 1\nname = '\xe9'\n", "not-utf8", "byte 0xe9 in row 2"),
        (b"x = 1\0\n", "nul-bytes", "NUL"),
        (b"#" * (workspace.SIZE_LIMITS[".py"] + 1), "too-large", "2.0 MB"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, content: bytes, kind: str, told: str) -> None:
    path = tmp_path / "bad.py"
    path.write_bytes(content)
    for files in (Workspace(), Workspace({path: content})):
        assert files.source(path) is None
        assert files.problems[path].kind == kind
        assert told in files.problems[path].message


def test_a_pipe_does_not_block_and_a_directory_is_no_source(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    files = Workspace()
    assert files.source(tmp_path / "pipe.py") is None
    assert files.source(tmp_path / "folder.py") is None
    assert list(files.problems) == [tmp_path / "pipe.py"]


def test_entries_are_sorted_and_links_that_lead_back_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "b" / "deep").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "a.py").write_text("")
    (tmp_path / "b" / "deep" / "up").symlink_to(tmp_path / "b")
    (tmp_path / "b" / "across").symlink_to(tmp_path / "other")
    (tmp_path / "other" / "back").symlink_to(tmp_path / "b")
    (tmp_path / "self").symlink_to(tmp_path / "self")
    files = Workspace()
    assert [path.name for path in files.entries(tmp_path)] == ["a.py", "b", "other"]
    assert files.entries(tmp_path / "b" / "deep") == []
    assert files.entries(tmp_path / "b" / "across") == []  # its "back" leads to b, which is on the way
    assert files.entries(tmp_path / "nowhere") == []
    assert files.listings[tmp_path / "nowhere"] == ()
