"""``cutile-lint check``: find, fix, report."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from cutile_lint.cli.options import overrides, parser, start_folder
from cutile_lint.config import Configurations, Settings
from cutile_lint.engine import api
from cutile_lint.errors import UserError
from cutile_lint.findings import Finding, Level
from cutile_lint.inputs import Inputs
from cutile_lint.records import dataclass, field
from cutile_lint.reports import TEXT_FORMATS, View, render
from cutile_lint.reports.view import terminal_width, wants_color
from cutile_lint.sources.discovery import repository_root
from cutile_lint.sources.workspace import Workspace, absolute

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from cutile_lint.cache.store import Cache
    from cutile_lint.engine.baseline import Baseline, Entry
    from cutile_lint.fixes import FixResult

STDIN_NAME = "stdin.py"
#: options that decide how findings are shown or what is done with them, not which there are
_SHOWING = frozenset(
    "output_format output_file statistics min_level exit_zero exit_non_zero_on_fix no_cache cache_dir jobs fix unsafe_fixes diff"
    " quiet color".split()
)


@dataclass(slots=True)
class Run:
    """One check as asked for on the command line."""

    options: argparse.Namespace
    configurations: Configurations
    #: settings where the run was started: format and level of failure
    settings: Settings
    files: list[Path]
    #: folders whose files are not known, with the reason
    unlisted: dict[Path, str] = field(default_factory=dict)
    #: path and bytes of standard input
    stdin: tuple[Path, bytes] | None = None
    #: of the last check: the next pass of fixing reads only what changed
    workspace: Workspace | None = None
    errors: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)
    #: findings that are known and passed over, and those of them that the last check no longer found
    baseline: Baseline | None = None
    gone: Counter[Entry] = field(default_factory=Counter)
    #: how many findings the baseline passes over
    known: int = 0
    #: what the findings rest on
    inputs: Inputs = field(default_factory=Inputs)
    #: everything printed, in order: (``out`` or ``err``, text)
    said: list[tuple[str, str]] = field(default_factory=list)

    def say(self, stream: TextIO, text: str) -> None:
        """Print, and keep what was printed."""
        if text:
            self.said.append(("err" if stream is sys.stderr else "out", text))
            stream.write(text)

    @property
    def fixing(self) -> bool:
        return self.options.fix or self.options.diff

    def check(self, overlays: Mapping[Path, bytes]) -> list[Finding]:
        with _bar(self.options.quiet):
            report = api.check_files(self.files, self.configurations, overlays, self.workspace, self.options.jobs, self.unlisted)
        self.workspace = report.workspace
        self.inputs.merge(report.inputs)
        self.errors += [error for error in report.errors if error not in self.errors]
        self.traces += report.traces
        if self.baseline is None:
            return report.findings
        files = set(self.files)
        self.gone = self.baseline.gone(
            report.findings, lambda path, code: path in files and self.configurations.for_file(path).selects(code)
        )
        fresh = self.baseline.new(report.findings)
        self.known = len(report.findings) - len(fresh)
        return fresh


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    if options.watch:
        from cutile_lint.cli.watch import watch

        if "-" in options.paths or options.stdin_filename is not None:
            raise UserError("--watch and standard input do not go together")
        return watch(options.paths, lambda: main([word for word in arguments if word != "--watch"]))
    run = _prepare(options)
    base = {run.stdin[0]: run.stdin[1]} if run.stdin else {}
    fixes = _fix(run, base) if run.fixing else None
    written = _put(run, fixes) if fixes else True
    cache = _cache(run)
    known = cache.find() if cache is not None and run.baseline is None else None
    findings = fixes.remaining if fixes else known if known is not None else run.check(base)
    _report(run, findings, fixes)
    _tell_errors(run)
    if run.errors or not written:
        return 2
    status = 0 if options.exit_zero else _status(run, findings, fixes)
    if cache is not None:
        _keep(run, cache, findings, status, arguments)
    return status


def _bar(quiet: bool) -> AbstractContextManager[None]:
    """A progress bar, where somebody looks at standard error."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        from contextlib import nullcontext

        return nullcontext()
    from cutile_lint.reports.bar import bar

    return bar(sys.stderr)


