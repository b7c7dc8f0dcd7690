"""Writing files whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cutile_lint.sources.files import ChangedMeanwhile, write_atomically


def test_mode_and_link_are_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_bytes(b"old")
    real.chmod(0o751)
    link.symlink_to("real.py")
    write_atomically(link, b"new\r\n", expected=b"old")
    assert real.read_bytes() == b"new\r\n" and link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o751
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.py", "real.py"]


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"theirs")
    with pytest.raises(ChangedMeanwhile, match="changed on disk"):
        write_atomically(path, b"ours", expected=b"read")
    assert path.read_bytes() == b"theirs"


def test_a_failing_write_leaves_the_old_text_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.py"]
