"""What ``cutile_lint.check`` does; the package imports it when it is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from cutile_lint.config import Configurations, Settings
from cutile_lint.config.keys import Wrong, selectors
from cutile_lint.engine.api import check_files, find_files
from cutile_lint.errors import CheckFailed, UserError
from cutile_lint.findings import Finding
from cutile_lint.records import replace
from cutile_lint.sources.workspace import absolute

AnyPath = str | PathLike[str]


def check(
    paths: Iterable[AnyPath],
    select: Iterable[str] | None,
    ignore: Iterable[str],
    extend_select: Iterable[str],
    config: AnyPath | None,
    trust_project_rules: bool,
    texts: Mapping[AnyPath, str | bytes] | None,
) -> list[Finding]:
    """See ``cutile_lint.check``."""
    if isinstance(paths, (str, PathLike)):
        raise UserError("`paths` is a list of paths, not one")
    chosen = None if select is None else _selectors("select", select)
    left_out, added = _selectors("ignore", ignore), _selectors("extend_select", extend_select)

    def overrides(settings: Settings) -> Settings:
        if chosen is not None:
            settings = replace(settings, select=chosen, extend_select=(), ignore=())
        return replace(settings, ignore=settings.ignore + left_out, extend_select=settings.extend_select + added)

    configurations = Configurations(None, None if config is None else Path(config), overrides, trust_project_rules)
    overlays = {absolute(Path(path)): text.encode() if isinstance(text, str) else text for path, text in (texts or {}).items()}
    listed = [Path(path) for path in paths]
    given = [path for path in listed if absolute(path) in overlays]
    found = find_files([path for path in listed if path not in given], configurations) if len(given) < len(listed) else None
    if found is not None and found.missing:
        raise UserError("{}: {}".format(*next(iter(found.missing.items()))))
    files = [absolute(path) for path in given if not configurations.for_file(path).excludes(str(absolute(path)))]
    unlisted = found.unlisted if found is not None else None
    files = sorted({*files, *(found.files if found is not None else [])})
    report = check_files(files, configurations, overlays, jobs=1, unlisted=unlisted)
    if report.errors:
        raise CheckFailed(report.findings, report.errors)
    return report.findings


def _selectors(name: str, words: Iterable[str]) -> tuple[str, ...]:
    try:
        return selectors([words] if isinstance(words, str) else list(words))
    except Wrong as wrong:
        raise UserError(f"`{name}` {wrong}") from None