def _cache(run: Run) -> Cache | None:
    """Where the findings of this run may be kept; None for a run that changes files or whose texts are not on the disk."""
    if run.options.no_cache or run.fixing or run.stdin is not None or not run.files or run.errors:
        return None
    from cutile_lint.cache.store import Cache, folder_of

    try:
        folder = folder_of(run.options.cache_dir, run.settings, start_folder(run.options.paths))
    except UserError as error:
        _warn(run, str(error))
        return None
    question = {key: value for key, value in vars(run.options).items() if key not in _SHOWING}
    return Cache(folder, [repr(sorted(question.items()))])


def _keep(run: Run, cache: Cache, findings: list[Finding], status: int, arguments: Sequence[str]) -> None:
    from cutile_lint.cache.fast import said_key

    if not cache.token:
        run.inputs.merge(run.configurations.workspace.inputs())
        for folder in (Path.cwd(), *Path.cwd().parents):
            run.inputs.look(str(folder / ".git"))
        cache.keep(findings, run.inputs)
    if run.options.output_file is None:
        cache.keep_said(said_key(arguments), status, run.said)


def _prepare(options: argparse.Namespace) -> Run:
    """Settings and files; what is wrong with single paths is kept for the end. Raises UserError."""
    configurations = Configurations(config=options.config, overrides=overrides(options), trust_rules=options.trust_project_rules)
    paths: list[str] = options.paths
    reads_stdin = "-" in paths or (options.stdin_filename is not None and not paths)
    if reads_stdin and paths not in ([], ["-"]):
        raise UserError("`-` stands alone: standard input is one file")
    if options.stdin_filename is not None and not reads_stdin:
        raise UserError("--stdin-filename names standard input; no other PATH goes with it")
    if reads_stdin:
        path = absolute(options.stdin_filename or STDIN_NAME)
        settings = configurations.for_file(path)
        files = [] if settings.excludes(str(path)) else [path]
        stdin = (path, _standard_input())
        return Run(options, configurations, settings, files, stdin=stdin, baseline=_baseline(options, settings))
    inputs = Inputs()
    found = api.find_files(paths, configurations, inputs)
    settings = configurations.for_folder(start_folder(paths))
    run = Run(options, configurations, settings, found.files, found.unlisted, inputs=inputs)
    if file := options.baseline or run.settings.baseline:
        inputs.add_file(str(absolute(file)))
    run.baseline = _baseline(options, run.settings)
    run.errors += [f"{path}: {reason}{_command_meant(path, options)}" for path, reason in found.missing.items()]
    untrusted = run.settings.untrusted_rule_paths
    if untrusted:
        _warn(run, f"{run.settings.file}: `rule-paths` is not loaded without --trust-project-rules")
    if not any((found.files, found.missing, found.excluded, found.unlisted)) and any(map(os.path.isdir, paths or ["."])):
        _warn(run, "no Python, Rust, MLIR, `analysis.json` or `Cargo.toml` files found")
    return run


def _standard_input() -> bytes:
    """Raises UserError where there is none."""
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise UserError(f"standard input cannot be read: {error.strerror or error}") from None


def _command_meant(word: str, options: argparse.Namespace) -> str:
    """``; did you mean `check`?`` for the first word of a command line when it is nearly a command."""
    if not options.paths or word != options.paths[0] or not word.replace("-", "").isalpha():
        return ""
    from cutile_lint.cli.main import COMMANDS
    from cutile_lint.config.keys import suggestion

    return suggestion(word, COMMANDS)


def _baseline(options: argparse.Namespace, settings: Settings) -> Baseline | None:
    file = options.baseline or settings.baseline
    if file is None or options.no_baseline:
        return None
    from cutile_lint.engine.baseline import load_baseline

    return load_baseline(absolute(file))


def _fix(run: Run, base: Mapping[Path, bytes]) -> FixResult:
    from cutile_lint.fixes import fix_loop
    from cutile_lint.fixes.scope import scope_of
    from cutile_lint.sources.files import read_only

    only = run.stdin[0] if run.stdin else None
    scope = scope_of(run.options.paths if not only else [only], run.configurations, only)
    if only or run.options.diff:
        return fix_loop(run.check, base, run.options.unsafe_fixes, scope.refusal)
    fixes = fix_loop(run.check, base, run.options.unsafe_fixes, lambda path: scope.refusal(path) or read_only(path))
    withheld = {edit.path for item in fixes.withheld if item.finding.fix for edit in item.finding.fix.edits}
    run.errors += [f"{path}: not fixed: {read_only(path)}" for path in sorted(withheld) if read_only(path)]
    return fixes


