"""Files and buffers: discovery, text, line index, encodings, ignore files, editor overlays."""

from cutile_lint.sources.source import BOM, Place, Source, Span
from cutile_lint.sources.workspace import Problem, Workspace, absolute

__all__ = ["BOM", "Place", "Problem", "Source", "Span", "Workspace", "absolute"]
