"""Reference evidence on disk: ``analysis.json`` with the place of every value."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cutile_lint.frontends.reference.analysis import Analysis
    from cutile_lint.sources import Source

__all__ = ["read_analysis"]


def read_analysis(source: Source) -> Analysis:
    """Read ``analysis.json``. Never raises: a malformed file has a fault with its place, an odd field is left out."""
    from cutile_lint.frontends.reference import analysis

    return analysis.read_analysis(source)
