"""The analysis behind the server: ops checked one wrapper at a time, each again only when a file that it looked at has changed.

Lives on one thread. What comes out (:class:`Outcome`) is never changed afterwards.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path

from cutile_lint.config import Configurations, Settings
from cutile_lint.config.load import OWN_NAME, PROJECT_NAME
from cutile_lint.engine import api
from cutile_lint.engine.registry import RuleInfo
from cutile_lint.engine.run import UNUSED, run
from cutile_lint.errors import UserError
from cutile_lint.findings import Finding
from cutile_lint.frontends.syntax import Fault, Module
from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.server.changes import Change, change_between
from cutile_lint.server.links import NO_LINKS, Links, links_of
from cutile_lint.server.live import LiveWorkspace
from cutile_lint.server.parts import Parts, Together
from cutile_lint.server.settings import ClientSettings
from cutile_lint.server.watched import CONFIGURATION
from cutile_lint.sources import OpenSource, Place, Source, Workspace
from cutile_lint.sources.discovery import is_candidate
from cutile_lint.sources.lines import line_end, line_start
from cutile_lint.sources.texts import unchanged
from cutile_lint.unit import KernelUnit, Plan
from cutile_lint.unit.linking.program import Parsed

#: what links files to each other: while it stays, so do the ops they are part of
_LINKING = regex(
    rb'\bcutile[\w-]*|\bautotune_launch\b|\bregister_impl\b|\bbind_kernel_function_cffi\b|export_name\s*=\s*"\w+"'
    rb'|extern\s+(?:"[\w-]+"\s+)?fn\s+\$?\w+|macro_rules!\s*\w+|include!\s*\([^)]*\)|#\[path[^\]]*\]|\bmod\s+\w+\s*;'
)
SYNTAX_ERROR = "CTL900"

#: a wrapper; or the folder of loose Rust files, for those that no wrapper uses
Key = Path


class Stale(BaseException):
    """The texts have changed while they were analysed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the check of one op file gave. ``looked_at``: everything that it depends on."""

    findings: tuple[Finding, ...] = ()
    errors: tuple[str, ...] = ()
    looked_at: frozenset[Path] = frozenset()
    #: the files that belong to it
    files: frozenset[Path] = frozenset()
    #: these, and the modules that were read for values only
    read: frozenset[Path] = frozenset()
    rust: frozenset[Path] = frozenset()
    #: files with suppressions, for judging which ones are unused
    held: tuple[Path, ...] = ()
    links: Links = NO_LINKS


@dataclass(frozen=True, slots=True)
class Update:
    """What a change of the texts means. ``broken``: faults of open files whose last good text is analysed instead."""

    waiting: int
    broken: Mapping[Path, tuple[Source, tuple[Finding, ...]]] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    #: keys that are no longer ops
    gone: tuple[Key, ...] = ()


class Session:
    """``trust_rules``: load ``rule-paths`` of discovered project files."""

    def __init__(self, trust_rules: bool = False, config: Path | None = None) -> None:
        self._trust_rules = trust_rules
        self._config = config
        self.client = ClientSettings()
        self.folders: list[Path] = []
        self.workspace = LiveWorkspace()
        self._open: dict[Path, Source] = {}
        self._good: dict[Path, Source] = {}
        self._broken: dict[Path, tuple[Source, tuple[Finding, ...]]] = {}
        #: the linking words of every file known, or its text as long as nobody has asked
        self._linking: dict[Path, Counter[bytes] | Source] = {}
        #: texts of files that have changed, with their linking words
        self._linked: dict[Path, tuple[Source, Counter[bytes]]] = {}
        self._symbol_sets: dict[Path, tuple[Counter[bytes], frozenset[bytes]]] = {}
        self._around: dict[Path, frozenset[bytes]] = {}
        self._trees = Parsed()
        self._trees.LIMIT, self._trees.CRATES = 256, 16  # type: ignore[misc]
        self._trees_behind = Parsed()
        #: trees of the open files' texts that are analysed, and what became of them with the last change
        self._shown: dict[Path, Module] = {}
        self._changes: dict[Path, Change | None] = {}
        self._outcomes: dict[Key, Outcome] = {}
        #: files near the user, op by op
        self._parts: dict[Key, Parts] = {}
        self._whole: set[Key] = set()
        self._dirty: dict[Key, None] = {}
        #: the files that are checked
        self._planned: frozenset[Path] = frozenset()
        #: folders in which there is a buffer of no file
        self._come: set[Path] = set()
        self._plans: list[tuple[Settings, Plan]] = []
        self._plan_of: dict[Key, Plan] = {}
        #: only what open files belong to is planned so far
        self._narrow = True
        self._structure_is_old = True
        self._settings_are_old = True
        self._messages: list[str] = []
        self.configurations = Configurations()
        self._rules: list[RuleInfo] = []
        self._by_code: dict[str, RuleInfo] = {}
        self._codes: dict[str, str] = {}
        self._baselines: dict[Path, object] = {}

    # ── changes ──

    def set_client(self, client: ClientSettings, folders: Iterable[Path]) -> None:
        self.client = client
        self.folders = list(folders)
        self._settings_are_old = True

    def update(self, opened: Mapping[Path, Source], on_disk: Iterable[Path] = (), look: bool = False) -> Update:
        """Take over the open texts and changes on disk; find out which ops are to be checked again.

        ``look``: look for changes on disk that nobody has told.
        """
        leave_removed_folder()
        changed: set[Path] = set()
        self._changes.clear()
        for path in [path for path in self._open if path not in opened]:
            self._close(path)
            changed.add(path)
            if not path.exists():
                changed.update(self.workspace.listed_with(path))
        for path, source in opened.items():
            if self._open.get(path) is not source:
                if path not in self._open and path not in self._planned:
                    self._structure_is_old = True
                self._open[path] = source
                if self._take(path, source):
                    changed.add(path)
        told = set(on_disk)
        for path in (told | self.workspace.below(told) | self._stale(look)) - set(self._open):
            if self.workspace.reread(path):
                self._structure_is_old = True
                changed.update(self.workspace.listed_with(path))
            changed.add(path)
        changed |= self._come
        self._come = set()
        configured = self.configured()
        if told & set(self._baselines) or any(path.name in CONFIGURATION or path in configured for path in changed):
            self._settings_are_old = True
        relinked = {word for path in changed for word in self._relinked(path)}
        for key, outcome in self._outcomes.items():
            if touched := outcome.looked_at & changed:
                self._dirty[key] = None
                self._follow(key, touched)
        before = set(self._plan_of)
        if self._settings_are_old:
            self._configure()
        if self._structure_is_old:
            self._plan(changed, relinked)
        gone = tuple(before - set(self._plan_of))
        for key in gone:
            self._outcomes.pop(key, None)
            self._dirty.pop(key, None)
        messages, self._messages = tuple(self._messages), []
        return Update(len(self._dirty), dict(self._broken), messages, gone)

    def _stale(self, look: bool) -> set[Path]:
        """What has changed on disk of what open files rest on; ``look``: of all, and what has come."""
        configured = self.configured()
        if not look:
            wanted = {path for key in self._wanted_first() for path in self._outcome(key).looked_at}
            named = {path for path in configured if path.name not in CONFIGURATION}
            return {path for path in wanted | named if self.workspace.is_stale(path)}
        looked_at = frozenset().union(*(outcome.looked_at for outcome in self._outcomes.values()))
        stale = {path for path in looked_at | configured if self.workspace.is_other(path)}
        if not self._narrow:
            stale |= self._planned ^ frozenset(self._files())  # what has come may be of no op yet
        return stale.union(*map(self._nearer_configuration, self._open))

    def _nearer_configuration(self, path: Path) -> set[Path]:
        """Configuration files that have come between a file and the one that holds for it."""
        found: set[Path] = set()
        if not self._settings_are_old and self._config is None and self.client.config is None:
            known, holds = self.workspace.configuration, self._settings_for(path).file
            for file in (folder / name for folder in path.parents for name in (OWN_NAME, PROJECT_NAME)):
                if file == holds:
                    break
                if file not in known and file.exists():
                    found.add(file)
        return found

    def configured(self) -> set[Path]:
        """The files that the configuration rests on."""
        return self.workspace.configuration | set(self._baselines)

    def _follow(self, key: Key, touched: Set[Path]) -> None:
        """Keep what is known of a key's ops, as far as a change does not concern it."""
        parts = self._parts.get(key)
        if parts is not None:
            path = next(iter(touched)) if len(touched) == 1 else None
            change, shown = (self._changes.get(path), self._shown.get(path)) if path is not None else (None, None)
            if not (change is not None and parts.follow(change)) and not (shown is not None and parts.renew(shown)):
                del self._parts[key]

    def _take(self, path: Path, source: Source) -> bool:
        """Lay an open text over its file, or the last good one when it does not parse. Returns whether the analysis sees a change."""
        if not isinstance(source, OpenSource):
            source = OpenSource(path, source.data)
        faults = self._faults(source)
        good = self._good.get(path)
        if faults and good is None and (on_disk := self._on_disk(path)) is not None and not self._faults(on_disk):
            good = OpenSource(path, on_disk.data)
        if faults and good is not None:
            on = SYNTAX_ERROR in self._by_code
            self._broken[path] = (source, tuple(self._syntax_finding(source, fault) for fault in faults if on))
            shown = good
        else:
            self._broken.pop(path, None)
            shown = source
        if not faults and not _is_refused(source):
            self._good[path] = source
        before = self.workspace.overlays.get(path)
        was = self._shown.get(path)
        if shown is not source and was is not None and was.source.data == shown.data:
            self._trees.keep(was)
        if before == shown.data:
            return False
        self._shown.pop(path, None)
        if (shown.is_python or shown.is_rust) and not self._faults(shown) and not _is_refused(shown):
            now = self._shown[path] = self._trees.module(shown)
            if was is not None and before == was.source.data:
                self._changes[path] = change_between(was, now)
        same = before is None and self._is_same(path, shown)
        if self.workspace.lay_over(path, shown):
            self._structure_is_old = True
            self._come.update(self.workspace.listed_with(path))
        if path not in self._linking:
            self._structure_is_old = True  # a file that no plan knows yet
        return not same

    def _on_disk(self, path: Path) -> Source | None:
        return self.workspace.source(path) if path not in self.workspace.overlays else None

    def _is_same(self, path: Path, shown: Source) -> bool:
        known = self.workspace._sources.get(path)
        return known is not None and known.data == shown.data

    def _faults(self, source: Source) -> list[Fault]:
        if not (source.is_python or source.is_rust):
            return []
        if _is_refused(source):
            return []
        return self._trees.module(source).faults

    def _syntax_finding(self, source: Source, fault: Fault) -> Finding:
        return Finding(Place(source, fault.span), fault.message, code=SYNTAX_ERROR, name="syntax-error")

    def _close(self, path: Path) -> None:
        for table in (self._open, self._good, self._broken, self._shown):
            table.pop(path, None)
        self.workspace.uncover(path)
        self._structure_is_old = True

    def _relinked(self, path: Path) -> set[bytes]:
        """What a changed file links, or no longer links, to others; nothing when its links are as before."""
        before = self._words(path)
        self._linking[path] = now = self._links_in(path)
        if before is None or before == now:
            if before is None:
                self._structure_is_old = True
            return set() if before is not None else set(now)
        self._structure_is_old = True
        return set(before) ^ set(now)

    def _words(self, path: Path) -> Counter[bytes] | None:
        words = self._linking.get(path)
        if isinstance(words, Source):
            words = self._linking[path] = Counter(_LINKING.findall(words.raw))
        return words

    def _links_in(self, path: Path) -> Counter[bytes]:
        source = self.workspace.source(path)
        if source is None:
            return Counter()
        before, words = self._linked.get(path, (None, Counter()))
        if before is None or not source.is_python or _differ(before, source):
            words = Counter(_LINKING.findall(source.raw))
        self._linked[path] = (source, words)
        return words

    # ── configuration ──

    def _configure(self) -> None:
        """Read the configuration anew; where it is wrong, say so and go on with the defaults."""
        self._settings_are_old = False
        self._structure_is_old = True
        self._dirty.update(dict.fromkeys(self._outcomes))
        self._baselines.clear()
        self.workspace.configuration.clear()
        try:
            self.configurations = self._configurations()
            for folder in self.folders or [Path.cwd()]:
                self.configurations.for_folder(folder)
        except (UserError, OSError) as error:
            self._messages.append(str(error))
            self.configurations = api.fixed(self.client.overrides(Settings()))

    def _configurations(self) -> Configurations:
        config = self.client.config or self._config
        return Configurations(self.workspace, config, self.client.overrides, self._trust_rules)

    def _settings_for(self, path: Path) -> Settings:
        try:
            return self.configurations.for_file(path)
        except (UserError, OSError) as error:
            self._messages.append(str(error))
            self.configurations = api.fixed(self.client.overrides(Settings()))
            return self.configurations.for_file(path)

    # ── which ops there are ──

    def _plan(self, changed: set[Path], relinked: set[bytes]) -> None:
        self._structure_is_old = False
        self._around.clear()
        self.doubt()
        self._parts.clear()
        self._whole.clear()
        known = set(self._plan_of)
        if not self._open:
            self._narrow = False
        files = self._files()
        self._planned = frozenset(files)
        groups: dict[int, tuple[Settings, list[Path]]] = {}
        for path in files:
            settings = self._settings_for(path)
            groups.setdefault(id(settings), (settings, []))[1].append(path)
        self._choose_rules([settings for settings, _ in groups.values()])
        self._plans, self._plan_of = [], {}
        for settings, paths in groups.values():
            plan = Plan(self.workspace, paths, settings, self._trees)
            self._plans.append((settings, plan))
            self._plan_of.update(dict.fromkeys(plan.wrappers, plan))
            if any(path.suffix in (".rs", ".mlir") or path.name in ("Cargo.toml", "analysis.json") for path in paths):
                self._plan_of.setdefault(_loose_key(settings), plan)
        come = [path for path in files if path not in self._linking]
        for path in come:
            self._linking[path] = self.workspace.source(path) or Counter()
        if changed and known:  # a folder has come: nobody named its files
            relinked = relinked.union(*(self._words(path) or () for path in come))
        for key in self._plan_of:
            if key not in known or key not in self._outcomes:
                self._dirty[key] = None
            elif relinked and any(word in (self._words(key) or ()) for word in relinked):
                self._dirty[key] = None
        if changed:
            self._dirty.update((key, None) for key in self._plan_of if key.name == _LOOSE)

    def _files(self) -> list[Path]:
        """The files that are checked: those of the workspace folders, and the open ones."""
        found: dict[Path, None] = {}
        folders = [folder for folder in self.folders if folder.is_dir()]
        if self.client.scope == "workspace" and folders and not self._narrow:
            try:
                found.update(dict.fromkeys(api.find_files(folders, self.configurations).files))
            except (UserError, OSError) as error:
                self._messages.append(str(error))
        for path in self._open:
            if is_candidate(path.name) and not self._settings_for(path).excludes(str(path)):
                found[path] = None
        return sorted(found)

    def _choose_rules(self, settings: list[Settings]) -> None:
        report = api.CheckReport()
        try:
            self._by_code, self._codes = api.chosen_rules(settings, report)
        except UserError as error:
            self._messages.append(str(error))
            try:
                self._by_code, self._codes = api.chosen_rules([Settings()], report)
            except UserError:  # our own rules cannot be read
                self._by_code, self._codes = {}, {}
        self._messages += report.errors
        self._rules = [self._by_code[code] for code in sorted(self._by_code)]

    # ── checking ──

    def _outcome(self, key: Key) -> Outcome:
        return self._outcomes.get(key, Outcome())

    def _wanted_first(self) -> list[Key]:
        """Keys that open files belong to."""
        return [key for key in self._plan_of if key in self._open or not self._outcome(key).files.isdisjoint(self._open)]

    def next(self) -> Key | None:
        """The op to check next: one with an open file if there is one."""
        if not self._dirty and self._narrow:
            self._narrow = False
            if self.client.scope == "workspace" and self.folders:
                self._plan(set(), set())
                self._dirty.update(dict.fromkeys(self._plan_of))  # there may be nearer partners
        if not self._dirty:
            return None
        waiting = list(self._dirty)
        first = next((key for key in waiting if key in self._open), None)
        return first or next((key for key in waiting if any(self._belongs(path, key) for path in self._open)), waiting[0])

    def doubt(self) -> bool:
        """Check again what was only expected to stay as it is; False when there is nothing of that kind."""
        doubtful = [key for key, parts in self._parts.items() if parts.doubt()]
        self._dirty.update(dict.fromkeys(doubtful))
        return bool(doubtful)

    def is_waiting(self, path: Path) -> bool:
        """Whether an op that a file belongs to is still to be checked."""
        if self._narrow and not any(path in outcome.files for outcome in self._outcomes.values()):
            return True
        return any(self._belongs(path, key) for key in self._dirty)

    def _belongs(self, path: Path, key: Key) -> bool:
        """Whether a file is part of an op, as far as is known before it was checked."""
        if key == path:
            return True
        outcome = self._outcomes.get(key)
        if key.name == _LOOSE:
            belongs = any(path in one.files for other, one in self._outcomes.items() if other != key)
            loose = not belongs and path.suffix in (".rs", ".mlir", ".toml", ".json")
            return loose or (outcome is not None and path in outcome.files)  # it may say what it found before
        if outcome is not None:
            return path in outcome.looked_at
        return not self._symbols(key).isdisjoint(self._symbols_around(path))

    def _symbols(self, path: Path) -> frozenset[bytes]:
        links = self._words(path)
        if links is None:
            return frozenset()
        known = self._symbol_sets.get(path)
        if known is None or known[0] is not links:
            words = frozenset(word for word in links if word.startswith(b"cutile_"))
            known = self._symbol_sets[path] = (links, words - _PACKAGES)
        return known[1]

    def _symbols_around(self, path: Path) -> frozenset[bytes]:
        """Symbols of a file, or of its neighbours when a Rust file has none (``kernel.rs``)."""
        own = self._symbols(path)
        if own or path.suffix != ".rs":
            return own
        found = self._around.get(path.parent)
        if found is None:
            beside = (self._symbols(other) for other in self._linking if other.parent == path.parent)
            found = self._around[path.parent] = frozenset().union(*beside)
        return found

    def check(self, key: Key, proceed: Callable[[], None] = lambda: None) -> Outcome:
        """Check one op. ``proceed`` may raise :class:`Stale`; the op then stays to be checked."""
        self.workspace.asked = set()
        proceed()
        if key.name != _LOOSE and self._is_near(key) and key not in self._whole:
            outcome = self._by_op(key, proceed) or self._as_whole(key, proceed)
        else:
            outcome = self._as_whole(key, proceed)
        before = self._outcome(key).rust
        come, gone = outcome.rust - before, before - outcome.rust
        for other in self._plan_of:  # what no wrapper used, or none uses any more
            if other.name == _LOOSE and other != key and (gone or not come.isdisjoint(self._outcome(other).files)):
                self._dirty[other] = None
        self._outcomes[key] = outcome
        self._dirty.pop(key, None)
        return outcome

    def _by_op(self, key: Key, proceed: Callable[[], None]) -> Outcome | None:
        """The check of a file near the user: only those of its ops are run that a change concerns."""
        plan = self._plan_of[key]
        parts = self._parts.pop(key, None) or Parts(plan.program(self._trees))
        try:
            parts.bring_up(
                lambda program, numbers: plan.units_of(key, program, numbers),
                lambda program, units: plan.units_again(key, program, units),
                lambda unit: run([unit], self._rules, self._settings_for, known=self._codes.get, proceed=proceed),
            )
            links = parts.links() if self._wants_links() else NO_LINKS
        except Stale:
            if parts.parts:
                self._parts[key] = parts
            raise
        except Together:
            self._whole.add(key)
            return None
        except Exception:  # the check of the whole file says it
            return None
        parts.asked |= self.workspace.asked
        self._parts[key] = parts
        files = frozenset({path for part in parts.parts for path in part.files} | {key})
        findings = self._shown_findings(parts.findings())
        rust = frozenset(path for part in parts.parts for path in part.rust)
        everything = files | {one.path for one in findings}
        read = everything.union(parts.program.modules)
        return Outcome(tuple(findings), (), frozenset(parts.asked) | files, everything, read, rust, (), links)

    def _as_whole(self, key: Key, proceed: Callable[[], None]) -> Outcome:
        plan = self._plan_of[key]
        trees = self._trees if self._is_near(key) else self._trees_behind
        units: list[KernelUnit] = []
        errors: list[str] = []
        try:
            if key.name == _LOOSE:
                covered = {path for outcome in self._outcomes.values() for path in outcome.rust}
                units = plan.loose_units(covered, trees)
            else:
                units = plan.units_of(key, plan.program(trees))
        except UserError as error:
            errors.append(str(error))
        except Exception as error:
            errors.append(f"internal error while reading `{key.name}`: {type(error).__name__}: {error}")
        report = run(units, self._rules, self._settings_for, known=self._codes.get, proceed=proceed)
        errors += [str(error) for error in report.errors]
        files = frozenset({source.path for unit in units for source in unit.files} | ({key} if key.name != _LOOSE else set()))
        rust = frozenset(
            path for unit in units for path in (*unit.layout.rust, unit.layout.library) if path is not None and key.name != _LOOSE
        )
        findings = self._shown_findings(report.findings)
        links = self._links(units, errors)
        everything = files | {one.path for one in findings}
        return Outcome(
            tuple(findings),
            tuple(errors),
            frozenset(self.workspace.asked) | files,
            everything,
            everything.union(*(unit.program.modules for unit in units)),
            rust,
            tuple(item.source.path for item in report.suppressions),
            links,
        )

    def _shown_findings(self, findings: list[Finding]) -> list[Finding]:
        """The findings in files that are checked, without those that a baseline knows."""
        return self._new([one for one in findings if not self._settings_for(one.path).excludes(str(one.path))])

    def _wants_links(self) -> bool:
        return self.client.navigation or self.client.inlay_hints or self.client.code_lens

    def _links(self, units: list[KernelUnit], errors: list[str]) -> Links:
        if not self._wants_links():
            return NO_LINKS
        try:
            return links_of(units)
        except Exception as error:  # findings do not depend on it
            errors.append(f"internal error while linking: {type(error).__name__}: {error}")
            return NO_LINKS

    def _is_near(self, key: Key) -> bool:
        return key in self._open or not self._outcome(key).files.isdisjoint(self._open)

    def _new(self, findings: list[Finding]) -> list[Finding]:
        """The findings that no baseline knows."""
        from cutile_lint.engine.baseline import Baseline, load_baseline

        kept: dict[Path | None, list[Finding]] = {}
        for finding in findings:
            kept.setdefault(self._settings_for(finding.path).baseline, []).append(finding)
        new: list[Finding] = []
        for file, group in kept.items():
            if file is None:
                new += group
                continue
            if file not in self._baselines:
                self.workspace.source(file)  # so that a change of it is noticed
                try:
                    self._baselines[file] = load_baseline(file)
                except UserError as error:
                    self._messages.append(str(error))
                    self._baselines[file] = None
            baseline = self._baselines[file]
            new += baseline.new(group) if isinstance(baseline, Baseline) else group
        return sorted(new, key=Finding.sort_key)

    def problems(self) -> list[Finding]:
        """Findings about files that could not be read."""
        info = self._by_code.get(api.NOT_ANALYSED)
        known = set(self._linking) | set(self._open)
        if info is None or not self.workspace.problems:
            return []
        return [one for one in api.problem_findings(self.workspace, self.configurations, info) if one.path in known]

    def fix_all(self, path: Path) -> tuple[dict[Path, bytes], dict[Path, bytes]]:
        """(new texts, texts before) of applying all safe fixes of what is found in a file. Raises UserError."""
        from cutile_lint.fixes import fix_loop
        from cutile_lint.fixes.scope import scope_of

        leave_removed_folder()
        before: list[Workspace] = []
        files = self._op_files(path)

        def check(overlays: Mapping[Path, bytes]) -> list[Finding]:
            report = api.check_files(files, self.configurations, overlays, before[-1] if before else None, jobs=1)
            if report.workspace is not None:
                before[:] = [report.workspace]
            return [finding for finding in self._new(report.findings) if finding.path == path]

        scope = scope_of([path, *(folder for folder in self.folders if folder in path.parents)], self.configurations)
        result = fix_loop(check, {path: source.data for path, source in self._open.items()}, refusal=scope.refusal)
        return result.changed, result.originals

    def _op_files(self, path: Path) -> list[Path]:
        """A file with those of its ops as the workspace has them: on its own it may be the file of none."""
        ops = [outcome.files for key, outcome in self._outcomes.items() if key.name != _LOOSE and path in outcome.files]
        others = sorted(frozenset().union(*ops) - {path})
        return [
            path,
            *(other for other in others if is_candidate(other.name) and not self._settings_for(other).excludes(str(other))),
        ]

    def settings_messages(self) -> list[str]:
        messages, self._messages = self._messages, []
        return messages


_LOOSE = "*.rs"
#: words that look like symbols and are the names of packages
_PACKAGES = frozenset([b"cutile_rs", b"cutile_kernels", b"cutile_lint"])


def _loose_key(settings: Settings) -> Path:
    """The key of the files of a group that no wrapper uses."""
    return settings.root / _LOOSE


def _is_refused(source: Source) -> bool:
    """The text is said to be one that is not analysed."""
    return len(source.data) > 2 << 20 or b"\0" in source.data


def _differ(old: Source, new: Source) -> bool:
    """The lines that two Python texts do not have in common have other linking words (those that span lines are Rust's)."""
    head, tail = unchanged(old.raw, new.raw)
    before, now = (
        Counter(_LINKING.findall(text.raw, line_start(text, head), line_end(text, len(text.raw) - tail))) for text in (old, new)
    )
    return before != now


def leave_removed_folder() -> None:
    """Go elsewhere when the current folder is no longer there: it is asked for in many places, and none needs that one."""
    try:
        os.getcwd()
    except OSError:
        os.chdir(os.sep)


def is_judgement(finding: Finding) -> bool:
    """The finding says that a suppression is not needed, which every op of its file must agree to."""
    return finding.code == UNUSED
