"""cutile-lint: reads the layers of a TileGym cutile-rs op together and finds what makes a port wrong or slow.

From Python::

    import cutile_lint

    for finding in cutile_lint.check(["src/ops"], select=["CTL1"]):
        print(finding.place, finding.code, finding.message)
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["__version__", "check"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from cutile_lint.findings import Finding


def check(
    paths: Iterable[str | PathLike[str]],
    *,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    extend_select: Iterable[str] = (),
    config: str | PathLike[str] | None = None,
    trust_project_rules: bool = False,
    texts: Mapping[str | PathLike[str], str | bytes] | None = None,
) -> list[Finding]:
    """The findings in files and folders, sorted by file, place and code, as ``cutile-lint check`` reports them.

    ``select``, ``ignore``, ``extend_select``: codes, beginnings of codes or names, as on the command line. ``config``: a
    configuration file in place of the ones that are found. ``texts``: contents that count in place of the files' own (a string is
    taken as it is, line endings included). Suppressed findings are left out; those of every level are in. Nothing is written,
    no cache is used, and nothing of the linted project is run.

    Raises ``cutile_lint.errors.UserError`` for a wrong option, configuration or path, and its subclass ``CheckFailed``, which
    has the findings, when a rule or plugin failed.
    """
    from importlib import import_module

    return import_module("cutile_lint.api").check(paths, select, ignore, extend_select, config, trust_project_rules, texts)
