"""Files outside PATHS are written only inside the project, and never through a link that leads out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.config import Configurations
from cutile_lint.fixes import write_changes
from cutile_lint.fixes.scope import scope_of
from cutile_lint.sources.discovery import repository_root


def test_the_configuration_s_folder_is_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "wrappers").mkdir(parents=True)
    (project / "cutile-lint.toml").write_text('extend-exclude = ["vendored/"]\n')
    scope = scope_of([project / "wrappers"], Configurations())
    assert scope.refusal(project / "kernels" / "ffi.rs") == ""
    assert "excluded" in scope.refusal(project / "vendored" / "ffi.rs")
    assert "outside the project" in scope.refusal(tmp_path / "other" / "ffi.rs")


def test_else_the_repository_else_the_common_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def root_below_here(folder: Path) -> Path | None:  # the tests' own folder may lie in a repository
        found = repository_root(folder)
        return found if found is not None and found.is_relative_to(tmp_path) else None

    monkeypatch.setattr("cutile_lint.fixes.scope.repository_root", root_below_here)
    for name in ("repo/.git", "repo/a", "plain/a", "plain/b"):
        (tmp_path / name).mkdir(parents=True)
    assert scope_of([tmp_path / "repo" / "a"], Configurations()).refusal(tmp_path / "repo" / "b.rs") == ""
    plain = scope_of([tmp_path / "plain" / "a", tmp_path / "plain" / "b"], Configurations())
    assert plain.refusal(tmp_path / "plain" / "c.rs") == ""
    assert plain.refusal(tmp_path / "d.rs") != ""


def test_a_link_out_of_the_project_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "secret.py").write_text("x = 1\n")
    (tmp_path / "repo" / "link.py").symlink_to(tmp_path / "secret.py")
    assert "outside the project" in scope_of([tmp_path / "repo"], Configurations()).refusal(tmp_path / "repo" / "link.py")


def test_writing_goes_on_after_a_failure(tmp_path: Path) -> None:
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    a.write_bytes(b"theirs")
    b.write_bytes(b"old")
    failures = write_changes({a: b"new", b: b"new"}, {a: b"old", b: b"old"})
    assert list(failures) == [a] and "changed on disk" in failures[a]
    assert a.read_bytes() == b"theirs" and b.read_bytes() == b"new"
