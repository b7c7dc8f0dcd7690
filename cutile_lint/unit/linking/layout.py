"""Which files make up an op: wrappers among the given paths, and the Rust files that export what they call.

Files are linked by **symbol**, not by name; of several files with one symbol the nearest (longest common folder) wins.
Everything here works on bytes: nothing is parsed before it is known to belong to an op.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.sources.discovery import SKIPPED_FOLDERS, repository_root
from cutile_lint.sources.workspace import Workspace

_EXPORT = regex(rb'\bextern\s+(?:"(?:C|system)(?:-unwind)?"\s+)?fn\s+(\w+)|\bexport_name\s*=\s*"(\w+)"')
#: a function that is named by a metavariable, for C; comments, and texts that are no symbol
_MAKES = regex(rb"\bextern\b[^{}]*\bfn\s+\$\w+")
_NO_CODE = regex(rb'//[^\n]*|/\*.*?\*/|"(?!cutile_\w+")(?:\\.|[^"\\])*"', re.DOTALL)
_SYMBOL = regex(rb"\bcutile_\w+")
_INCLUDE = regex(rb'include!\s*\(\s*"([^"]+)"\s*\)|#\[path\s*=\s*"([^"]+)"\]')
_DECLARED = regex(rb"\bmod\s+(\w+)\s*;")
#: an import of names as they are; not one that gives the decorator another name
_IMPORT = regex(rb"(?m)^[ \t]*from\s+[.\w]+\s+import\s+(?:\([^)]*\)|[^(\n]*$)")
_RENAMED = regex(rb"\bregister_impl\s+as\b")
_MACRO = regex(rb"\bmacro_rules!\s*(\w+)")
#: words that look like symbols and are the names of packages
_NOT_SYMBOLS = frozenset([b"cutile_rs", b"cutile_kernels", b"cutile_lint", b"cutile_module", b"cutile_compiler", b"cutile_macro"])
#: how far a search for partners goes up and down from a file
_UP, _DOWN = 4, 4
#: bytes of an invocation among which symbols are looked for
_MOST_GIVEN = 2000
#: how far below the repository's root a package is looked for
_AFAR = 8


@dataclass(slots=True)
class OpFiles:
    """The files of one wrapper. ``rust`` has the exporting files first, then what they use."""

    wrapper: Path | None
    symbols: frozenset[str]
    rust: list[Path] = field(default_factory=list)
    exports: dict[str, Path] = field(default_factory=dict)
    library: Path | None = None
    #: the crate root again, when what it defines is for this op: it has no exports of others
    root: Path | None = None
    manifest: Path | None = None


class Layout:
    """Finds the files of ops around the paths of a run. ``project``: the folder of the configuration, a repository for want of one."""

    def __init__(self, workspace: Workspace, paths: Iterable[Path], markers: Iterable[str], project: Path | None = None) -> None:
        self.workspace = workspace
        self._project = project
        self.given = list(dict.fromkeys(paths))
        self._markers = tuple(marker.encode() for marker in markers)
        self._exports: dict[bytes, list[Path]] = {}
        self._indexed: set[Path] = set()
        self._named: dict[Path, tuple[bytes, frozenset[bytes]]] = {}
        self._given_rust = [path for path in self.given if path.suffix == ".rs"]
        self._trees: dict[Path, list[Path]] = {}
        self._library_files: dict[Path, list[Path]] = {}
        self._packages: dict[Path, list[Path]] = {}
        self._decorated: dict[Path, list[Path]] = {}
        self._macro_texts: dict[Path, dict[bytes, bytes]] = {}
        self._macros_in: dict[Path, dict[bytes, bytes]] = {}

    # ── wrappers ──

    def data(self, path: Path) -> bytes:
        source = self.workspace.source(path)
        return source.raw if source is not None else b""  # an editor finds its ops anew when a word changes that links files

    def is_wrapper(self, path: Path) -> bool:
        """The file launches kernels or registers an op for cutile-rs (a cheap look at its bytes)."""
        data = self.data(path)
        if b"cutile" not in data or _is_test(path) or b"ffi.dlopen(" in data:
            return False
        if b"cutile-rs" in data and b"register_impl" in data and not self._registers_other(data):
            return True
        return any(marker in data for marker in self._markers) and b"def " in data and not self._is_runtime(path)

    def _registers_other(self, data: bytes) -> bool:
        """A module that only looks backends up (the dispatch table) registers nothing itself."""
        return b"cutile_" not in data and b"autotune_launch" not in data and b"def register_impl" in data

    def _is_runtime(self, path: Path) -> bool:
        return any(b"def " + marker + b"(" in self.data(path) for marker in self._markers)

    def wrappers(self) -> list[Path]:
        """Wrappers among the given paths, and those whose partners were given."""
        found: dict[Path, None] = {}
        for path in self.given:
            if path.suffix in (".py", ".pyi"):
                if self.is_wrapper(path):
                    found.update(dict.fromkeys(self._with_importers(path)))
                elif b"cutile" in self.data(path) and not _is_test(path):
                    found.update(dict.fromkeys(self._importers(path)))
            elif path.name in ("lib.rs", "Cargo.toml", "ffi_util.rs"):
                if path.suffix == ".toml" and b"cutile" not in self.data(path):
                    continue  # some other crate's
                found.update(dict.fromkeys(self._wrappers_near(path, None)))
        named = {symbol for wrapper in found for symbol in self._symbols(wrapper)}
        places: dict[bytes, set[Path]] = {}
        asked: list[tuple[Path, set[bytes]]] = []
        for path in self.given:
            if path.suffix == ".rs" and path.name not in ("lib.rs", "ffi_util.rs"):
                asked.append((path, self._symbols_around(path)))
            elif path.suffix in (".mlir", ".json"):
                beside = path.parent.parent / "ffi.rs"
                asked.append((beside, {symbol for entry in self._rust_in(beside.parent) for symbol in self._exporting(entry)}))
        for path, symbols in asked:
            for symbol in symbols:
                places.setdefault(symbol, set()).add(path.parent)
        for path, symbols in asked:  # one that stands in several places has a wrapper near each of them
            if symbols and (not symbols & named or any(len(places[symbol]) > 1 for symbol in symbols)):
                near = list(self._wrappers_near(path, symbols))
                found.update(dict.fromkeys(near))
                named.update(symbol for wrapper in near for symbol in self._symbols(wrapper))
        return sorted(found)

    def _with_importers(self, path: Path) -> list[Path]:
        """The wrapper itself, or the modules of its package that register an op with its help."""
        if self._registers(path):
            return [path]
        importers = self._importers(path)
        return importers or [path]

    def _registers(self, path: Path) -> bool:
        """The file uses the name of the decorator, other than to import it."""
        data = self.data(path)
        if b"register_impl" not in data:
            return False
        return _RENAMED.search(data) is not None or b"register_impl" in _IMPORT.sub(b"", data)

    def _importers(self, path: Path) -> list[Path]:
        """Wrappers beside a helper module (or one folder up) that import it; of a private module also those that register nothing."""
        name = (path.parent.name if path.name == "__init__.py" else path.stem).encode()
        beside = [*self._registering(path.parent), *self._registering(path.parent.parent)]
        found = self._importing(path, name, beside)
        private = path.name.startswith("_") and path.name != "__init__.py"
        return found or (self._importing(path, name, self._python_in(path.parent)) if private else [])

    def _importing(self, path: Path, name: bytes, beside: list[Path]) -> list[Path]:
        naming = [other for other in beside if name in self.data(other) and other != path]
        if not naming:
            return []
        stem = re.escape(name)
        imported = re.compile(
            rb"(?m)^[ \t]*(?:from|import)\b[^\n]*\b" + stem + rb"\b|^[ \t]*from\s+[.\w]+\s+import\s*\([^()]*\b" + stem + rb"\b"
        )
        return [other for other in naming if imported.search(self.data(other)) and self.is_wrapper(other)]

    def _wrappers_near(self, path: Path, symbols: set[bytes] | None) -> Iterator[Path]:
        """Wrappers in the folders above a Rust file that name one of its symbols (None: any wrapper)."""
        for folder in self._above(path):
            hits = [
                other
                for other in self._python_in(folder)
                if (symbols is None or symbols & self._symbols(other)) and self.is_wrapper(other)
            ]
            if hits:
                for hit in hits:
                    yield from self._with_importers(hit)
                return
        if symbols:
            for hit in self._wrappers_afar(path, symbols):
                yield from self._with_importers(hit)

    def _above(self, path: Path) -> Iterator[Path]:
        """The folders above a file, nearest first, as far as a search goes: not out of the repository."""
        folder = path.parent
        for _ in range(_UP):
            yield folder
            if folder.parent == folder or self.workspace.exists(folder / ".git"):
                return
            folder = folder.parent

    def _wrappers_afar(self, path: Path, symbols: set[bytes]) -> list[Path]:
        """Wrappers elsewhere in the repository, for a file in a pipeline's output folder: in packages named for cutile."""
        root = repository_root(path.parent)
        if self._project in path.parents and (root is None or root in self._project.parents):  # type: ignore[union-attr]
            root = self._project
        if root is None:
            return []
        if root not in self._packages:
            self._packages[root] = list(self._python_packages(root, _AFAR))
        hits = [other for other in self._packages[root] if symbols & self._symbols(other) and self.is_wrapper(other)]
        nearest = max((_common(path, other) for other in hits), default=0)
        return [other for other in hits if _common(path, other) == nearest]

    def _python_packages(self, folder: Path, depth: int) -> Iterator[Path]:
        inside = "cutile" in folder.name
        for entry in self.workspace.entries(folder):
            if entry.suffix == ".py" and inside:
                yield entry
            elif depth and not entry.suffix and entry.name[0] != "." and entry.name not in SKIPPED_FOLDERS:
                yield from self._python_packages(entry, depth - 1)

    def _python_in(self, folder: Path) -> list[Path]:
        return [path for path in self.workspace.entries(folder) if path.suffix == ".py"]

    def _registering(self, folder: Path) -> list[Path]:
        """The Python files of a folder that have the name of the decorator."""
        if folder not in self._decorated:
            self._decorated[folder] = [path for path in self._python_in(folder) if b"register_impl" in self.data(path)]
        return self._decorated[folder]

    def _rust_in(self, folder: Path) -> list[Path]:
        return [path for path in self.workspace.entries(folder) if path.suffix == ".rs"]

    def _symbols(self, path: Path) -> frozenset[bytes]:
        """The words of a file that look like symbols of kernels."""
        data = self.data(path)
        known, found = self._named.get(path, (b"", frozenset()))
        if known is not data:
            found = frozenset(_SYMBOL.findall(data)) - _NOT_SYMBOLS
            self._named[path] = (data, found)
        return found

    def _symbols_around(self, path: Path) -> set[bytes]:
        """Symbols exported by a Rust file, or by its neighbours when it exports none (``kernel.rs``)."""
        own = set(self._exporting(path))
        if own:
            return own
        return {symbol for other in self._rust_in(path.parent) for symbol in self._exporting(other)}

    # ── exports ──

    def _exporting(self, path: Path) -> list[bytes]:
        data = self.data(path)
        found = []
        if b"extern" in data or b"export_name" in data:
            found = [match[1] or match[2] for match in _EXPORT.finditer(data) if not _in_comment(data, match.start())]
        if b"!" in data and _SYMBOL.search(data):
            found += [symbol for symbol in _given_to(self._makers(path), data) if symbol not in found]
        return found

    def _makers(self, path: Path) -> set[bytes]:
        """The macros that make exported functions under names that they are given, of a file and of those around and above it."""
        found = self._macros(path)
        for folder in self._above(path):
            if folder not in self._macros_in:
                files = [*self._rust_in(folder), *self._libraries_in(folder)]
                self._macros_in[folder] = {name: text for other in files for name, text in self._macros(other).items()}
            found = {**self._macros_in[folder], **found}
        makers = {name for name, text in found.items() if _MAKES.search(text)}
        while more := {name for name, text in found.items() if name not in makers and any(_invoked(makers, text))}:
            makers |= more
        return makers

    def _macros(self, path: Path) -> dict[bytes, bytes]:
        """The macros that a file defines, each with its text and what follows up to the next."""
        if path not in self._macro_texts:
            _, *pieces = _MACRO.split(self.data(path)) if b"macro_rules!" in self.data(path) else [b""]
            self._macro_texts[path] = dict(zip(pieces[::2], pieces[1::2], strict=True))
        return self._macro_texts[path]

    def _index(self, paths: Iterable[Path]) -> None:
        for path in paths:
            if path not in self._indexed:
                self._indexed.add(path)
                for symbol in self._exporting(path):
                    self._exports.setdefault(symbol, []).append(path)

    def files_of(self, wrapper: Path, modules: Iterable[Path] = ()) -> OpFiles:
        """The op's files: its wrapper with the sibling ``modules`` it uses, and the Rust side of its symbols."""
        symbols = self._symbols(wrapper)
        for module in modules:
            symbols |= self._symbols(module)
        files = OpFiles(wrapper, frozenset(symbol.decode() for symbol in symbols))
        self._index(self._given_rust)
        self._given_rust = []
        if not all(any(wrapper.parent in path.parents for path in self._exports.get(symbol, ())) for symbol in symbols):
            self._index(self._rust_below(wrapper.parent))
            library = self._library(wrapper)
            if library is not None and any(symbol not in self._exports for symbol in symbols):
                self._index(self._paths_in(library, self.data(library)))
        for symbol in sorted(symbols):
            if candidates := self._exports.get(symbol):
                files.exports[symbol.decode()] = max(candidates, key=lambda path: (_common(path, wrapper), -len(path.parts)))
        self._add_rust(files)
        return files

    def files_of_export(self, path: Path) -> OpFiles:
        """The files around an export that no wrapper calls."""
        symbols = self._exporting(path)
        files = OpFiles(None, frozenset(symbol.decode() for symbol in symbols))
        files.exports = {symbol.decode(): path for symbol in symbols}
        self._add_rust(files)
        return files

    def _add_rust(self, files: OpFiles) -> None:
        for path in dict.fromkeys(files.exports.values()):
            files.library = files.library or self._library(path) or self._library_including(path, files.wrapper)
            files.manifest = files.manifest or self._manifest(path, files.library)
            for other in self._used_by(path, files.library):
                if other not in files.rust:
                    files.rust.append(other)
        if files.library is not None and (not self._exporting(files.library) or files.library in files.exports.values()):
            files.root = files.library
        if files.library is None and files.wrapper is not None:
            files.library = self._library_beside(files.wrapper)

    def _library_beside(self, wrapper: Path) -> Path | None:
        """The crate root in the wrapper's package, or beside it, though nothing in it is the wrapper's."""
        library = self._library(wrapper)
        package = (wrapper.parent, wrapper.parent.parent)
        return library if library is not None and any(folder in library.parents for folder in package) else None

    def _used_by(self, path: Path, library: Path | None) -> list[Path]:
        """The exporting file, files included beside it in the crate root, its neighbours, and the shared files above it."""
        found = [path]
        if library is not None:
            found += self._included_with(path, library)
        found += [other for other in self._rust_in(path.parent) if not self._exporting(other)]
        shared = []
        for folder in list(self._above(path))[1:]:
            shared += [other for other in self._rust_in(folder) if not self._exporting(other) and other.name != "build.rs"]
            if library is not None and folder == library.parent.parent.parent:
                break
        found += self._in_use(shared, [*found, *([library] if library is not None else [])])
        if library is not None:
            found += [other for other in self._rust_in(library.parent) if not self._exporting(other)]
            found += self._paths_in(library, self.data(library), attributes=True)
            found += [other for other in self._declared(library) if not self._exporting(other)]
        return [other for other in dict.fromkeys(found) if other.name != "lib.rs"]

    def _declared(self, library: Path) -> list[Path]:
        """The files of the modules that the crate root declares (``mod x;``), and of those within them."""
        found: dict[Path, None] = {}
        waiting = [(library, library.parent)]
        while waiting:
            path, folder = waiting.pop()
            for name in map(os.fsdecode, _DECLARED.findall(self.data(path))):
                for other in (folder / f"{name}.rs", folder / name / "mod.rs"):
                    if other not in found and self.workspace.exists(other):
                        found[other] = None
                        waiting.append((other, folder / name))
        return list(found)

    def _in_use(self, shared: list[Path], users: list[Path]) -> list[Path]:
        """Those of the files above an op that its files, or the files so found, name: as a module or by a macro they define."""
        text, left, found = b"\n".join(self.data(user) for user in users), shared, []
        while named := [other for other in left if self._is_used(other, text)]:
            found += named
            left = [other for other in left if other not in named]
            text = b"\n".join(self.data(other) for other in named)
        return [other for other in shared if other in found]

    def _is_used(self, path: Path, text: bytes) -> bool:
        macros = set(_MACRO.findall(self.data(path))) - set(_MACRO.findall(text))
        words = [re.escape(path.stem.encode()), *(name + b"\\s*!" for name in sorted(macros))]
        return re.search(rb"(?<![\w$])(?:" + b"|".join(words) + rb")(?!\w)", text) is not None

    def _included_with(self, path: Path, library: Path) -> list[Path]:
        """Files that the crate root includes in the same ``mod`` as ``path``."""
        for block in re.split(rb"\bmod\s+\w+\s*\{", self.data(library)):
            paths = self._paths_in(library, block)
            if path in paths:
                return [other for other in paths if other != path]
        return []

    def _paths_in(self, library: Path, data: bytes, attributes: bool = False) -> list[Path]:
        found = []
        for included, attribute in _INCLUDE.findall(data):
            text = attribute if attributes else included
            if text:
                other = Path(os.path.normpath(library.parent / os.fsdecode(text)))
                if self.workspace.exists(other):
                    found.append(other)
        return found

    # ── the crate ──

    def _library(self, path: Path) -> Path | None:
        """The crate root (``lib.rs``) that includes the file, else the nearest one around it."""
        nearest: Path | None = None
        for folder in self._above(path):
            for candidate in self._libraries_in(folder):
                nearest = nearest or candidate
                if path in self._paths_in(candidate, self.data(candidate)) or candidate.parent == path.parent:
                    return candidate
            if nearest is not None:
                return nearest
        return nearest

    def _library_including(self, path: Path, wrapper: Path | None) -> Path | None:
        """The crate root near the wrapper, when it includes the file from afar (a pipeline's output folder)."""
        library = self._library(wrapper) if wrapper is not None else None
        return library if library is not None and path in self._paths_in(library, self.data(library)) else None

    def _libraries_in(self, folder: Path) -> list[Path]:
        if folder not in self._library_files:
            found = [folder / "lib.rs", folder / "src" / "lib.rs"]
            for entry in self.workspace.entries(folder):
                if not entry.suffix and not entry.name.startswith(".") and entry.name not in SKIPPED_FOLDERS:
                    found += [entry / "src" / "lib.rs"]
            self._library_files[folder] = [path for path in found if self.workspace.exists(path)]
        return self._library_files[folder]

    def _manifest(self, path: Path, library: Path | None) -> Path | None:
        folder = library.parent if library is not None else path.parent
        for _ in range(3):
            candidate = folder / "Cargo.toml"
            if self.workspace.exists(candidate):
                return candidate
            if folder.parent == folder:
                return None
            folder = folder.parent
        return None

    def _rust_below(self, folder: Path, depth: int = _DOWN) -> list[Path]:
        """Rust files in a folder and below (build output left out)."""
        if folder not in self._trees:
            found: list[Path] = []
            for path in self.workspace.entries(folder):
                if path.suffix == ".rs":
                    found.append(path)
                elif depth and not path.suffix and not path.name.startswith(".") and path.name not in SKIPPED_FOLDERS:
                    found += self._rust_below(path, depth - 1)
            self._trees[folder] = found
        return self._trees[folder]


