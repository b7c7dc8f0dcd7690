"""Files and buffers: discovery, text, line index, encodings, ignore files, editor overlays."""

from cutile_lint.sources.source import BOM, OpenSource, Place, Source, Span
from cutile_lint.sources.workspace import Problem, Workspace, absolute

__all__ = ["BOM", "OpenSource", "Place", "Problem", "Source", "Span", "Workspace", "absolute"]
