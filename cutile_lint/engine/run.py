"""Running rules on kernel units: findings completed from the rules' metadata, suppressed ones set aside, failures kept apart."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.config.settings import Settings
from cutile_lint.engine.registry import Check, RuleInfo, registry
from cutile_lint.engine.rule_options import values_of
from cutile_lint.engine.suppressions import Suppressions, read_suppressions
from cutile_lint.findings import Finding
from cutile_lint.records import dataclass, field, replace
from cutile_lint.sources import Place, Source

if TYPE_CHECKING:
    from cutile_lint.unit import KernelUnit

SettingsFor = Callable[[Path], Settings]
#: says that a suppression is not needed
UNUSED = "CTL901"


@dataclass(frozen=True, slots=True)
class RunError:
    """A rule that failed on a unit (or could not be imported: ``unit`` is empty). Exit status 2, after all other output."""

    rule: str
    unit: str
    message: str
    traceback: str = ""
    #: the file of a rule that is not ours
    origin: str = ""

    def __str__(self) -> str:
        if self.origin:
            doing = f"failed on `{self.unit}`" if self.unit else "cannot be loaded"
            return f"rule {self.rule} {doing}: {self.message} ({self.origin})"
        where = f" on `{self.unit}`" if self.unit else ""
        return f"internal error: rule {self.rule} failed{where}: {self.message}"


def told(errors: Iterable[RunError]) -> list[str]:
    """A line for each failure; one for all of our rules that failed on a unit for the same reason: they ask the same model."""
    groups: dict[tuple[str, str, str], list[RunError]] = {}
    for error in errors:
        groups.setdefault((error.unit, error.message, error.origin and error.rule), []).append(error)
    return [_together(group) for group in groups.values()]


def _together(errors: list[RunError]) -> str:
    first = errors[0]
    if len(errors) == 1:
        return str(first)
    rules = ", ".join(error.rule for error in errors[:3])
    more = f" and {len(errors) - 3} more" if len(errors) > 3 else ""
    where = f" on `{first.unit}`" if first.unit else ""
    return f"internal error: the rules {rules}{more} failed{where}: {first.message}"


@dataclass(slots=True)
class Report:
    """What a run says. ``findings`` are sorted by file, place and code; one per code and place."""

    findings: list[Finding] = field(default_factory=list)
    errors: list[RunError] = field(default_factory=list)
    #: findings that a comment silences
    suppressed: list[Finding] = field(default_factory=list)
    #: the directives of every file that has any, with those that were used marked
    suppressions: list[Suppressions] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.errors


def run(
    units: Iterable[KernelUnit],
    rules: Iterable[RuleInfo],
    settings: Settings | SettingsFor | None = None,
    *,
    known: Callable[[str], str | None] | None = None,
    judged: Container[Path] | None = None,
    proceed: Callable[[], None] = lambda: None,
) -> Report:
    """Run the rules on the units.

    ``settings`` (of the run, or by a finding's file) decide whether a rule is on there, and its level. ``known`` tells the code
    for a code or name in a suppression comment; by default that of every built-in rule, selected or not. ``judged``: files whose
    suppressions may be called unused, because every op that they are part of is among the units (None: all files).
    ``proceed`` is called before each rule; what it raises ends the run (an editor's, when its text has changed).
    """
    report = Report()
    rules = tuple(rules)
    checks = _load_checks(rules, report)
    found: dict[tuple[str, Place], Finding] = {}
    sources: dict[Path, Source] = {}
    units = list(units)
    for unit in units:
        for source in unit.files:
            sources.setdefault(source.path, source)
        for info, check in checks:
            proceed()
            for finding in _checked(info, check, unit, report):
                if _is_on(finding, settings):
                    sources.setdefault(finding.path, finding.place.source)
                    keep(found, finding)
    silencers = _read_all(sources, known or _resolver(rules))
    report.suppressions = [item for item in silencers.values() if item.items or item.mistakes]
    _sort_out(found.values(), silencers, report)
    judge = next((info for info in rules if info.code == UNUSED), None)
    if judge is not None and report.suppressions:
        files = [item for item in report.suppressions if judged is None or item.source.path in judged]
        _judge(judge, files, units, checks, settings, report)
        report.findings.sort(key=Finding.sort_key)
    return report


def _sort_out(findings: Iterable[Finding], silencers: Mapping[Path, Suppressions], report: Report) -> None:
    for finding in sorted(findings, key=Finding.sort_key):
        silencer = silencers.get(finding.path)
        silenced = silencer is not None and silencer.silences(finding)
        (report.suppressed if silenced else report.findings).append(finding)


def _judge(
    info: RuleInfo,
    files: list[Suppressions],
    units: list[KernelUnit],
    checks: list[tuple[RuleInfo, Check]],
    settings: Settings | SettingsFor | None,
    report: Report,
) -> None:
    """Add the findings about suppressions themselves."""
    from cutile_lint.engine.unused import Answers, holders, unused_suppressions

    failed = {error.rule for error in report.errors}
    ran = {rule.code: rule for rule, _ in checks if rule.code not in failed}

    def is_on(path: Path, rule: RuleInfo) -> bool:
        chosen = settings if isinstance(settings, Settings) or settings is None else settings(path)
        return chosen is None or (chosen.selects(rule.code, rule.name) and not chosen.ignored_in_file(path, rule.code, rule.name))

    by_path = holders(units, (item.source for item in files))
    findings = []
    for finding in list(unused_suppressions(files, Answers(ran, by_path, is_on))):
        finding.ops = tuple(sorted({unit.name for unit in by_path.get(finding.path, [])}))
        _complete(finding, info, "")
        if _is_on(finding, settings):
            findings.append(finding)
    _sort_out(findings, {item.source.path: item for item in files}, report)


def _is_on(finding: Finding, settings: Settings | SettingsFor | None) -> bool:
    """Whether the finding's rule is on in its file; sets the level and the address that the settings give it."""
    if settings is None:
        return True
    chosen = settings if isinstance(settings, Settings) else settings(finding.path)
    finding.level = chosen.level_of(finding.code, finding.name, finding.level)
    finding.url = finding.url or chosen.url_of(finding.code, finding.name)
    on = chosen.selects(finding.code, finding.name)
    return on and not chosen.ignored_in_file(finding.path, finding.code, finding.name)


def _load_checks(rules: Iterable[RuleInfo], report: Report) -> list[tuple[RuleInfo, Check]]:
    checks = []
    for info in rules:
        if not info.coded:
            continue
        try:
            checks.append((info, info.load()))
        except (Exception, SystemExit) as error:
            report.errors.append(_error(info, "", error))
    return checks


def _checked(info: RuleInfo, check: Check, unit: KernelUnit, report: Report) -> list[Finding]:
    """The rule's findings on one unit, completed; those yielded before it failed are kept."""
    findings: list[Finding] = []
    try:
        for finding in check(unit, values_of(info, unit.settings)) if info.options else check(unit):
            findings.append(_complete(finding, info, unit.name))
    except (Exception, SystemExit) as error:
        report.errors.append(_error(info, unit.name, error))
    return findings


def _complete(finding: Finding, info: RuleInfo, op: str) -> Finding:
    """Fill in what the rule's metadata says. A rule that set ``level_override`` on a finding keeps it."""
    finding.code = info.code
    finding.name = info.name
    finding.level = info.level if finding.level_override is None else finding.level_override
    finding.ops = finding.ops or (op,)
    if finding.statement is not None and not finding.statement.covers(finding.place):
        finding.statement = None
    return finding


def keep(found: dict[tuple[str, Place], Finding], finding: Finding) -> None:
    """Keep one finding per code and place: the same fault seen from several ops names them all."""
    key = (finding.code, finding.place)
    held = found.get(key)
    if held is None:
        found[key] = finding
    elif set(finding.ops) - set(held.ops):
        found[key] = replace(held, ops=tuple(sorted({*held.ops, *finding.ops})))


def _read_all(sources: Mapping[Path, Source], resolve: Callable[[str], str | None]) -> dict[Path, Suppressions]:
    return {path: read_suppressions(source, resolve) for path, source in sorted(sources.items())}


def _resolver(rules: Iterable[RuleInfo]) -> Callable[[str], str | None]:
    """Codes and names of the built-in rules and of those that run."""
    table = {key: info.code for info in (*registry().rules, *rules) for key in (info.code, info.name)}
    return table.get


def _error(info: RuleInfo, unit: str, error: BaseException) -> RunError:
    from traceback import format_exception

    text = str(error) or type(error).__name__
    detail = f"{type(error).__name__}: {text}" if text != type(error).__name__ else text
    origin = "" if info.builtin else str(info.yaml_path)
    return RunError(info.code, unit, detail, "".join(format_exception(error)), origin)
