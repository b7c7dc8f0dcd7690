"""The client's open documents: their texts as it sees them, changed step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lsprotocol.types import TextDocumentContentChangeEvent, TextDocumentContentChangePartial
from pygls.uris import from_fs_path, to_fs_path

from cutile_lint.records import dataclass
from cutile_lint.server.positions import Encoding
from cutile_lint.sources import BOM, OpenSource, Source
from cutile_lint.sources.workspace import absolute


@dataclass(slots=True)
class Document:
    """One open file. ``source`` holds its present text; ``uri`` is spelled as the client spells it."""

    uri: str
    path: Path
    version: int
    source: Source

    @property
    def shows_bom(self) -> bool:
        """The client counts the byte order mark, because it sent it."""
        return self.source.data.startswith(BOM)


class Documents:
    """The open documents by path."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self._open: dict[Path, Document] = {}
        #: how the client spells the URIs of what it has opened, and of its folders
        self._spelled: dict[Path, str] = {}
        self._folders: dict[str, str] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(self._open.values())

    def get(self, path: Path) -> Document | None:
        return self._open.get(path)

    def of(self, uri: str) -> Document | None:
        path = path_of(uri)
        return self._open.get(path) if path is not None else None

    def open(self, uri: str, version: int, text: str) -> Document | None:
        """Take over a document; None for one that is no file."""
        path = path_of(uri)
        if path is None:
            return None
        self._spelled[path] = uri
        document = self._open[path] = Document(uri, path, version, OpenSource(path, _bytes(text)))
        return document

    def close(self, uri: str) -> Document | None:
        path = path_of(uri)
        return self._open.pop(path, None) if path is not None else None

    def change(self, uri: str, version: int, changes: Iterable[TextDocumentContentChangeEvent]) -> Document | None:
        """Apply changes in order; None for a document that is not open."""
        document = self.of(uri)
        if document is None:
            return None
        for change in changes:
            data = _bytes(change.text)
            if isinstance(change, TextDocumentContentChangePartial):
                span = self.encoding.span(document.source, change.range, document.shows_bom)
                old = document.source.data
                data = old[: span.start] + data + old[span.end :]
            document.source = OpenSource(document.path, data)
        document.version = version
        return document

    def uri(self, path: Path) -> str:
        """The URI of a file: the client's own for one that it has opened, and as it spells its folders for those in them."""
        if path in self._spelled:
            return self._spelled[path]
        ours = uri_of(path)
        for folder, spelled in sorted(self._folders.items(), reverse=True):  # inner ones first
            if ours.startswith(f"{folder}/"):
                return spelled + ours[len(folder) :]
        return ours

    def set_folders(self, added: Iterable[str], removed: Iterable[str] = ()) -> None:
        """Take over how the client spells its folders."""
        for uri in removed:
            if (path := path_of(uri)) is not None:
                self._folders.pop(uri_of(path), None)
        for uri in added:
            if (path := path_of(uri)) is not None:
                self._folders[uri_of(path)] = uri.rstrip("/")


def path_of(uri: str) -> Path | None:
    """The absolute path that a URI means; None when it means no file."""
    if not uri.startswith("file:"):
        return None
    try:
        path = to_fs_path(uri)
    except ValueError:
        return None
    return absolute(path) if path and "\0" not in path else None


def uri_of(path: Path) -> str:
    return from_fs_path(str(path)) or path.as_uri()


def _bytes(text: str) -> bytes:
    """UTF-8 of a text from the wire, which may hold half of a surrogate pair."""
    return text.encode("utf-8", "replace")