def _put(run: Run, fixes: FixResult) -> bool:
    """The changed texts to where they belong: a diff, standard output, or the files. False when a file could not be written."""
    if run.options.diff:
        from cutile_lint.reports.diff import unified

        sys.stdout.write(unified(fixes.originals, fixes.changed, _view(run, sys.stdout)))
    elif run.stdin is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(fixes.changed.get(run.stdin[0], run.stdin[1]))
        sys.stdout.buffer.flush()
    else:
        from cutile_lint.fixes import write_changes

        failures = write_changes(fixes.changed, fixes.originals)
        for path, reason in failures.items():
            run.errors.append(f"{path}: not fixed: {reason}")
        if failures:
            fixes.unwritten(failures)
            fixes.remaining = run.check(fixes.changed)
        return not failures
    return True


def _report(run: Run, findings: list[Finding], fixes: FixResult | None) -> None:
    """The findings, and below them what was fixed; to standard error when a text or a diff has standard output."""
    aside = fixes is not None and (run.options.diff or run.stdin is not None)
    stream = sys.stderr if aside else sys.stdout
    view = _view(run, stream)
    output_format = run.settings.output_format
    for_people = output_format in TEXT_FORMATS
    text = ""
    if not run.options.diff:
        text = render(output_format, findings, view) if not (run.options.statistics and for_people) else ""
    if run.options.output_file is not None and text:
        try:
            run.options.output_file.write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            run.errors.append(f"{run.options.output_file}: the report cannot be written: {error.strerror or error}")
        text = ""
    run.say(stream, text)
    run.say(stream if for_people else sys.stderr, _told(run, findings, fixes, view))


def _told(run: Run, findings: list[Finding], fixes: FixResult | None, view: View) -> str:
    """What is said below the findings: how many there are, what was fixed, what a baseline need no longer know."""
    told = ""
    if run.options.statistics:
        from cutile_lint.reports.summary import statistics

        told = statistics(findings)
    if run.options.quiet:
        return told
    if fixes is not None:
        from cutile_lint.reports.fixes import fix_report

        told += fix_report(fixes, view, run.options.diff)
    if run.baseline is not None and run.gone:
        from cutile_lint.reports.known import gone_report

        told += gone_report(run.gone, run.baseline, view)
    for_people = run.settings.output_format in TEXT_FORMATS
    # a run that failed checked nothing, or not all: it does not say that all is well
    if for_people and not run.options.diff and (findings or fixes is not None or not run.errors):
        from cutile_lint.reports.summary import summary

        applied, undone = (len(fixes.applied), len(fixes.undone)) if fixes else (0, 0)
        told += summary(findings, applied, undone, fixes is not None, run.known) + "\n"
    return told


def _tell_errors(run: Run) -> None:
    from cutile_lint.reports.text import clean

    sys.stdout.flush()
    for error in run.errors:
        print(f"cutile-lint: error: {clean(error)}", file=sys.stderr)
    if run.traces and os.environ.get("CUTILE_LINT_TRACEBACK"):
        print("\n".join(run.traces), file=sys.stderr)


def _warn(run: Run, message: str) -> None:
    from cutile_lint.reports.text import clean

    if not run.options.quiet:
        run.say(sys.stderr, f"cutile-lint: warning: {clean(message)}\n")


def _status(run: Run, findings: list[Finding], fixes: FixResult | None) -> int:
    if run.options.diff:
        return int(bool(fixes and fixes.changed))
    if run.options.exit_non_zero_on_fix and fixes and fixes.changed:
        return 1
    return int(fails(findings, run.settings.min_level))


def fails(findings: list[Finding], least: Level) -> bool:
    """Whether a finding is at or above the level that fails a run."""
    return any(finding.level.rank >= least.rank for finding in findings)


def _view(run: Run, stream: TextIO) -> View:
    cwd = Path.cwd()
    root = repository_root(cwd) or (run.settings.root if run.settings.file else cwd)
    color = wants_color(stream, run.options.color) and run.options.output_file is None
    return View(cwd, root, terminal_width(stream), color, tuple(run.errors))
