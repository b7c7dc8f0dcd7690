"""The ops of one file, each with its result and with what it looked at: after a change only those are run again that it concerns."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from pathlib import Path

from cutile_lint.engine.run import Report, keep
from cutile_lint.engine.suppressions import MARK
from cutile_lint.findings import Finding
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.server.changes import Change, Lost
from cutile_lint.server.links import Links, links_of_op, merged
from cutile_lint.sources import OpenSource, Place
from cutile_lint.sources.watch import Watch, watching
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.program import Program

#: parts of a text that were read, and questions about it, beyond which everything is run again: each change looks at all of them
_MOST_SPANS, _MOST_ANSWERS = 5_000, 200


@dataclass(slots=True, eq=False)
class Part:
    """The result of one op. ``entered``: what its run looked at, ``read``: what of it rules have looked at too; ``spans``: the
    parts of texts that they read; ``stale``: it is to be run again, ``doubtful``: when there is time. ``unit``: the op, while its Python
    is what it was."""

    findings: list[Finding]
    files: frozenset[Path]
    rust: frozenset[Path]
    links: Links
    entered: set[object]
    read: set[object]
    spans: dict[Path, set[tuple[int, int]]]
    unit: KernelUnit | None
    stale: bool = False
    doubtful: bool = False

    def follow(self, change: Change) -> None:
        """Take over a change of a file, or become stale."""
        if change.old.source.is_python:
            self.unit = None  # its places are those of the old text
        if self.stale:
            return
        try:
            if self._is_touched(change) or any(map(change.is_told, self.findings)):
                raise Lost
            self.findings = [change.finding(one) for one in self.findings]
            self.links, self.spans = change.links(self.links), change.spans(self.spans)
        except Lost:
            self.stale = True
        else:
            self.doubtful = self.doubtful or (change.is_name and not self.entered.isdisjoint(change.idle))
            self.entered, self.read = _now(self.entered, change), _now(self.read, change)

    def remember(self, before: Part) -> None:
        """Take over what was looked at for an earlier result, of which this one has used parts."""
        self.read |= before.read
        for path, spans in before.spans.items():
            self.spans.setdefault(path, set()).update(spans)

    def _is_touched(self, change: Change) -> bool:
        if not self.entered.isdisjoint(change.functions) or change.old in self.entered or change.is_in(self.spans):
            return True
        return not self.read.isdisjoint(change.idle) or _walked(self.entered, change)


class Together(Exception):
    """The ops cannot be taken one by one: comments silence something, or a rule has failed."""


class Parts:
    """The ops of one file; ``program``: the files of all runs."""

    def __init__(self, program: Program) -> None:
        self.parts: list[Part] = []
        self.program = program
        #: what was looked at for any of them
        self.common = Watch()
        #: trees of the open files among it
        self.trees: dict[Path, syntax.Module | None] = {}
        self.asked: set[Path] = set()
        #: the links of all; None when they are to be put together
        self._links: Links | None = None
        #: a Rust file has changed since the ops were run, and nothing else
        self._other_rust = False

    def bring_up(
        self,
        units: Callable[[Program, Container[int] | None], list[KernelUnit]],
        again: Callable[[Program, list[KernelUnit]], list[KernelUnit]],
        run: Callable[[KernelUnit], Report],
    ) -> None:
        """Run what is stale, or everything the first time. Raises :class:`Together`.

        ``units`` makes the ops with the given numbers (None: all), ``again`` makes them anew for other Rust files, ``run`` runs
        the rules on one of them.
        """
        numbers = self.stale
        if self.parts and not numbers:
            return
        self._links = None
        known = [part.unit for part in self.parts if part.unit is not None] if self._other_rust else []
        self._other_rust = False
        with watching(self.common):
            made = again(self.program, known) if known else units(self.program, numbers if self.parts else None)
            if not made or (self.parts and len(made) != len(numbers)):
                raise Together
            fresh = [self._part(unit, run) for unit in made]
        for path, module in self.program.modules.items():
            if isinstance(self.program.workspace.source(path), OpenSource) and self.trees.setdefault(path, module) is not module:
                raise Together
        if self.parts:
            for number, part in zip(numbers, fresh, strict=True):
                if known:
                    part.remember(self.parts[number])
                self.parts[number] = part
        else:
            self.parts = fresh

    def _part(self, unit: KernelUnit, run: Callable[[KernelUnit], Report]) -> Part:
        entered = unit.entered.looked if unit.entered is not None else set()
        watch = self.common.beside(entered)
        spans = watch.spans
        with watching(watch):
            report = run(unit)
            if report.errors or report.suppressions:
                raise Together
            read = set(watch.read_again)  # links are places, which a statement that does nothing moves like all others
            return Part(
                report.findings,
                frozenset(source.path for source in unit.files),
                frozenset(path for path in (*unit.layout.rust, unit.layout.library) if path is not None),
                links_of_op(unit),
                entered,
                read,
                spans,
                unit,
            )

    @property
    def stale(self) -> list[int]:
        """Numbers of the ops to be run again."""
        return [number for number, part in enumerate(self.parts) if part.stale]

    def doubt(self) -> bool:
        """Have those run again whose results were only expected to stay as they are; False when there are none."""
        doubtful = [part for part in self.parts if part.doubtful]
        for part in doubtful:
            part.stale = True
        return bool(doubtful)

    def findings(self) -> list[Finding]:
        found: dict[tuple[str, Place], Finding] = {}
        for part in self.parts:
            for finding in part.findings:
                keep(found, finding)
        return sorted(found.values(), key=Finding.sort_key)

    def links(self) -> Links:
        """What belongs together in all of them."""
        if self._links is None:
            self._links = merged([part.links for part in self.parts])
        return self._links

    def follow(self, change: Change) -> bool:
        """Take over a change of a file; False when nothing of this can be used any more."""
        path = change.old.source.path
        is_parsed = path in self.trees or path in self.program.modules
        if self.trees.get(path) is not change.old and (is_parsed or change.functions or change.idle):
            return False
        if not self._unseen(change, path):
            return False
        common = self.common.looked
        read = [self.common.spans, *(part.spans for part in self.parts)]
        if (
            sum(len(spans.get(path, ())) for spans in read) > _MOST_SPANS
            or len(self.common.answers.get(path, ())) > _MOST_ANSWERS
        ):
            return False
        if not common.isdisjoint(change.functions) or (change.functions | change.idle and change.old in common):
            return False
        if not common.isdisjoint(change.idle):
            return False
        if _walked(common, change):
            return False
        try:
            self.common.spans |= change.spans(self.common.spans)
        except Lost:
            return False
        for part in self.parts:
            part.follow(change)
        self._links = change.links(self._links) if self._links is not None and not self.stale else None
        self.common.looked = _now(common, change)
        if is_parsed:
            self.trees[path] = change.new
            self.program.put(change.new)
        return True

    def renew(self, module: syntax.Module) -> bool:
        """Let another tree stand for its Rust file, with all to be run again but the ops' Python; False when that is not there."""
        path = module.source.path
        if not module.source.is_rust or not self.parts or any(part.unit is None for part in self.parts):
            return False
        for table in (self.common.spans, self.common.answers):
            table.pop(path, None)
        self.common.whole.discard(path)
        self.trees[path] = module
        self.program.put(module)
        for part in self.parts:
            part.stale = True
        self._other_rust = True
        return True

    def _unseen(self, change: Change, path: Path) -> bool:
        """What changed was in no text that was read, and gives the same answers."""
        common = self.common
        if path in common.whole:
            return False
        if change.is_in(common.spans):
            return False
        after = change.new.source.raw
        answers = common.answers.get(path, {})
        return MARK not in after and all(question(after, *more) == answer for (question, more), answer in answers.items())


def _walked(looked: Iterable[object], change: Change) -> bool:
    """Nodes of kinds that are in changed functions were gone through."""
    return any(change.concerns(one[1]) for one in looked if isinstance(one, tuple) and one[0] is change.old)


def _now(looked: Iterable[object], change: Change) -> set[object]:
    """The functions as the new tree has them."""
    moved: set[object] = set()
    for one in looked:
        if isinstance(one, tuple):
            moved.add((change.new, one[1]) if one[0] is change.old else one)
        else:
            moved.add(change.new if one is change.old else change.pairs.get(one, one))
    return moved - change.functions
