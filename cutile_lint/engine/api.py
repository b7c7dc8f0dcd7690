"""From paths to findings: discovery, units, rules and per-file settings tied together."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cutile_lint.config import Configurations, Settings
from cutile_lint.errors import UserError
from cutile_lint.findings import Finding
from cutile_lint.inputs import Inputs, list_folder
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place, Problem, Source, Span, Workspace
from cutile_lint.sources.discovery import Discovery, discover, is_candidate

if TYPE_CHECKING:
    from cutile_lint.engine.registry import Registry, RuleInfo
    from cutile_lint.unit import Plan

T = TypeVar("T")

#: says that a file was not analysed, and why
NOT_ANALYSED = "CTL903"


@dataclass(slots=True)
class CheckReport:
    """What a check says. ``findings``: selected ones, sorted, with their effective level; ``errors``: one line each (exit 2)."""

    findings: list[Finding] = field(default_factory=list)
    suppressed: list[Finding] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    #: the files that were read
    workspace: Workspace | None = None
    #: traceback texts of internal errors
    traces: list[str] = field(default_factory=list)
    #: what the findings rest on; not usable with overlays
    inputs: Inputs = field(default_factory=Inputs)


def find_files(paths: Iterable[Path | str], configurations: Configurations, inputs: Inputs | None = None) -> Discovery:
    """The files that PATHS mean under the configuration that holds where they are; what was looked at goes on ``inputs``.

    Raises UserError for a broken configuration.
    """

    def exclusions(folder: str) -> Callable[[str, bool], bool] | None:
        settings = configurations.for_folder(Path(folder))
        return settings.excludes if settings.exclude or settings.extend_exclude else None

    listed = list(paths)
    first = Path(listed[0]) if listed else Path.cwd()
    folder = Path(first if os.path.isdir(first) else first.parent).absolute()
    return discover(listed, exclusions, configurations.for_folder(folder).skipped_folders, inputs)


def check_paths(
    paths: Iterable[Path | str], settings: Configurations | Settings, overlays: Mapping[Path, bytes] | None = None
) -> CheckReport:
    """Check the files under ``paths``; ``overlays`` (path -> bytes) win over the disk. Raises UserError."""
    configurations = settings if isinstance(settings, Configurations) else fixed(settings)
    found = find_files(paths, configurations)
    report = check_files(found.files, configurations, overlays, unlisted=found.unlisted)
    report.errors += [f"{path}: {reason}" for path, reason in found.missing.items()]
    return report


def fixed(settings: Settings) -> Configurations:
    """Configurations that give the same settings for every file."""
    configurations = Configurations()
    configurations.for_folder = lambda folder: settings  # type: ignore[method-assign]
    return configurations


def check_files(
    files: Iterable[Path],
    configurations: Configurations,
    overlays: Mapping[Path, bytes] | None = None,
    before: Workspace | None = None,
    jobs: int | None = None,
    unlisted: Mapping[Path, str] | None = None,
) -> CheckReport:
    """Check absolute files, and the ops that they are part of. Raises UserError for wrong selectors.

    ``before``: the workspace of the check before, whose sources are taken over where no overlay changed them.
    ``unlisted``: folders whose files could not be found out, with the reason; it is said of each.
    """
    workspace = before.overlaid(overlays or {}) if before else Workspace(overlays)
    report = CheckReport(workspace=workspace)
    groups: dict[int, tuple[Settings, list[Path]]] = {}
    for path in files:
        settings = configurations.for_file(path)
        groups.setdefault(id(settings), (settings, []))[1].append(path)
    for path, reason in (unlisted or {}).items():
        settings = configurations.for_file(path)
        groups.setdefault(id(settings), (settings, []))
        workspace.problems[path] = Problem("unlisted", f"the folder cannot be read: {reason}")
    if groups:
        _run(list(groups.values()), workspace, configurations, report, jobs)
    report.inputs.merge(workspace.inputs())
    if report.inputs.usable:
        for settings, _ in groups.values():
            for folder in settings.rule_paths:
                report.inputs.add_code(str(folder))
        _record_plugins(report.inputs)
    return report


def _record_plugins(inputs: Inputs) -> None:
    from cutile_lint.engine.plugins import package_folders, plugins

    for path in package_folders():
        inputs.folders.setdefault(path, list_folder(path))
    for plugin in plugins():
        if plugin.folder is not None:
            inputs.add_code(str(plugin.folder))


def _run(
    groups: list[tuple[Settings, list[Path]]],
    workspace: Workspace,
    configurations: Configurations,
    report: CheckReport,
    jobs: int | None,
) -> None:
    from cutile_lint.engine.batches import check_batches
    from cutile_lint.engine.run import UNUSED, keep, run

    chosen, codes = chosen_rules((settings for settings, _ in groups), report)
    rules = [chosen[code] for code in sorted(chosen)]
    found: dict[tuple[str, Place], Finding] = {}
    reports: Counter[tuple[Path, Span, str]] = Counter()
    held: Counter[Path] = Counter()
    for settings, paths in groups:
        plan = _guarded(report, "reading the files", _plan, workspace, paths, settings)
        if plan is None:
            continue
        running = partial(run, rules=rules, settings=configurations.for_file, known=codes.get, judged=frozenset(paths))
        for outcome in check_batches(plan, workspace, running, jobs):
            for finding in outcome.findings:
                keep(found, finding)
                if finding.code == UNUSED:
                    reports[finding.path, finding.place.span, finding.message] += 1
            held.update(outcome.held)
            report.suppressed += outcome.suppressed
            report.errors += outcome.errors
            report.traces += outcome.traces
            if outcome.inputs is not None:
                report.inputs.merge(outcome.inputs)
    for key, finding in list(found.items()):
        # a suppression is unused when every batch with ops of its file says so
        if finding.code == UNUSED and reports[finding.path, finding.place.span, finding.message] < held[finding.path]:
            del found[key]
    if NOT_ANALYSED in chosen:
        for finding in problem_findings(workspace, configurations, chosen[NOT_ANALYSED]):
            found.setdefault((finding.code, finding.place), finding)
    wanted = (finding for finding in found.values() if not configurations.for_file(finding.path).excludes(str(finding.path)))
    report.findings = sorted(wanted, key=Finding.sort_key)
    report.errors = list(dict.fromkeys(report.errors))


def chosen_rules(settings: Iterable[Settings], report: CheckReport) -> tuple[dict[str, RuleInfo], dict[str, str]]:
    """The rules that are on in any of the settings, by code; and the code of every rule there is, by code and name.

    Broken plugins are errors of ``report``. Raises UserError for a selector that names no rule.
    """
    from cutile_lint.engine.registry import Registry

    chosen: dict[str, RuleInfo] = {}
    known: dict[str, RuleInfo] = {}
    for one in settings:
        registry = Registry(_rules_of(one, report))
        # a selector may mean a rule of what is broken, or of what is not trusted
        check_words(one, registry, whole=not report.errors and not one.untrusted_rule_paths)
        known |= {info.code: info for info in registry.rules}
        chosen |= {info.code: info for info in registry.rules if one.selects(info.code, info.name)}
    return chosen, {key: info.code for info in known.values() for key in (info.code, info.name)}


def _plan(workspace: Workspace, paths: list[Path], settings: Settings) -> Plan:
    from cutile_lint import unit

    return unit.Plan(workspace, paths, settings)


def _rules_of(settings: Settings, report: CheckReport) -> list[RuleInfo]:
    """All rules that hold under the settings; a broken plugin or folder is an error of the run, not its end."""
    from cutile_lint.engine.registry import all_rules

    rules, errors = all_rules(settings.rule_paths)
    report.errors += errors
    return rules


def check_words(settings: Settings, registry: Registry, whole: bool = True) -> None:
    """Raise UserError for a selector that no rule has, and for options that are wrong; ``whole``: the registry knows all rules."""
    from cutile_lint.engine.rule_options import check_options

    check_options(settings, registry, whole)
    if not whole:
        return
    where = f"{settings.file}: " if settings.file else ""
    lists = {
        "select": settings.select,
        "extend-select": settings.extend_select,
        "ignore": settings.ignore,
        "severity": tuple(settings.severity),
        "per-file-ignores": tuple(code for codes in settings.per_file_ignores.values() for code in codes),
    }
    for key, selectors in lists.items():
        for selector in selectors:
            try:
                registry.matching(selector)
            except UserError as error:
                raise UserError(f"{where}`{key}`: {error}") from None


def problem_findings(workspace: Workspace, configurations: Configurations, info: RuleInfo) -> Iterable[Finding]:
    """A finding for each folder, and each file of an op's kind, that could not be read, where its settings want that said."""
    for path, problem in workspace.problems.items():
        settings = configurations.for_file(path)
        on = settings.selects(info.code, info.name) and not settings.ignored_in_file(path, info.code, info.name)
        if on and (is_candidate(path.name) or problem.kind == "unlisted"):
            place = Place(Source(path, b""), Span(0, 0))
            level = settings.level_of(info.code, info.name, info.level)
            yield Finding(
                place, problem.message, code=info.code, name=info.name, level=level, url=settings.url_of(info.code, info.name)
            )


def _guarded(report: CheckReport, doing: str, work: Callable[..., T], *arguments: object) -> T | None:
    """The result of ``work``; None, with an internal error on the report, when it fails."""
    try:
        return work(*arguments)
    except UserError:
        raise
    except Exception as error:
        from traceback import format_exception

        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        report.errors.append(f"internal error while {doing}: {told}")
        report.traces.append("".join(format_exception(error)))
        return None
