"""Fixing until nothing is left to fix: all in memory, so that ``--fix``, ``--diff`` and standard input share it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path

from cutile_lint.findings import Applicability, Finding, Fix
from cutile_lint.fixes.apply import BadEdit, apply, check_edits, compatible
from cutile_lint.fixes.style import restyle
from cutile_lint.fixes.verify import broken_by
from cutile_lint.records import dataclass, field

#: passes without fewer fixable findings than ever before, after which rules are said to fight
PATIENCE = 10

Check = Callable[[Mapping[Path, bytes]], list[Finding]]
#: identifies a fix from pass to pass, while other edits move it about
FixKey = tuple[object, ...]
#: the texts of a state, to recognise it when it comes back
State = tuple[tuple[Path, bytes], ...]


@dataclass(slots=True)
class Undone:
    """A fix that was not kept, and why (the end of a sentence)."""

    finding: Finding
    reason: str


@dataclass(slots=True)
class Fight:
    """Rules whose fixes bring each other back in the named files."""

    codes: tuple[str, ...]
    paths: tuple[Path, ...]


@dataclass(slots=True)
class FixResult:
    """``changed``: new bytes by path, ``originals``: the bytes that were read; nothing is written yet."""

    changed: dict[Path, bytes] = field(default_factory=dict)
    originals: dict[Path, bytes] = field(default_factory=dict)
    applied: list[Finding] = field(default_factory=list)
    #: fixes that would have broken a file
    undone: list[Undone] = field(default_factory=list)
    #: fixes that were not tried because of a file that must not be written
    withheld: list[Undone] = field(default_factory=list)
    fights: list[Fight] = field(default_factory=list)
    #: findings of the fixed text
    remaining: list[Finding] = field(default_factory=list)

    def unwritten(self, paths: Container[Path]) -> None:
        """Take back what stands in files that could not be written. ``remaining`` is then to be found out anew."""
        self.changed = {path: data for path, data in self.changed.items() if path not in paths}
        self.originals = {path: self.originals[path] for path in self.changed}
        self.applied = [finding for finding in self.applied if all(path not in paths for path in _paths(finding.fix))]


def fix_loop(
    check: Check,
    base: Mapping[Path, bytes] | None = None,
    unsafe: bool = False,
    refusal: Callable[[Path], str] = lambda path: "",
    style: bool = True,
) -> FixResult:
    """Apply the fixes of what ``check(overlays)`` finds until none is left.

    ``base``: overlays of the first check (standard input, editor buffers). ``refusal(path)``: why a file may not change, or
    nothing. A fix is applied in all its files or in none; one that breaks a file is undone, reported and not tried again.
    """
    return _Loop(check, dict(base or {}), unsafe, refusal).run(style)


class _Loop:
    def __init__(self, check: Check, base: dict[Path, bytes], unsafe: bool, refusal: Callable[[Path], str]) -> None:
        self.check, self.base, self.unsafe, self.refusal = check, base, unsafe, refusal
        self.result = FixResult()
        self.texts: dict[Path, bytes] = {}  # changed so far
        #: why a fix is not tried again
        self.undone: dict[FixKey, str] = {}
        self.withheld: dict[FixKey, str] = {}
        self.fighting: set[tuple[str, Path]] = set()

    def run(self, style: bool) -> FixResult:
        result = self.result
        visited: dict[State, int] = {self._state(): 0}
        history: list[list[Finding]] = []  # fixes of each pass
        fewest, since = None, 0
        best: tuple[dict[Path, bytes], int] = ({}, 0)  # texts with the fewest fixable findings, passes until there
        while True:
            result.remaining = self.check({**self.base, **self.texts})
            fixable = [finding for finding in sorted(result.remaining, key=Finding.sort_key) if self._wanted(finding)]
            if fewest is None or len(fixable) < fewest:
                fewest, since, best = len(fixable), 0, (dict(self.texts), len(history))
            since += 1
            if since > PATIENCE:  # no end in sight: back to the best texts, and on without these rules
                self._fight([finding for fixes in history[best[1] :] for finding in fixes])
                self.texts, history, fewest = best[0], history[: best[1]], None
                continue
            done = self._one_pass(fixable)
            if not done:
                break
            history.append(done)
            state = self._state()
            if state in visited:  # the same texts again: keep them, and stop the rules that led round
                self._fight([finding for fixes in history[visited[state] :] for finding in fixes])
                del history[visited[state] :]
            visited[state] = len(history)
        result.applied = [finding for fixes in history for finding in fixes]
        if style:
            self._restyle()
        result.undone, result.withheld = self._told(self.undone), self._told(self.withheld)
        result.changed = {path: data for path, data in sorted(self.texts.items()) if data != result.originals[path]}
        result.originals = {path: result.originals[path] for path in result.changed}
        return result

    def _state(self) -> State:
        originals = self.result.originals
        return tuple((path, data) for path, data in sorted(self.texts.items()) if data != originals[path])

    def _wanted(self, finding: Finding) -> bool:
        """Whether the finding has a fix to be tried in this run; says so when a file stands in its way."""
        fix = finding.fix
        if fix is None or (fix.applicability is Applicability.UNSAFE and not self.unsafe):
            return False
        key = _key(finding, fix)
        if key in self.undone or key in self.withheld or any((finding.code, edit.path) in self.fighting for edit in fix.edits):
            return False
        reason = next(filter(None, (self.refusal(path) for path in _paths(fix))), "")
        if reason:
            self.withheld[key] = reason
        return not reason

    def _one_pass(self, fixable: list[Finding]) -> list[Finding]:
        """Apply what goes together; returns what was kept."""
        sound = []
        for finding in fixable:
            assert finding.fix is not None
            try:
                check_edits(finding.fix)
            except BadEdit as error:
                self._undo(finding, str(error))
            else:
                sound.append(finding)
        chosen = compatible(sound)
        before: dict[Path, bytes] = {}
        for finding in chosen:
            for edit in finding.fix.edits:  # type: ignore[union-attr]
                before.setdefault(edit.path, edit.source.data)
                self.result.originals.setdefault(edit.path, edit.source.data)
        after = apply((finding.fix for finding in chosen if finding.fix), before)
        if any(broken_by(path, before[path], data) for path, data in after.items()):
            chosen, after = self._one_by_one(chosen, before)
        unchanged = [finding for finding in chosen if all(after[path] == before[path] for path in _paths(finding.fix))]
        for finding in unchanged:
            self._undo(finding, "it changes nothing")
        self.texts.update(after)
        return [finding for finding in chosen if finding not in unchanged]

    def _one_by_one(self, chosen: list[Finding], before: dict[Path, bytes]) -> tuple[list[Finding], dict[Path, bytes]]:
        """The fixes that break nothing, each tried on top of those kept before it, and the texts they give."""
        kept: list[Finding] = []
        texts: dict[Path, bytes] = {}
        for finding in chosen:
            trial = apply([other.fix for other in (*kept, finding) if other.fix], before)
            reason = next(filter(None, (broken_by(path, before[path], trial[path]) for path in _paths(finding.fix))), "")
            if reason:
                self._undo(finding, reason)
            else:
                kept.append(finding)
                texts = trial
        return kept, texts

    def _undo(self, finding: Finding, reason: str) -> None:
        assert finding.fix is not None
        self.undone[_key(finding, finding.fix)] = reason

    def _told(self, reasons: Mapping[FixKey, str]) -> list[Undone]:
        """What is still found at the end and was given up, where it stands now."""
        found = ((finding, reasons.get(_key(finding, finding.fix))) for finding in self.result.remaining if finding.fix)
        return [Undone(finding, reason) for finding, reason in found if reason]

    def _fight(self, findings: list[Finding]) -> None:
        codes = tuple(sorted({finding.code for finding in findings}))
        paths = tuple(sorted({path for finding in findings for path in _paths(finding.fix)}))
        self.fighting |= {(code, path) for code in codes for path in paths}
        self.result.fights.append(Fight(codes, paths))

    def _restyle(self) -> None:
        originals = self.result.originals
        styled = False
        for path, data in self.texts.items():
            fresh = restyle(path, originals[path], data)
            if fresh != data and not broken_by(path, data, fresh):
                self.texts[path] = fresh
                styled = True
        if styled:
            self.result.remaining = self.check({**self.base, **self.texts})


def _paths(fix: Fix | None) -> Iterable[Path]:
    return dict.fromkeys(edit.path for edit in fix.edits) if fix is not None else ()


def _key(finding: Finding, fix: Fix) -> FixKey:
    edits = tuple((edit.path, edit.source.data[edit.start : edit.end], edit.content) for edit in fix.edits)
    return (finding.code, finding.symbol, finding.place.source.line(finding.place.start[0]), edits)
