"""What a run says, one module per format; a format's module is imported when it is asked for."""

from __future__ import annotations

from cutile_lint.findings import Finding
from cutile_lint.reports.view import View

#: formats for people, which end with a summary line
TEXT_FORMATS = ("full", "concise")
_MODULES = {
    "full": "full",
    "concise": "concise",
    "json": "json_array",
    "json-lines": "json_lines",
    "sarif": "sarif",
    "github": "github",
    "gitlab": "gitlab",
    "markdown": "markdown",
}


def render(output_format: str, findings: list[Finding], view: View) -> str:
    """The findings, sorted by file, place and code, as text that ends with a line end (or is empty)."""
    from importlib import import_module

    module = import_module(f"cutile_lint.reports.{_MODULES[output_format]}")
    return module.render(findings, view)


__all__ = ["TEXT_FORMATS", "View", "render"]