def _invoked(names: set[bytes], text: bytes) -> Iterator[int]:
    """Where the arguments of macros of these names begin; nothing for none."""
    if not names:
        return iter(())
    pattern = rb"(?<![\w$])(?:" + b"|".join(map(re.escape, sorted(names))) + rb")\s*!\s*[({\[]"
    return (match.end() for match in re.finditer(pattern, text))


def _given_to(makers: set[bytes], data: bytes) -> Iterator[bytes]:
    """Symbols among the arguments of these macros, where they are no texts."""
    for start in _invoked(makers, data):
        given = _NO_CODE.sub(b" ", data[start : start + _MOST_GIVEN])
        depth = 1
        for match in re.finditer(rb"[({\[]|[)}\]]|\bcutile_\w+", given):
            word = match[0]
            depth += (word in b"({[") - (word in b")}]")
            if not depth:
                break
            if len(word) > 1 and word not in _NOT_SYMBOLS:
                yield word


def _in_comment(data: bytes, at: int) -> bool:
    """The line up to there is a comment."""
    return data[data.rfind(b"\n", 0, at) + 1 : at].lstrip().startswith(b"//")


def _common(first: Path, second: Path) -> int:
    """Number of leading folders that two paths share."""
    count = 0
    for left, right in zip(first.parts, second.parts, strict=False):
        if left != right:
            break
        count += 1
    return count


def _is_test(path: Path) -> bool:
    return path.name.startswith("test_") or path.name in ("conftest.py",) or path.stem.endswith("_test")
