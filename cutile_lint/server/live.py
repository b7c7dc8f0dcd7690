"""The files of a workspace while they are edited: one :class:`Workspace` that changes in place and says what an analysis looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from cutile_lint.inputs import list_folder
from cutile_lint.sources import Source, Workspace
from cutile_lint.sources.workspace import size_limit


class LiveWorkspace(Workspace):
    """Sources keep their identity until their file changes, so that what is known by them (trees) stays good."""

    def __init__(self) -> None:
        super().__init__()
        #: paths of files and folders looked at since the set was last emptied
        self.asked: set[Path] = set()
        #: what was there, and what was looked for in vain, before it was to be found out anew
        self._there: dict[Path, bool] = {}

    def source(self, path: Path) -> Source | None:
        self.asked.add(path)
        return super().source(path)

    def exists(self, path: Path) -> bool:
        self.asked.add(path)
        return super().exists(path)

    def entries(self, directory: Path) -> list[Path]:
        self.asked.add(directory)
        return super().entries(directory)

    def lay_over(self, path: Path, source: Source) -> bool:
        """Let a buffer's text stand for the file. Returns whether a file is there now that was not before."""
        new = path not in self.overlays and not self.exists(path)
        self.overlays[path] = source.data
        self.problems.pop(path, None)
        self.reads[path] = None
        if len(source.data) > size_limit(path) or b"\0" in source.data:
            self._sources[path] = self._load(path)
        else:
            self._sources[path] = source
        if new:
            self._forget_tree()
        return new

    def uncover(self, path: Path) -> None:
        """Back to the file on disk."""
        if self.overlays.pop(path, None) is not None:
            self._drop(path)
            self._forget_tree()

    def reread(self, path: Path) -> bool:
        """Notice that a file or folder has changed on disk. Returns whether it, or anything in the folder, has come or gone."""
        if path in self.overlays:
            return False
        was = self._exists.get(path, path in self.reads)
        listed = self._listed.pop(path, None)
        self._drop(path)
        changed = was != os.path.exists(path) or (listed is not None and listed != list_folder(str(path)))
        if (around := self._listed.get(path.parent)) is not None:  # it may have come between this list and its own reading
            changed = changed or around != list_folder(str(path.parent))
        if changed:
            self._forget_tree()
        return changed

    def listed_with(self, path: Path) -> Iterator[Path]:
        """The folders in whose lists a file that has come or gone makes a difference: its own, and one in which that came with it."""
        for folder in path.parents:
            yield folder
            if folder in self._listed:
                break

    def is_stale(self, path: Path) -> bool:
        """Whether a file that was read has another stamp now (for clients that watch no files)."""
        stamp = self.reads.get(path)
        if stamp is None or path in self.overlays:
            return False
        try:
            state = os.stat(path)
        except OSError:
            return True
        return (state.st_mtime_ns, state.st_size, state.st_ino) != (stamp.mtime, stamp.size, stamp.inode)

    def is_other(self, path: Path) -> bool:
        """Whether a path is not as it was found: :meth:`is_stale`, come or gone, or a folder with other files."""
        if path in self.overlays:
            return False
        if path in self.reads:
            return self.is_stale(path)
        if (listed := self._listed.get(path)) is not None:
            return listed != list_folder(str(path))
        there = self._exists.get(path, False if path in self.misses else self._there.get(path))
        return there is not None and there != (path in self._overlay_children or os.path.exists(path))

    def below(self, paths: Iterable[Path]) -> set[Path]:
        """What was looked at in those of the paths that are folders, or were before they went."""
        folders = {path for path in paths if path not in self.reads and not os.path.isfile(path)}
        known = {*self.reads, *self._there, *self._exists, *self.misses, *self._listed} if folders else set()
        return {path for path in known if not folders.isdisjoint(path.parents)}

    def _drop(self, path: Path) -> None:
        for table in (self._sources, self._there, self._exists, self._kinds, self._digests, self.reads, self.problems):
            table.pop(path, None)  # type: ignore[attr-defined]
        self.misses.discard(path)

    def _forget_tree(self) -> None:
        """What is where must be found out anew."""
        for path in [path for path, source in self._sources.items() if source is None and path not in self.problems]:
            del self._sources[path]
        self._there.update({**dict.fromkeys(self.misses, False), **self._exists})
        self._exists.clear()
        self._entries.clear()
        self._kinds.clear()
        self.misses.clear()
        self.__dict__.pop("test_trees", None)
        self._overlay_children.clear()
        for path in self.overlays:
            child = path
            for parent in path.parents:
                self._overlay_children.setdefault(parent, set()).add(child.name)
                child = parent
